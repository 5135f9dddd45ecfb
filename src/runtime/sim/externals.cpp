#include "runtime/sim/externals.h"

#include <mlir/Dialect/Arith/IR/Arith.h>
#include <mlir/Dialect/Func/IR/FuncOps.h>
#include <mlir/Dialect/MemRef/IR/MemRef.h>
#include <mlir/Dialect/SCF/IR/SCF.h>
#include <mlir/Dialect/Tensor/IR/Tensor.h>
#include <mlir/IR/Builders.h>

#include "runtime/sim/constants.h"
#include "runtime/sim/guards.h"
#include "runtime/sim/messages.h"

namespace jumar::runtime::sim {

namespace arith = mlir::arith;
namespace tensor = mlir::tensor;
using llvm::ArrayRef;
using llvm::SmallVector;
using mlir::Location;
using mlir::OpBuilder;
using mlir::RankedTensorType;
using mlir::Value;
using mlir::ValueRange;

namespace {

using Indices = SmallVector<Value, 4>;
using Step = llvm::function_ref<Value(OpBuilder&, Location, ValueRange indices, Value carried)>;

// Loops over all indices of `shape`, the last one fastest, that carry a tensor.
Value nest(OpBuilder& b, Location loc, ArrayRef<int64_t> shape, Value carried, Step step) {
  Value zero = b.create<arith::ConstantIndexOp>(loc, 0), one = b.create<arith::ConstantIndexOp>(loc, 1);
  Indices lower(shape.size(), zero), upper, steps(shape.size(), one);
  for (int64_t size : shape) upper.push_back(b.create<arith::ConstantIndexOp>(loc, size));
  auto loops = mlir::scf::buildLoopNest(
      b, loc, lower, upper, steps, ValueRange{carried},
      [&](OpBuilder& body, Location at, ValueRange indices, ValueRange args) -> mlir::scf::ValueVector {
        return {step(body, at, indices, args[0])};
      });
  return loops.results.empty() ? carried : loops.results[0];
}

void nest(OpBuilder& b, Location loc, ArrayRef<int64_t> shape,
          llvm::function_ref<void(OpBuilder&, Location, ValueRange)> step) {
  Value zero = b.create<arith::ConstantIndexOp>(loc, 0), one = b.create<arith::ConstantIndexOp>(loc, 1);
  Indices lower(shape.size(), zero), upper, steps(shape.size(), one);
  for (int64_t size : shape) upper.push_back(b.create<arith::ConstantIndexOp>(loc, size));
  mlir::scf::buildLoopNest(b, loc, lower, upper, steps, step);
}

Value empty_like(OpBuilder& b, Location loc, RankedTensorType type) {
  return b.create<tensor::EmptyOp>(loc, type.getShape(), type.getElementType());
}

Value as_index(OpBuilder& b, Location loc, Value value) {
  return b.create<arith::IndexCastOp>(loc, b.getIndexType(), value);
}

Indices with(ValueRange indices, int64_t axis, Value value) {
  Indices changed(indices.begin(), indices.end());
  changed[axis] = value;
  return changed;
}

RankedTensorType tensor_type(Value value) { return mlir::dyn_cast<RankedTensorType>(value.getType()); }

// Running sums or products; `reverse` goes from the last element to the first.
Value scan(OpBuilder& b, Location loc, Value input, int64_t axis, bool reverse, bool product) {
  RankedTensorType type = tensor_type(input);
  bool is_float = mlir::isa<mlir::FloatType>(type.getElementType());
  int64_t last = type.getDimSize(axis) - 1;
  return nest(b, loc, type.getShape(), empty_like(b, loc, type),
              [&](OpBuilder& body, Location at, ValueRange i, Value carried) -> Value {
                auto index = [&](int64_t n) -> Value { return body.create<arith::ConstantIndexOp>(at, n); };
                Value first = body.create<arith::CmpIOp>(at, arith::CmpIPredicate::eq, i[axis], index(0));
                Value here = i[axis];
                if (reverse) here = body.create<arith::SubIOp>(at, index(last), here);
                Value before = body.create<arith::AddIOp>(at, here, index(reverse ? 1 : -1));
                before = body.create<arith::SelectOp>(at, first, here, before);
                Indices to = with(i, axis, here), from = with(i, axis, before);
                Value element = body.create<tensor::ExtractOp>(at, input, to);
                Value so_far = body.create<tensor::ExtractOp>(at, carried, from);
                Value next;
                if (product) {
                  next = is_float ? Value(body.create<arith::MulFOp>(at, so_far, element))
                                  : Value(body.create<arith::MulIOp>(at, so_far, element));
                } else {
                  next = is_float ? Value(body.create<arith::AddFOp>(at, so_far, element))
                                  : Value(body.create<arith::AddIOp>(at, so_far, element));
                }
                next = body.create<arith::SelectOp>(at, first, element, next);
                return body.create<tensor::InsertOp>(at, next, carried, to);
              });
}

// Exchanges neighbours until they are in order: a permutation of the input, whatever a comparison with NaN says.
Value sort(OpBuilder& b, Location loc, Value input, int64_t axis, bool descending) {
  RankedTensorType type = tensor_type(input);
  bool is_float = mlir::isa<mlir::FloatType>(type.getElementType());
  int64_t size = type.getDimSize(axis);
  SmallVector<int64_t> shape(type.getShape());
  shape[axis] = 1;
  shape.push_back(size);
  shape.push_back(size - 1);
  Value copy = nest(b, loc, type.getShape(), empty_like(b, loc, type),
                    [&](OpBuilder& body, Location at, ValueRange i, Value carried) -> Value {
                      Value element = body.create<tensor::ExtractOp>(at, input, i);
                      return body.create<tensor::InsertOp>(at, element, carried, i);
                    });
  return nest(b, loc, shape, copy, [&](OpBuilder& body, Location at, ValueRange i, Value carried) -> Value {
    Value one = body.create<arith::ConstantIndexOp>(at, 1);
    Value j = i[i.size() - 1];
    Indices left = with(i.drop_back(2), axis, j);
    Indices right = with(i.drop_back(2), axis, body.create<arith::AddIOp>(at, j, one));
    Value x = body.create<tensor::ExtractOp>(at, carried, left);
    Value y = body.create<tensor::ExtractOp>(at, carried, right);
    Value low = descending ? x : y, high = descending ? y : x;
    Value swap = is_float ? Value(body.create<arith::CmpFOp>(at, arith::CmpFPredicate::OLT, low, high))
                          : Value(body.create<arith::CmpIOp>(at, arith::CmpIPredicate::slt, low, high));
    Value new_x = body.create<arith::SelectOp>(at, swap, y, x);
    Value new_y = body.create<arith::SelectOp>(at, swap, x, y);
    Value half = body.create<tensor::InsertOp>(at, new_x, carried, left);
    return body.create<tensor::InsertOp>(at, new_y, half, right);
  });
}

Value flip(OpBuilder& b, Location loc, Value input, int64_t axis) {
  RankedTensorType type = tensor_type(input);
  int64_t last = type.getDimSize(axis) - 1;
  return nest(b, loc, type.getShape(), empty_like(b, loc, type),
              [&](OpBuilder& body, Location at, ValueRange i, Value carried) -> Value {
                Value end = body.create<arith::ConstantIndexOp>(at, last);
                Value from = body.create<arith::SubIOp>(at, end, i[axis]);
                Value element = body.create<tensor::ExtractOp>(at, input, with(i, axis, from));
                return body.create<tensor::InsertOp>(at, element, carried, i);
              });
}

Value gather(OpBuilder& b, Location loc, Value input, Value index, RankedTensorType type, int64_t axis) {
  return nest(b, loc, type.getShape(), empty_like(b, loc, type),
              [&](OpBuilder& body, Location at, ValueRange i, Value carried) -> Value {
                Value from = as_index(body, at, body.create<tensor::ExtractOp>(at, index, i));
                Value element = body.create<tensor::ExtractOp>(at, input, with(i, axis, from));
                return body.create<tensor::InsertOp>(at, element, carried, i);
              });
}

// (memory, offsets, [mask], [other]) -> elements. Without `other` what the mask excludes is 0.
Value indirect_load(OpBuilder& b, Location loc, mlir::func::CallOp call) {
  auto type = mlir::cast<RankedTensorType>(call.getResult(0).getType());
  Value mask, other;
  for (Value operand : call.getOperands().drop_front(2)) {
    bool is_mask = tensor_type(operand) && tensor_type(operand).getElementType().isInteger(1);
    (is_mask && !mask ? mask : other) = operand;
  }
  return nest(
      b, loc, type.getShape(), empty_like(b, loc, type),
      [&](OpBuilder& body, Location at, ValueRange i, Value carried) -> Value {
        Value offset = as_index(body, at, body.create<tensor::ExtractOp>(at, call.getOperand(1), i));
        auto load = [&](OpBuilder& inner, Location where) {
          Value element = inner.create<mlir::memref::LoadOp>(where, call.getOperand(0), offset);
          inner.create<mlir::scf::YieldOp>(where, element);
        };
        auto skip = [&](OpBuilder& inner, Location where) {
          Value element =
              other && tensor_type(other) ? Value(inner.create<tensor::ExtractOp>(where, other, i))
              : other                     ? other
                      : Value(inner.create<arith::ConstantOp>(where, inner.getZeroAttr(type.getElementType())));
          inner.create<mlir::scf::YieldOp>(where, element);
        };
        Value use = mask ? Value(body.create<tensor::ExtractOp>(at, mask, i))
                         : Value(body.create<arith::ConstantOp>(at, body.getBoolAttr(true)));
        Value element = body.create<mlir::scf::IfOp>(at, use, load, skip).getResult(0);
        return body.create<tensor::InsertOp>(at, element, carried, i);
      });
}

// (memory, offsets, elements, [mask])
void indirect_store(OpBuilder& b, Location loc, mlir::func::CallOp call) {
  Value offsets = call.getOperand(1), elements, mask;
  for (Value operand : call.getOperands().drop_front(2)) {
    bool is_mask = elements && tensor_type(operand) && tensor_type(operand).getElementType().isInteger(1);
    (is_mask ? mask : elements) = operand;
  }
  nest(b, loc, tensor_type(offsets).getShape(), [&](OpBuilder& body, Location at, ValueRange i) {
    Value offset = as_index(body, at, body.create<tensor::ExtractOp>(at, offsets, i));
    Value use = mask ? Value(body.create<tensor::ExtractOp>(at, mask, i))
                     : Value(body.create<arith::ConstantOp>(at, body.getBoolAttr(true)));
    body.create<mlir::scf::IfOp>(at, use, [&](OpBuilder& inner, Location where) {
      Value element = inner.create<tensor::ExtractOp>(where, elements, i);
      inner.create<mlir::memref::StoreOp>(where, element, call.getOperand(0), offset);
      inner.create<mlir::scf::YieldOp>(where);
    });
  });
}

void assert_all(OpBuilder& b, Location loc, Value condition) {
  RankedTensorType type = tensor_type(condition);
  if (!type) {
    guard(b, loc, condition, kAssert);
    return;
  }
  nest(b, loc, type.getShape(), [&](OpBuilder& body, Location at, ValueRange i) {
    guard(body, at, body.create<tensor::ExtractOp>(at, condition, i), kAssert);
  });
}

Diagnostic refusal(mlir::func::CallOp call, const char* why) {
  Diagnostic error = diagnostic("unsupported", "the call of @{} {}", call.getCallee().str(), why);
  error.where = place(call.getLoc());
  return error;
}

bool is_named(llvm::StringRef name, llvm::StringRef base) {
  if (!name.consume_front(base)) return false;
  return name.empty() || name.front() == '_';
}

// The axis that operand `number` of the call says, counted from 0.
std::optional<int64_t> axis_of(mlir::func::CallOp call, unsigned number) {
  RankedTensorType type = call.getNumOperands() > number ? tensor_type(call.getOperand(0)) : nullptr;
  if (!type) return std::nullopt;
  std::optional<int64_t> axis = constant_of(call.getOperand(number));
  if (!axis || *axis < -type.getRank() || *axis >= type.getRank()) return std::nullopt;
  return *axis < 0 ? *axis + type.getRank() : *axis;
}

Result<Value> along_axis(mlir::func::CallOp call, llvm::StringRef name) {
  OpBuilder b(call);
  Location loc = call.getLoc();
  bool is_gather = is_named(name, "triton_gather"), is_flip = is_named(name, "triton_flip");
  unsigned operands = is_flip ? 2 : 3;
  std::optional<int64_t> axis = axis_of(call, is_gather ? 2 : 1);
  bool shaped = call.getNumOperands() == operands && call.getNumResults() == 1 &&
                tensor_type(call.getResult(0)) && tensor_type(call.getResult(0)).hasStaticShape();
  if (!axis || !shaped || !tensor_type(call.getOperand(0)).hasStaticShape()) {
    return refusal(call, "has arguments that the simulator does not know");
  }
  Value input = call.getOperand(0);
  if (is_gather) {
    return gather(b, loc, input, call.getOperand(1), tensor_type(call.getResult(0)), *axis);
  }
  if (is_flip) return flip(b, loc, input, *axis);
  std::optional<int64_t> flag = constant_of(call.getOperand(2));
  if (!flag) return refusal(call, "has a direction that is not constant");
  if (is_named(name, "triton_sort")) return sort(b, loc, input, *axis, *flag != 0);
  return scan(b, loc, input, *axis, *flag != 0, is_named(name, "triton_cumprod"));
}

// Replaces the call, or says why it can't. A call that the linker resolves is left.
Status lower_call(mlir::func::CallOp call) {
  llvm::StringRef name = call.getCallee();
  OpBuilder b(call);
  if (name.starts_with("__hmf_")) return {};
  if (is_named(name, "triton_print")) {
    if (call.getNumResults() != 0) return refusal(call, "has a result, which no print has");
  } else if (is_named(name, "triton_assert")) {
    if (call.getNumOperands() != 1) return refusal(call, "has arguments that the simulator does not know");
    assert_all(b, call.getLoc(), call.getOperand(0));
  } else if (is_named(name, "triton_indirect_load")) {
    if (call.getNumOperands() < 2 || call.getNumOperands() > 4 || call.getNumResults() != 1) {
      return refusal(call, "has arguments that the simulator does not know");
    }
    call.getResult(0).replaceAllUsesWith(indirect_load(b, call.getLoc(), call));
  } else if (is_named(name, "triton_indirect_store")) {
    if (call.getNumOperands() < 3 || call.getNumOperands() > 4) {
      return refusal(call, "has arguments that the simulator does not know");
    }
    indirect_store(b, call.getLoc(), call);
  } else if (is_named(name, "triton_cumsum") || is_named(name, "triton_cumprod") ||
             is_named(name, "triton_sort") || is_named(name, "triton_flip") ||
             is_named(name, "triton_gather")) {
    JUMAR_ASSIGN(Value result, along_axis(call, name));
    call.getResult(0).replaceAllUsesWith(result);
  } else {
    return refusal(call, "is of a device function that the simulator does not know");
  }
  call.erase();
  return {};
}

}  // namespace

Status lower_externals(mlir::ModuleOp module) {
  SmallVector<mlir::func::CallOp> calls;
  module.walk([&](mlir::func::CallOp call) {
    auto callee = module.lookupSymbol<mlir::func::FuncOp>(call.getCallee());
    if (callee && callee.isDeclaration()) calls.push_back(call);
  });
  for (mlir::func::CallOp call : calls) JUMAR_RETURN_IF_ERROR(lower_call(call));
  for (auto function : llvm::make_early_inc_range(module.getOps<mlir::func::FuncOp>())) {
    if (function.isDeclaration() && function.getName().starts_with("triton_")) function.erase();
  }
  return {};
}

}  // namespace jumar::runtime::sim
