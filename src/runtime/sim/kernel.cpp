#include "runtime/sim/kernel.h"

#include <mlir/IR/Verifier.h>
#include <mlir/Parser/Parser.h>
#include <mlir/Target/LLVMIR/Export.h>

#include "runtime/sim/context.h"
#include "runtime/sim/entry.h"
#include "runtime/sim/lower.h"
#include "runtime/sim/messages.h"

namespace jumar::runtime::sim {

namespace {

Result<mlir::OwningOpRef<mlir::ModuleOp>> parse(std::string_view text, mlir::MLIRContext* context) {
  Messages messages(context);
  mlir::ParserConfig config(context);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(llvm::StringRef(text.data(), text.size()), config, "linalg");
  if (!module) return messages.error("syntax", "the kernel's text can't be read");
  return module;
}

Result<std::unique_ptr<llvm::Module>> translate(mlir::ModuleOp module, llvm::LLVMContext& context,
                                                const std::string& name) {
  Messages messages(module.getContext());
  std::unique_ptr<llvm::Module> translated = mlir::translateModuleToLLVMIR(module, context, "kernel");
  if (!translated) return messages.error("unsupported", fmt::format("kernel @{}", name));
  return translated;
}

}  // namespace

Result<std::unique_ptr<Kernel>> Kernel::compile(std::string_view text, const Options& options) {
  auto kernel = std::make_unique<Kernel>();
  auto llvm_context = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> llvm_module;
  {
    std::unique_ptr<mlir::MLIRContext> context = make_context();
    JUMAR_ASSIGN(mlir::OwningOpRef<mlir::ModuleOp> module, parse(text, context.get()));
    JUMAR_ASSIGN(mlir::func::FuncOp function, find_kernel(*module, options.kernel));
    JUMAR_ASSIGN(kernel->signature_, read_signature(function));
    JUMAR_RETURN_IF_ERROR(lower(*module, function, kernel->signature_));
    JUMAR_ASSIGN(llvm_module, translate(*module, *llvm_context, kernel->signature_.name));
  }
  JUMAR_RETURN_IF_ERROR(prepare_for_host(*llvm_module));
  Words words = kernel->signature_.words(options.floats_last);
  int64_t buffer_bytes = lay_out_frame(*llvm_module);
  kernel->frames_ = std::make_unique<FramePool>(buffer_bytes, options.fills_buffers);
  add_entry(*llvm_module, kernel->signature_, words, kernel->frames_.get());
  JUMAR_ASSIGN(kernel->code_, Code::make({std::move(llvm_module), std::move(llvm_context)}, options.level));
  kernel->describe(words, buffer_bytes);
  return kernel;
}

void Kernel::describe(const Words& words, int64_t buffer_bytes) {
  for (size_t i = 0; i < signature_.arguments.size(); ++i) {
    const Argument& argument = signature_.arguments[i];
    arguments_.push_back({.kind = static_cast<int32_t>(argument.kind),
                          .role = argument.role,
                          .type = argument.type.c_str(),
                          .word = words.arguments[i],
                          .count = words.counts[i]});
  }
  info_ = {.name = signature_.name.c_str(),
           .argument_count = static_cast<int32_t>(arguments_.size()),
           .arguments = arguments_.data(),
           .word_count = words.count,
           .fault_word = words.fault,
           .grid_word = words.grid,
           .has_atomics = signature_.has_atomics,
           .is_mixed = signature_.is_mixed,
           .buffer_bytes = buffer_bytes};
}

std::string Kernel::fault_text(const jumar_sim_fault& fault) const {
  std::string text = fmt::format("kernel {}, block {}: ", signature_.name, fault.block);
  bool known = fault.argument >= 0 && fault.argument < int64_t(signature_.arguments.size());
  std::string type = known ? signature_.arguments[static_cast<size_t>(fault.argument)].type : "?";
  switch (fault.kind) {
    case JUMAR_SIM_READ:
    case JUMAR_SIM_WRITE:
      text += fmt::format("{} element {} of argument {} ({}), which has {} elements",
                          fault.kind == JUMAR_SIM_READ ? "reads" : "writes", fault.element, fault.argument, type,
                          fault.size);
      break;
    case JUMAR_SIM_BUFFER:
      text += fmt::format("uses element {} of a buffer of {} elements", fault.element, fault.size);
      break;
    case JUMAR_SIM_SHAPE:
      text += fmt::format("an operation on views of {} and {} elements", fault.element, fault.size);
      break;
    case JUMAR_SIM_ASSERT:
      text += "a device assertion failed";
      break;
    default:
      text += fmt::format("its buffers need {} bytes more, of at most {}", fault.element, fault.size);
  }
  if (fault.place != 0) text += fmt::format(" (line {} of its linalg)", fault.place);
  return text;
}

}  // namespace jumar::runtime::sim
