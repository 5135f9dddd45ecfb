#include "loop/lower/lowering.h"

namespace jumar::loop::lowering {

using graph::Arg;
using graph::ArgList;
using graph::Value;
using graph::ValueId;
using graph::ValueKind;

namespace {

const Value* value_of(const Lowering& low, const Arg& arg) {
  const ValueId* id = arg.as<ValueId>();
  return id ? &low.graph().values[*id] : nullptr;
}

Expr integer_of(const Lowering& low, const Arg& arg) {
  if (const Expr* e = arg.as<Expr>()) return *e;
  if (const bool* b = arg.as<bool>()) return low.constant(*b ? 1 : 0);
  const Value* value = value_of(low, arg);
  CHECK(value && value->kind == ValueKind::kInt, "an argument is no integer");
  return value->expr;
}

}  // namespace

std::string Op::label() const {
  for (ValueId id : node_.results) {
    if (low_.graph().values[id].kind == ValueKind::kTensor) return low_.graph().values[id].name;
  }
  return "nothing";
}

bool Op::is_tensor(size_t k) const {
  if (k >= node_.args.size()) return false;
  const Value* value = value_of(low_, node_.args[k]);
  return value && value->kind == ValueKind::kTensor;
}

Tensor Op::tensor(size_t k) const {
  CHECK(is_tensor(k), "argument {} of {} is no tensor", k, node_.op);
  return low_.tensor_of(*node_.args[k].as<ValueId>());
}

std::vector<Tensor> Op::tensors(size_t k) const {
  std::vector<Tensor> out;
  for (const std::optional<Tensor>& item : optional_tensors(k)) {
    CHECK(item.has_value(), "an item of argument {} of {} is no tensor", k, node_.op);
    out.push_back(*item);
  }
  return out;
}

std::vector<std::optional<Tensor>> Op::optional_tensors(size_t k) const {
  CHECK(k < node_.args.size() && node_.args[k].list(), "argument {} of {} is no list", k, node_.op);
  std::vector<std::optional<Tensor>> out;
  for (const Arg& item : *node_.args[k].list()) {
    const ValueId* id = item.as<ValueId>();
    bool given = id && low_.graph().values[*id].kind == ValueKind::kTensor;
    out.push_back(given ? std::optional(low_.tensor_of(*id)) : std::nullopt);
  }
  return out;
}

Scalar Op::scalar(size_t k) const {
  CHECK(has(k), "{} has no argument {}", node_.op, k);
  const Arg& arg = node_.args[k];
  if (const double* d = arg.as<double>()) return {*d};
  if (const bool* b = arg.as<bool>()) return {*b};
  if (const Value* value = value_of(low_, arg)) {
    if (value->kind == ValueKind::kInt) return {value->expr};
    auto number = low_.number_of(*arg.as<ValueId>());
    CHECK(number.has_value(), "argument {} of {} is no number", k, node_.op);
    return {*number, value->kind == ValueKind::kFloat};
  }
  return {integer_of(low_, arg)};
}

Expr Op::integer(size_t k) const {
  CHECK(k < node_.args.size(), "{} has no argument {}", node_.op, k);
  return integer_of(low_, node_.args[k]);
}

std::optional<int64_t> Op::constant(size_t k) const { return integer(k).as_const(); }

std::vector<Expr> Op::integers(size_t k) const {
  CHECK(k < node_.args.size(), "{} has no argument {}", node_.op, k);
  if (!node_.args[k].list()) return {integer(k)};
  std::vector<Expr> out;
  for (const Arg& item : *node_.args[k].list()) out.push_back(integer_of(low_, item));
  return out;
}

std::optional<std::vector<int64_t>> Op::constants(size_t k) const {
  std::vector<int64_t> out;
  for (Expr e : integers(k)) {
    if (!e.is_const()) return std::nullopt;
    out.push_back(e.const_value());
  }
  return out;
}

bool Op::flag(size_t k) const {
  const bool* b = k < node_.args.size() ? node_.args[k].as<bool>() : nullptr;
  CHECK(b, "argument {} of {} is no bool", k, node_.op);
  return *b;
}

double Op::number(size_t k) const {
  auto value = scalar(k).constant();
  CHECK(value.has_value(), "argument {} of {} is no constant", k, node_.op);
  return *value;
}

std::string Op::text(size_t k) const {
  const std::string* s = k < node_.args.size() ? node_.args[k].as<std::string>() : nullptr;
  CHECK(s, "argument {} of {} is no text", k, node_.op);
  return *s;
}

size_t Op::dim(size_t k, size_t rank) const {
  auto value = constant(k);
  CHECK(value.has_value(), "argument {} of {} is no constant dimension", k, node_.op);
  int64_t count = static_cast<int64_t>(std::max<size_t>(rank, 1));
  int64_t dim = *value < 0 ? *value + count : *value;
  CHECK(0 <= dim && dim < count, "dimension {} of {} in {}", *value, count, node_.op);
  return static_cast<size_t>(dim);
}

std::vector<bool> Op::dim_mask(size_t k, size_t rank) const {
  if (!has(k)) return std::vector<bool>(rank, true);
  auto dims = constants(k);
  CHECK(dims.has_value(), "argument {} of {} holds no constant dimensions", k, node_.op);
  if (dims->empty()) return std::vector<bool>(rank, true);
  std::vector<bool> mask(rank, false);
  for (int64_t d : *dims) {
    size_t dim = static_cast<size_t>(d < 0 ? d + static_cast<int64_t>(rank) : d);
    if (rank == 0) continue;
    CHECK(dim < rank, "dimension {} of {} in {}", d, rank, node_.op);
    mask[dim] = true;
  }
  return mask;
}

bool Op::has_result(size_t k) const {
  if (k >= node_.results.size()) return false;
  ValueId id = node_.results[k];
  return low_.graph().values[id].kind == ValueKind::kTensor && low_.is_used(id);
}

const ir::TensorType& Op::result_type(size_t k) const {
  CHECK(k < node_.results.size(), "{} has no result {}", node_.op, k);
  return low_.graph().values[node_.results[k]].type;
}

Tensor Op::result(size_t k) {
  CHECK(k < node_.results.size(), "{} has no result {}", node_.op, k);
  ValueId id = node_.results[k];
  return low_.is_bound(id) ? low_.tensor_of(id) : low_.make_result(id, Storage::kTemp);
}

Tensor Op::result_or_temp(size_t k, DType dtype, const Sizes& sizes) {
  return has_result(k) ? result(k) : temp(fmt::format("unused{}", k), dtype, sizes);
}

void Op::bind_view(size_t k, const Tensor& base, Expr offset) {
  if (has_result(k)) low_.bind_view(node_.results[k], base, offset);
}

Tensor Op::temp(std::string_view suffix, DType dtype, const Sizes& sizes) {
  return low_.make_temp(fmt::format("{}_{}", label(), suffix), dtype, sizes);
}

}  // namespace jumar::loop::lowering
