#include "runtime/sim/signature.h"

#include <llvm/Support/raw_ostream.h>
#include <mlir/Dialect/Linalg/IR/Linalg.h>
#include <mlir/IR/SymbolTable.h>

#include <algorithm>

#include "runtime/sim/messages.h"

namespace jumar::runtime::sim {

namespace {

constexpr unsigned kGridArguments = 6;

std::string text_of(mlir::Type type) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  type.print(stream);
  return text;
}

Diagnostic unsupported(mlir::func::FuncOp kernel, const std::string& what) {
  Diagnostic error = diagnostic("unsupported", "kernel @{}: {}", kernel.getName().str(), what);
  error.where = place(kernel.getLoc());
  return error;
}

Result<Argument> read_argument(mlir::func::FuncOp kernel, unsigned index, unsigned number) {
  mlir::Type type = kernel.getArgument(index).getType();
  Argument argument;
  auto pointer = mlir::dyn_cast<mlir::MemRefType>(type);
  if (pointer) {
    if (pointer.getRank() != 1 || !pointer.getLayout().isIdentity()) {
      return unsupported(kernel, fmt::format("argument {} is a {}", number, text_of(type)));
    }
    type = pointer.getElementType();
    auto role = kernel.getArgAttrOfType<mlir::IntegerAttr>(index, "tt.tensor_kind");
    if (role) argument.role = static_cast<int>(role.getInt());
  }
  bool is_integer = type.isInteger(1) || type.isInteger(8) || type.isInteger(16) || type.isInteger(32) ||
                    type.isInteger(64);
  bool is_float = type.isF32() || type.isF16() || type.isBF16() || (type.isF64() && pointer);
  if (!is_integer && !is_float) {
    return unsupported(kernel, fmt::format("argument {} has the type {}", number, text_of(type)));
  }
  argument.type = text_of(type);
  if (!pointer) argument.kind = is_float ? Argument::Kind::kFloat : Argument::Kind::kInteger;
  return argument;
}

// The argument that an attribute of the kernel names; nothing in it may be used, since the toolchain alone
// knows how large it has to be.
Status check_unused(mlir::func::FuncOp kernel, const char* attribute, const char* what, unsigned& first) {
  auto index = kernel->getAttrOfType<mlir::IntegerAttr>(attribute);
  if (!index) return {};
  if (index.getInt() < 0 || index.getInt() >= kernel.getNumArguments()) {
    return unsupported(kernel, fmt::format("{} is {}", attribute, index.getInt()));
  }
  auto number = static_cast<unsigned>(index.getInt());
  if (!kernel.getArgument(number).use_empty()) {
    return unsupported(kernel, fmt::format("it uses its {}, which the simulator does not have", what));
  }
  first = std::max(first, number + 1);
  return {};
}

}  // namespace

Words Signature::words(bool floats_last) const {
  Words words;
  words.arguments.assign(arguments.size(), -1);
  words.counts.assign(arguments.size(), -1);
  auto place_all = [&](Argument::Kind kind, std::vector<int>& places) {
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (arguments[i].kind == kind) places[i] = words.count++;
    }
  };
  place_all(Argument::Kind::kPointer, words.arguments);
  words.fault = words.count++;
  place_all(Argument::Kind::kInteger, words.arguments);
  if (!floats_last) place_all(Argument::Kind::kFloat, words.arguments);
  words.grid = words.count;
  words.count += 3;
  place_all(Argument::Kind::kPointer, words.counts);
  if (floats_last) place_all(Argument::Kind::kFloat, words.arguments);
  return words;
}

Result<mlir::func::FuncOp> find_kernel(mlir::ModuleOp module, const std::string& name) {
  std::vector<mlir::func::FuncOp> kernels;
  for (auto function : module.getOps<mlir::func::FuncOp>()) {
    if (function.isDeclaration()) continue;
    bool is_kernel = name.empty()
                         ? function->hasAttr("global_kernel") || function->hasAttr("SyncBlockLockArgIdx")
                         : function.getName() == name;
    if (is_kernel) kernels.push_back(function);
  }
  if (kernels.size() == 1) return kernels[0];
  if (!name.empty()) return diagnostic("input", "the module has no kernel @{}", name);
  if (kernels.empty())
    return diagnostic("input", "the module has no kernel: no function with a global_kernel");
  return diagnostic("input", "the module has {} kernels: name one", kernels.size());
}

Result<Signature> read_signature(mlir::func::FuncOp kernel) {
  Signature signature;
  signature.name = kernel.getName().str();
  unsigned count = kernel.getNumArguments();
  JUMAR_RETURN_IF_ERROR(check_unused(kernel, "SyncBlockLockArgIdx", "lock", signature.first));
  JUMAR_RETURN_IF_ERROR(check_unused(kernel, "WorkspaceArgIdx", "workspace", signature.first));
  bool has_grid = count >= signature.first + kGridArguments;
  for (unsigned i = 0; has_grid && i < kGridArguments; ++i) {
    has_grid = kernel.getArgument(count - 1 - i).getType().isInteger(32);
  }
  if (!has_grid) return unsupported(kernel, "its last six arguments are not the grid and the program ids");
  if (kernel.getNumResults() != 0) return unsupported(kernel, "it has results");
  for (unsigned i = signature.first; i + kGridArguments < count; ++i) {
    JUMAR_ASSIGN(Argument argument, read_argument(kernel, i, i - signature.first));
    signature.arguments.push_back(std::move(argument));
  }
  // The driver of the toolchain takes mix_mode out of the text before the next step, so products count as
  // well.
  auto mode = kernel->getAttrOfType<mlir::StringAttr>("mix_mode");
  signature.is_mixed = mode && mode.getValue().starts_with("mix");
  kernel->getParentOfType<mlir::ModuleOp>().walk([&](mlir::Operation* op) {
    signature.has_atomics |= op->hasAttr("GenericAtomicRMW");
    signature.is_mixed |= mlir::isa<mlir::linalg::MatmulOp, mlir::linalg::BatchMatmulOp>(op);
  });
  return signature;
}

}  // namespace jumar::runtime::sim
