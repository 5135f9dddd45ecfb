#include "loop/interp_nest.h"
#include "loop/walk.h"

namespace jumar::loop {
namespace {

bool is_wide(ReduceKind kind, ir::DType type) {
  return ir::is_float(type) && (kind == ReduceKind::kSum || kind == ReduceKind::kProd);
}

ScalarOp combining_op(ReduceKind kind) {
  switch (kind) {
    case ReduceKind::kSum:
      return ScalarOp::kAdd;
    case ReduceKind::kProd:
      return ScalarOp::kMul;
    case ReduceKind::kMax:
    case ReduceKind::kArgMax:
      return ScalarOp::kMax;
    case ReduceKind::kMin:
    case ReduceKind::kArgMin:
      return ScalarOp::kMin;
    case ReduceKind::kAny:
      return ScalarOp::kOr;
    case ReduceKind::kAll:
      return ScalarOp::kAnd;
  }
  return ScalarOp::kAdd;
}

Scalar identity(ReduceKind kind, ir::DType type) {
  switch (kind) {
    case ReduceKind::kSum:
    case ReduceKind::kAny:
      return scalar_of_int(0, type);
    case ReduceKind::kProd:
    case ReduceKind::kAll:
      return scalar_of_int(1, type);
    case ReduceKind::kMax:
    case ReduceKind::kArgMax:
      return least_scalar(type);
    case ReduceKind::kMin:
    case ReduceKind::kArgMin:
      return greatest_scalar(type);
  }
  return {type, 0};
}

// NaN is the extreme of all.
bool is_better(ReduceKind kind, Scalar a, Scalar b) {
  if (is_nan(a) || is_nan(b)) return is_nan(a) && !is_nan(b);
  Scalar operands[] = {a, b};
  ScalarOp op = kind == ReduceKind::kArgMax ? ScalarOp::kGt : ScalarOp::kLt;
  return evaluate(op, ir::DType::kBool, operands).bits != 0;
}

}  // namespace

void Fold::reset() {
  is_empty_ = true;
  wide_ = kind_ == ReduceKind::kProd ? 1 : 0;
  value_ = identity(kind_, type_);
}

void Fold::take(Scalar value, int64_t position) {
  if (is_arg_reduce(kind_)) {
    bool wins = is_empty_ || is_better(kind_, value, value_);
    if (wins) {
      value_ = value;
      position_ = position;
    } else if (!is_better(kind_, value_, value)) {
      position_ = std::min(position_, position);
    }
  } else if (is_wide(kind_, type_)) {
    if (kind_ == ReduceKind::kSum)
      wide_ += as_double(value);
    else
      wide_ *= as_double(value);
  } else {
    Scalar operands[] = {value_, value};
    value_ = evaluate(combining_op(kind_), type_, operands);
  }
  is_empty_ = false;
}

std::optional<Scalar> Fold::result() const {
  if (is_arg_reduce(kind_)) {
    if (is_empty_) return std::nullopt;
    return scalar_of_int(position_, ir::DType::kI64);
  }
  return is_wide(kind_, type_) ? scalar_of(wide_, type_) : value_;
}

}  // namespace jumar::loop
