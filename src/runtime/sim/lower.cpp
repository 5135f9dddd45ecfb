#include "runtime/sim/lower.h"

#include <mlir/Conversion/Passes.h>
#include <mlir/Dialect/Affine/IR/AffineOps.h>
#include <mlir/Dialect/Arith/Transforms/Passes.h>
#include <mlir/Dialect/Bufferization/IR/Bufferization.h>
#include <mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h>
#include <mlir/Dialect/Bufferization/Transforms/Passes.h>
#include <mlir/Dialect/ControlFlow/IR/ControlFlowOps.h>
#include <mlir/Dialect/LLVMIR/LLVMDialect.h>
#include <mlir/Dialect/Linalg/IR/Linalg.h>
#include <mlir/Dialect/Linalg/Passes.h>
#include <mlir/Dialect/Math/IR/Math.h>
#include <mlir/Dialect/Math/Transforms/Passes.h>
#include <mlir/Dialect/MemRef/IR/MemRef.h>
#include <mlir/Dialect/MemRef/Transforms/Passes.h>
#include <mlir/Dialect/SCF/IR/SCF.h>
#include <mlir/Dialect/Tensor/IR/Tensor.h>
#include <mlir/Dialect/Vector/IR/VectorOps.h>
#include <mlir/Pass/PassManager.h>
#include <mlir/Transforms/Passes.h>

#include "runtime/sim/annotations.h"
#include "runtime/sim/buffers.h"
#include "runtime/sim/externals.h"
#include "runtime/sim/guards.h"
#include "runtime/sim/hfusion.h"
#include "runtime/sim/loops.h"
#include "runtime/sim/messages.h"
#include "runtime/sim/scalars.h"

namespace jumar::runtime::sim {

namespace {

using mlir::PassManager;

template <class... Passes>
mlir::LogicalResult run(mlir::ModuleOp module, Passes... passes) {
  PassManager manager(module.getContext());
  manager.enableVerifier(false);
  (manager.addPass(std::move(passes)), ...);
  return manager.run(module);
}

// Operations that MLIR read without knowing them; `hfusion`'s own are known by then.
Status check_known(mlir::ModuleOp module) {
  Status status;
  module.walk([&](mlir::Operation* op) {
    if (op->isRegistered()) return mlir::WalkResult::advance();
    Diagnostic error =
        diagnostic("unsupported", "the operation {} is not simulated", op->getName().getStringRef().str());
    error.where = place(op->getLoc());
    status = error;
    return mlir::WalkResult::interrupt();
  });
  return status;
}

// Leaves the kernel as the module's only function with a body.
mlir::LogicalResult isolate(mlir::ModuleOp module, mlir::func::FuncOp kernel) {
  for (auto function : module.getOps<mlir::func::FuncOp>()) {
    if (function != kernel) function.setPrivate();
  }
  if (failed(run(module, mlir::createInlinerPass()))) return mlir::failure();
  for (auto function : llvm::make_early_inc_range(module.getOps<mlir::func::FuncOp>())) {
    if (function != kernel && !function.isDeclaration()) function.erase();
  }
  return mlir::success();
}

// After it the kernel has no tensors. Loops may hand on buffers that they allocate.
mlir::LogicalResult bufferize(mlir::ModuleOp module) {
  if (failed(run(module, mlir::bufferization::createEmptyTensorEliminationPass(),
                 mlir::bufferization::createEmptyTensorToAllocTensorPass()))) {
    return mlir::failure();
  }
  mlir::bufferization::OneShotBufferizationOptions options;
  options.allowReturnAllocsFromLoops = true;
  options.memCpyFn = [](mlir::OpBuilder& b, mlir::Location loc, mlir::Value from, mlir::Value to) {
    b.create<mlir::linalg::CopyOp>(loc, from, to);
    return mlir::success();
  };
  return mlir::bufferization::runOneShotBufferize(module, options);
}

mlir::LogicalResult to_blocks(mlir::ModuleOp module) {
  return run(module, mlir::createConvertLinalgToLoopsPass(), mlir::memref::createExpandStridedMetadataPass(),
             mlir::createLowerAffinePass(), mlir::createConvertSCFToCFPass(), mlir::createCanonicalizerPass(),
             mlir::createCSEPass());
}

mlir::LogicalResult to_plain_scalars(mlir::ModuleOp module) {
  mlir::arith::ArithEmulateUnsupportedFloatsOptions emulate;
  std::string types[] = {"bf16", "f16"};
  emulate.sourceTypeStrs = types;
  emulate.targetTypeStr = "f32";
  mlir::arith::ArithExpandOpsPassOptions expand;
  expand.includeBf16 = true;
  if (failed(run(module, mlir::math::createMathLegalizeToF32(),
                 mlir::arith::createArithEmulateUnsupportedFloats(emulate)))) {
    return mlir::failure();
  }
  keep_roundings(module);
  if (failed(run(module, mlir::arith::createArithExpandOpsPass(expand)))) return mlir::failure();
  make_divisions_safe(module);
  return mlir::success();
}

mlir::LogicalResult to_llvm(mlir::ModuleOp module) {
  return run(module, mlir::createConvertMathToLLVMPass(), mlir::createConvertMathToLibmPass(),
             mlir::createFinalizeMemRefToLLVMConversionPass(), mlir::createConvertFuncToLLVMPass(),
             mlir::createConvertControlFlowToLLVMPass(), mlir::createConvertIndexToLLVMPass(),
             mlir::createArithToLLVMConversionPass(), mlir::createReconcileUnrealizedCastsPass());
}

}  // namespace

Status lower(mlir::ModuleOp module, mlir::func::FuncOp kernel, const Signature& signature) {
  Messages messages(module.getContext());
  std::string what = fmt::format("kernel @{}", signature.name);
  JUMAR_RETURN_IF_ERROR(check_known(module));
  drop_annotations(module);
  declare_guard(module);
  if (failed(isolate(module, kernel))) return messages.error("unsupported", what + " calls itself");
  JUMAR_RETURN_IF_ERROR(lower_hfusion(module));
  JUMAR_RETURN_IF_ERROR(lower_externals(module));
  kernel.setName(kLoweredName);
  if (failed(to_loops_over_elements(module))) return messages.error("unsupported", what);
  if (failed(bufferize(module))) return messages.error("unsupported", what + " has tensors without a buffer");
  copy_by_loops(kernel);
  JUMAR_RETURN_IF_ERROR(copy_carried_buffers(kernel));
  JUMAR_RETURN_IF_ERROR(insert_guards(kernel, signature.first));
  place_buffers(kernel);
  mlir::OpBuilder b(module.getContext());
  unsigned arguments = kernel.getNumArguments();
  kernel.insertArgument(arguments, mlir::LLVM::LLVMPointerType::get(module.getContext()), {},
                        kernel.getLoc());
  kernel.insertArgument(arguments + 1, b.getI64Type(), {}, kernel.getLoc());
  if (failed(to_blocks(module))) return messages.error("unsupported", what);
  lower_guards(kernel, kernel.getArgument(arguments), kernel.getArgument(arguments + 1));
  if (failed(to_plain_scalars(module)) || failed(to_llvm(module))) return messages.error("unsupported", what);
  return {};
}

}  // namespace jumar::runtime::sim
