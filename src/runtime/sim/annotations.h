// Hints for the compiler of a device that triton-adapter-opt leaves in linalg.
//
//   annotation.mark %0 {hivm.multi_buffer = 1 : i32} : tensor<64x64xf32>
//
// They say nothing about values, so that the simulator drops them. MLIR reads the text only where the
// operation is registered.
#pragma once

#include <mlir/IR/BuiltinOps.h>
#include <mlir/IR/Dialect.h>
#include <mlir/IR/OpDefinition.h>
#include <mlir/IR/OpImplementation.h>

namespace jumar::runtime::sim {

class AnnotationDialect : public mlir::Dialect {
 public:
  explicit AnnotationDialect(mlir::MLIRContext* context);
  static llvm::StringRef getDialectNamespace() { return "annotation"; }
};

class AnnotationMark : public mlir::Op<AnnotationMark, mlir::OpTrait::OneOperand, mlir::OpTrait::ZeroResults,
                                       mlir::OpTrait::ZeroRegions, mlir::OpTrait::ZeroSuccessors> {
 public:
  using Op::Op;
  static llvm::StringRef getOperationName() { return "annotation.mark"; }
  static llvm::ArrayRef<llvm::StringRef> getAttributeNames() { return {}; }
  static mlir::ParseResult parse(mlir::OpAsmParser& parser, mlir::OperationState& state);
  void print(mlir::OpAsmPrinter& printer);
};

void drop_annotations(mlir::ModuleOp module);

}  // namespace jumar::runtime::sim

MLIR_DECLARE_EXPLICIT_TYPE_ID(jumar::runtime::sim::AnnotationDialect)
