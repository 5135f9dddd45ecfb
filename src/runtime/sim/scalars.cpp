#include "runtime/sim/scalars.h"

#include <mlir/Dialect/Arith/IR/Arith.h>
#include <mlir/IR/Builders.h>

#include "runtime/sim/constants.h"

namespace jumar::runtime::sim {

namespace arith = mlir::arith;
using mlir::Value;

namespace {

bool is_safe_divisor(Value divisor, bool is_signed) {
  std::optional<llvm::APInt> constant = constant_bits(divisor);
  return constant && !constant->isZero() && !(is_signed && constant->isAllOnes());
}

// 1 in place of divisors that have no quotient.
Value safe_divisor(mlir::OpBuilder& b, mlir::Location loc, Value dividend, Value divisor, bool is_signed) {
  mlir::Type type = divisor.getType();
  unsigned bits = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  auto constant = [&](const llvm::APInt& value) -> Value {
    return b.create<arith::ConstantOp>(loc, b.getIntegerAttr(type, value));
  };
  auto equals = [&](Value x, const llvm::APInt& y) -> Value {
    return b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, x, constant(y));
  };
  Value bad = equals(divisor, llvm::APInt::getZero(bits));
  if (is_signed) {
    Value overflows = b.create<arith::AndIOp>(loc, equals(divisor, llvm::APInt::getAllOnes(bits)),
                                              equals(dividend, llvm::APInt::getSignedMinValue(bits)));
    bad = b.create<arith::OrIOp>(loc, bad, overflows);
  }
  return b.create<arith::SelectOp>(loc, bad, constant(llvm::APInt(bits, 1)), divisor);
}

}  // namespace

void make_divisions_safe(mlir::ModuleOp module) {
  module.walk([](mlir::Operation* op) {
    bool is_signed = mlir::isa<arith::DivSIOp, arith::RemSIOp>(op);
    if (!is_signed && !mlir::isa<arith::DivUIOp, arith::RemUIOp>(op)) return;
    if (is_safe_divisor(op->getOperand(1), is_signed)) return;
    mlir::OpBuilder b(op);
    op->setOperand(1, safe_divisor(b, op->getLoc(), op->getOperand(0), op->getOperand(1), is_signed));
  });
}

void keep_roundings(mlir::ModuleOp module) {
  module.walk([](mlir::Operation* op) {
    if (auto narrow = mlir::dyn_cast<arith::TruncFOp>(op)) narrow.removeFastmathAttr();
    if (auto wide = mlir::dyn_cast<arith::ExtFOp>(op)) wide.removeFastmathAttr();
  });
}

}  // namespace jumar::runtime::sim
