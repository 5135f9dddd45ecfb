#include "loop/lower/body.h"

#include <cmath>

namespace jumar::loop::lowering {

namespace {

// The value of a double as `type` holds it.
Constant constant_of(DType type, double value) {
  Constant c{0};
  if (type == DType::kF32) {
    c.real = static_cast<double>(static_cast<float>(value));
  } else if (ir::is_float(type)) {
    c.real = value;
  } else if (ir::is_bool(type)) {
    c.integer = value != 0;
  } else {
    // Beyond the int64 range a C++ cast has no defined value; the result is that of the x86 instruction.
    bool fits = value >= -9223372036854775808.0 && value < 9223372036854775808.0;
    c.integer = fits ? static_cast<int64_t>(value) : INT64_MIN;
  }
  return c;
}

}  // namespace

Expr address(sym::Context& cx, const Tensor& tensor, std::span<const Expr> index) {
  CHECK(index.size() == tensor.rank(), "{} positions in a tensor of rank {}", index.size(), tensor.rank());
  std::vector<Expr> terms{tensor.offset};
  for (size_t k = 0; k < index.size(); ++k) {
    // A dimension of one element has position 0 whatever the loop says: this is how operands broadcast.
    if (tensor.size(k).is_const(1)) continue;
    terms.push_back(cx.mul(index[k], tensor.stride(k)));
  }
  return cx.add(terms);
}

std::optional<double> Scalar::constant() const {
  if (const double* d = std::get_if<double>(&data)) return *d;
  if (const bool* b = std::get_if<bool>(&data)) return *b ? 1 : 0;
  if (const Expr* e = std::get_if<Expr>(&data)) {
    if (auto value = e->as_const()) return static_cast<double>(*value);
  }
  return std::nullopt;
}

Val Body::append(Inst inst) {
  CHECK(!nest_.stages.empty(), "no stage has begun");
  Val value;
  value.body = this;
  value.type = inst.type;
  if (inst.defines_value()) value.id = ValueId(nest_.value_count++);
  nest_.stages.back().body.push_back({value.id, std::move(inst)});
  return value;
}

Expr Body::keep(Expr extent) {
  if (extent.is_const(1)) return cx_.constant(0);
  Expr axis = cx_.symbol(sym::SymbolKind::kAxis, fmt::format("i{}", kept_count_++));
  nest_.kept.push_back({axis, extent});
  return axis;
}

Index Body::keep_all(const Sizes& sizes) {
  Index out;
  for (Expr size : sizes) out.push_back(keep(size));
  return out;
}

Expr Body::inner(Expr extent) {
  if (extent.is_const(1)) return cx_.constant(0);
  Expr axis = cx_.symbol(sym::SymbolKind::kAxis, fmt::format("r{}", inner_count_++));
  nest_.stages.back().inner.push_back({axis, extent});
  return axis;
}

std::vector<Axis> Body::axes() const {
  std::vector<Axis> out = nest_.kept;
  if (nest_.stages.empty()) return out;
  const std::vector<Axis>& inner = nest_.stages.back().inner;
  out.insert(out.end(), inner.begin(), inner.end());
  return out;
}

Val Body::real(DType type, double value) {
  if (ir::is_low_precision(type)) return to(real(DType::kF32, value), type);
  Inst inst;
  inst.kind = InstKind::kConst;
  inst.type = type;
  inst.constant = constant_of(type, value);
  return append(std::move(inst));
}

Val Body::integer(DType type, int64_t value) {
  Inst inst;
  inst.kind = InstKind::kConst;
  inst.type = type;
  CHECK(!ir::is_float(type), "an integer constant of type {}", ir::dtype_name(type));
  inst.constant.integer = value;
  return append(std::move(inst));
}

Val Body::scalar(const Scalar& scalar, DType type) {
  if (const double* d = std::get_if<double>(&scalar.data)) return real(type, *d);
  if (const bool* b = std::get_if<bool>(&scalar.data)) return real(type, *b ? 1 : 0);
  if (const Expr* e = std::get_if<Expr>(&scalar.data)) {
    auto value = e->as_const();
    if (!value) return to(index(*e), type);
    if (ir::is_float(type)) return real(type, static_cast<double>(*value));
    if (ir::is_bool(type)) return integer(type, *value != 0);
    if (type == DType::kI64) return integer(type, *value);
    return to(integer(DType::kI64, *value), type);
  }
  Inst inst;
  inst.kind = InstKind::kParam;
  inst.type = scalar.host_is_float ? DType::kF64 : DType::kBool;
  inst.number = std::get<NumberId>(scalar.data);
  return to(append(std::move(inst)), type);
}

Val Body::index(Expr expr) {
  Inst inst;
  inst.kind = InstKind::kIndex;
  inst.type = DType::kI64;
  inst.address = expr;
  return append(std::move(inst));
}

Val Body::predicate(Expr expr) {
  Inst inst;
  inst.kind = InstKind::kIndex;
  inst.type = DType::kBool;
  inst.address = expr;
  return append(std::move(inst));
}

Val Body::load(const Tensor& tensor, const Index& index) {
  return load_at(tensor, address(cx_, tensor, index));
}

Val Body::load_if(Expr guard, const Tensor& tensor, const Index& index, double otherwise) {
  return load_at(tensor, address(cx_, tensor, index), guard, otherwise);
}

Val Body::load_at(const Tensor& tensor, Expr address, Expr guard, double otherwise) {
  Inst inst;
  inst.kind = InstKind::kLoad;
  inst.type = tensor.dtype();
  inst.buffer = tensor.buffer;
  inst.address = address;
  if (guard && !guard.is_const(1)) {
    inst.guard = guard;
    inst.constant = constant_of(tensor.dtype(), otherwise);
  }
  return append(std::move(inst));
}

Val Body::op(ScalarOp op, Val a, Val b, Val c) {
  Inst inst;
  inst.kind = InstKind::kOp;
  inst.op = op;
  inst.operands = {a.id, b.id, c.id};
  switch (scalar_op_rule(op)) {
    case TypeRule::kCompare:
    case TypeRule::kPredicate:
      inst.type = DType::kBool;
      break;
    case TypeRule::kSelect:
      inst.type = b.type;
      break;
    case TypeRule::kConvert:
      CHECK(false, "'{}' has a target type", scalar_op_name(op));
      break;
    default:
      inst.type = a.type;
  }
  CHECK(scalar_op_takes(op, scalar_op_rule(op) == TypeRule::kSelect ? b.type : a.type), "'{}' of {}",
        scalar_op_name(op), ir::dtype_name(a.type));
  return append(std::move(inst));
}

Val Body::to(Val value, DType type) {
  if (value.type == type) return value;
  // A low-precision float is the rounding of an f32, and the way back leads over f32 as well.
  if (ir::is_low_precision(type) && value.type != DType::kF32) value = to(value, DType::kF32);
  if (ir::is_low_precision(value.type) && type != DType::kF32) value = to(value, DType::kF32);
  Inst inst;
  inst.kind = InstKind::kOp;
  inst.op = ScalarOp::kCast;
  inst.type = type;
  inst.operands[0] = value.id;
  if (value.type == type) return value;
  return append(std::move(inst));
}

Val Body::bitcast(Val value, DType type) {
  Inst inst;
  inst.kind = InstKind::kOp;
  inst.op = ScalarOp::kBitcast;
  inst.type = type;
  inst.operands[0] = value.id;
  return append(std::move(inst));
}

Val Body::result(Val value, DType type) {
  if (!ir::is_low_precision(type) || value.type == type) return to(value, type);
  value = to(value, DType::kF32);
  Inst inst;
  inst.kind = InstKind::kOp;
  inst.op = ScalarOp::kDemote;
  inst.type = type;
  inst.operands[0] = value.id;
  return append(std::move(inst));
}

Expr Body::wrapped(Val index, Expr size) {
  index = to(index, DType::kI64);
  Inst inst;
  inst.kind = InstKind::kWrapIndex;
  inst.type = DType::kI64;
  inst.operands[0] = index.id;
  inst.address = size;
  return cx_.value(append(std::move(inst)).id.index());
}

Expr Body::checked(Val index, Expr size) {
  Inst inst;
  inst.kind = InstKind::kCheckIndex;
  inst.type = DType::kI64;
  inst.operands[0] = to(index, DType::kI64).id;
  inst.address = size;
  return cx_.value(append(std::move(inst)).id.index());
}

Val Body::reduce(ReduceKind kind, Val value) {
  Inst inst;
  inst.kind = InstKind::kReduce;
  inst.reduce = kind;
  inst.type = value.type;
  inst.operands[0] = value.id;
  return append(std::move(inst));
}

Val Body::arg_reduce(ReduceKind kind, Val value, Val at) {
  Inst inst;
  inst.kind = InstKind::kReduce;
  inst.reduce = kind;
  inst.type = DType::kI64;
  inst.operands = {value.id, at.id, ValueId()};
  return append(std::move(inst));
}

Val Body::scan(ScanKind kind, Val value, Expr axis) {
  Inst inst;
  inst.kind = InstKind::kScan;
  inst.scan = kind;
  inst.type = value.type;
  inst.operands[0] = value.id;
  inst.axis = axis;
  return append(std::move(inst));
}

void Body::store(const Tensor& tensor, const Index& index, Val value, StoreMode mode) {
  store_if({}, tensor, index, value, mode);
}

void Body::store_if(Expr guard, const Tensor& tensor, const Index& index, Val value, StoreMode mode) {
  Inst inst;
  inst.kind = InstKind::kStore;
  inst.type = tensor.dtype();
  inst.buffer = tensor.buffer;
  inst.mode = mode;
  inst.operands[0] = result(value, tensor.dtype()).id;
  inst.address = address(cx_, tensor, index);
  if (guard && !guard.is_const(1)) inst.guard = guard;
  append(std::move(inst));
}

}  // namespace jumar::loop::lowering
