#include <algorithm>

#include "import/decomposer.h"

namespace jumar::import {

Call::Call(Decomposer& owner, const graph::Node& node) : owner_(owner), node_(node) {
  name_ = node.results.empty() ? "value" : owner.graph().values[node.results[0]].name;
}

bool Call::is_tensor(size_t k) const {
  const auto* value = arg(k).as<ValueId>();
  return value != nullptr && owner_.graph().values[*value].kind == ValueKind::kTensor;
}

ValueId Call::tensor(size_t k) const {
  CHECK(is_tensor(k), "argument {} of {} is no tensor", k, node_.op);
  return *arg(k).as<ValueId>();
}

std::optional<Expr> Call::size(size_t k) const {
  const auto* e = arg(k).as<Expr>();
  return e == nullptr ? std::nullopt : std::optional<Expr>(*e);
}

std::optional<int64_t> Call::constant(size_t k) const {
  const auto* e = arg(k).as<Expr>();
  return e == nullptr ? std::nullopt : e->as_const();
}

std::optional<Sizes> Call::sizes(size_t k) const {
  const ArgList* list = arg(k).list();
  if (list == nullptr) return std::nullopt;
  Sizes out;
  for (const Arg& item : *list) {
    const auto* e = item.as<Expr>();
    if (e == nullptr) return std::nullopt;
    out.push_back(*e);
  }
  return out;
}

std::optional<std::vector<int64_t>> Call::constants(size_t k) const {
  const std::optional<Sizes> all = sizes(k);
  if (!all) return std::nullopt;
  std::vector<int64_t> out;
  for (const Expr e : *all) {
    if (!e.is_const()) return std::nullopt;
    out.push_back(e.const_value());
  }
  return out;
}

std::optional<bool> Call::flag(size_t k) const {
  const auto* value = arg(k).as<bool>();
  return value == nullptr ? std::nullopt : std::optional<bool>(*value);
}

std::optional<double> Call::number(size_t k) const {
  if (const auto* value = arg(k).as<double>()) return *value;
  if (const std::optional<int64_t> value = constant(k)) return static_cast<double>(*value);
  return std::nullopt;
}

std::string Call::word(size_t k) const {
  if (const auto* value = arg(k).as<ir::WordArg>()) return value->word;
  if (const auto* value = arg(k).as<std::string>()) return *value;
  return "";
}

std::optional<size_t> Call::dim(size_t k, size_t rank) const {
  const std::optional<int64_t> value = constant(k);
  const auto count = static_cast<int64_t>(std::max<size_t>(rank, 1));
  if (!value || *value < -count || *value >= count) return std::nullopt;
  return static_cast<size_t>(*value < 0 ? *value + count : *value);
}

ValueId Call::op(const std::string& name, ArgList args, TensorType type) {
  return ops(name, std::move(args), {std::move(type)})[0];
}

std::vector<ValueId> Call::ops(const std::string& name, ArgList args, std::vector<TensorType> types) {
  const size_t begin = name.find('.') + 1;
  const std::string value_name =
      fmt::format("{}_{}", name_, name.substr(begin, name.find('.', begin) - begin));
  return owner_.append(name, std::move(args), std::move(types), value_name, node_.origin);
}

ValueId Call::elements(const std::string& name, ArgList args, std::optional<DType> dtype) {
  Sizes sizes;
  for (const Arg& arg : args) {
    const auto* value = arg.as<ValueId>();
    if (value == nullptr || owner_.graph().values[*value].kind != ValueKind::kTensor) continue;
    const std::optional<Sizes> both = shapes().broadcast(sizes, type(*value).sizes);
    if (!both) return {};
    sizes = *both;
  }
  const DType result = dtype ? *dtype : result_dtype(owner_.graph(), args);
  return op(name, std::move(args), shapes().contiguous(result, std::move(sizes)));
}

ValueId Call::transposed(ValueId x, size_t a, size_t b) {
  std::vector<size_t> dims(rank(x));
  for (size_t k = 0; k < dims.size(); ++k) dims[k] = k;
  std::swap(dims[a], dims[b]);
  TensorType out = shapes().permuted(type(x), dims);
  if (rank(x) == 2) return op("aten.t.default", {Arg(x)}, std::move(out));
  return op("aten.transpose.int",
            {Arg(x), integer(static_cast<int64_t>(a)), integer(static_cast<int64_t>(b))}, std::move(out));
}

ValueId Call::permuted(ValueId x, const std::vector<size_t>& dims) {
  ArgList list;
  for (const size_t dim : dims) list.push_back(integer(static_cast<int64_t>(dim)));
  TensorType out = shapes().permuted(type(x), dims);
  return op("aten.permute.default", {Arg(x), Arg(std::move(list))}, std::move(out));
}

ValueId Call::expanded(ValueId x, const Sizes& sizes) {
  if (shapes().equal(type(x).sizes, sizes)) return x;
  return op("aten.expand.default", {Arg(x), sizes_arg(sizes)}, shapes().expanded(type(x), sizes));
}

ValueId Call::unsqueezed(ValueId x, size_t dim) {
  return op("aten.unsqueeze.default", {Arg(x), integer(static_cast<int64_t>(dim))},
            shapes().unsqueezed(type(x), dim));
}

ValueId Call::squeezed(ValueId x, size_t dim) {
  return op("aten.squeeze.dim", {Arg(x), integer(static_cast<int64_t>(dim))}, shapes().without(type(x), dim));
}

ValueId Call::reshaped(ValueId x, const Sizes& sizes) {
  if (shapes().equal(type(x).sizes, sizes)) return x;
  if (std::optional<TensorType> out = shapes().viewed(type(x), sizes))
    return op("aten.view.default", {Arg(x), sizes_arg(sizes)}, std::move(*out));
  const ValueId copy = copied(x);
  return op("aten._unsafe_view.default", {Arg(copy), sizes_arg(sizes)},
            shapes().contiguous(type(x).dtype, sizes));
}

ValueId Call::copied(ValueId x) {
  return op("aten.clone.default", {Arg(x), Arg(ir::WordArg{ir::WordArg::Kind::kMemoryFormat, "contiguous"})},
            shapes().contiguous(type(x).dtype, type(x).sizes));
}

ValueId Call::converted(ValueId x, DType dtype) {
  if (type(x).dtype == dtype) return x;
  TensorType out = type(x);
  out.dtype = dtype;
  return op("aten._to_copy.default", {Arg(x), dtype_arg(dtype)}, std::move(out));
}

Arg Call::sizes_arg(const Sizes& sizes) const {
  ArgList out;
  for (const Expr e : sizes) out.emplace_back(e);
  return Arg(std::move(out));
}

Arg Call::ints(std::initializer_list<int64_t> values) const {
  ArgList out;
  for (const int64_t value : values) out.push_back(integer(value));
  return Arg(std::move(out));
}

Arg Call::dtype_arg(DType dtype) {
  return Arg(ir::WordArg{ir::WordArg::Kind::kDType, std::string(ir::dtype_name(dtype))});
}

}  // namespace jumar::import
