// The operations of hfusion that triton-adapter-opt leaves in linalg.
//
//   %1 = hfusion.cast {mode = #hfusion.round_mode<trunc>} ins(%0 : tensor<64xf32>)
//                     outs(%e : tensor<64xbf16>) -> tensor<64xbf16>
//   %2 = hfusion.elemwise_binary {fun = #hfusion.binary_fn<mod>} ins(%0, %1 : tensor<64xf32>,
//                     tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
//   %3 = hfusion.histogram %0, 64 : tensor<64xi32> -> tensor<64xi32>
//
// MLIR reads the text only where the operations are registered, so this is a dialect of three. lower_hfusion
// replaces them by operations of MLIR's own dialects; any other operation of hfusion is an error of the
// reader, which names it.
#pragma once

#include <mlir/IR/BuiltinOps.h>
#include <mlir/IR/Dialect.h>
#include <mlir/IR/OpDefinition.h>
#include <mlir/IR/OpImplementation.h>

#include "support/result.h"

namespace jumar::runtime::sim {

class HfusionDialect : public mlir::Dialect {
 public:
  explicit HfusionDialect(mlir::MLIRContext* context);
  static llvm::StringRef getDialectNamespace() { return "hfusion"; }
  // #hfusion.round_mode<trunc> is read as the string "trunc".
  mlir::Attribute parseAttribute(mlir::DialectAsmParser& parser, mlir::Type type) const override;
};

class HfusionCast : public mlir::Op<HfusionCast, mlir::OpTrait::NOperands<2>::Impl, mlir::OpTrait::OneResult,
                                    mlir::OpTrait::ZeroRegions, mlir::OpTrait::ZeroSuccessors> {
 public:
  using Op::Op;
  static llvm::StringRef getOperationName() { return "hfusion.cast"; }
  static llvm::ArrayRef<llvm::StringRef> getAttributeNames() { return {}; }
  static mlir::ParseResult parse(mlir::OpAsmParser& parser, mlir::OperationState& state);
  void print(mlir::OpAsmPrinter& printer);
};

class HfusionBinary
    : public mlir::Op<HfusionBinary, mlir::OpTrait::NOperands<3>::Impl, mlir::OpTrait::OneResult,
                      mlir::OpTrait::ZeroRegions, mlir::OpTrait::ZeroSuccessors> {
 public:
  using Op::Op;
  static llvm::StringRef getOperationName() { return "hfusion.elemwise_binary"; }
  static llvm::ArrayRef<llvm::StringRef> getAttributeNames() { return {}; }
  static mlir::ParseResult parse(mlir::OpAsmParser& parser, mlir::OperationState& state);
  void print(mlir::OpAsmPrinter& printer);
};

class HfusionHistogram
    : public mlir::Op<HfusionHistogram, mlir::OpTrait::AtLeastNOperands<1>::Impl, mlir::OpTrait::OneResult,
                      mlir::OpTrait::ZeroRegions, mlir::OpTrait::ZeroSuccessors> {
 public:
  using Op::Op;
  static llvm::StringRef getOperationName() { return "hfusion.histogram"; }
  static llvm::ArrayRef<llvm::StringRef> getAttributeNames() { return {}; }
  static mlir::ParseResult parse(mlir::OpAsmParser& parser, mlir::OperationState& state);
  void print(mlir::OpAsmPrinter& printer);
};

Status lower_hfusion(mlir::ModuleOp module);

}  // namespace jumar::runtime::sim

MLIR_DECLARE_EXPLICIT_TYPE_ID(jumar::runtime::sim::HfusionDialect)
