#include "loop/lower/kernels.h"

namespace jumar::loop::lowering {

Index broadcast_index(const Tensor& tensor, const Index& index) {
  CHECK(tensor.rank() <= index.size(), "a tensor of rank {} in a space of {}", tensor.rank(), index.size());
  return Index(index.end() - static_cast<int64_t>(tensor.rank()), index.end());
}

Val read(Body& b, const Tensor& tensor, const Index& index, DType type) {
  return b.to(b.load(tensor, broadcast_index(tensor, index)), type);
}

void pointwise(Op& op, const Tensor& out, const PointFunction& value) {
  op.low().kernel(op, [&](Body& b) {
    Index index = b.keep_all(out.sizes());
    b.begin_stage();
    b.store(out, index, value(b, index));
  });
}

void moved(Op& op, const Tensor& x, const Reindex& reindex) {
  pointwise(op, op.result(0), [&](Body& b, const Index& index) { return b.load(x, reindex(b.cx(), index)); });
}

Sizes common_sizes(const Tensor& a, const Tensor& b) {
  const Tensor& longer = a.rank() >= b.rank() ? a : b;
  const Tensor& shorter = a.rank() >= b.rank() ? b : a;
  Sizes out = longer.sizes();
  size_t shift = longer.rank() - shorter.rank();
  for (size_t k = 0; k < shorter.rank(); ++k) {
    if (out[shift + k].is_const(1)) out[shift + k] = shorter.size(k);
  }
  return out;
}

void fold_kernel(Op& op, const Fold& fold) {
  sym::Context& cx = op.low().cx();
  op.low().kernel(op, [&](Body& b) {
    Index kept, inner;
    for (size_t k = 0; k < fold.sizes.size(); ++k)
      kept.push_back(fold.folded[k] ? cx.constant(0) : b.keep(fold.sizes[k]));
    b.begin_stage();
    for (size_t k = 0; k < fold.sizes.size(); ++k)
      inner.push_back(fold.folded[k] ? b.inner(fold.sizes[k]) : kept[k]);
    std::vector<Val> folds = fold.fold(b, inner);
    b.begin_stage();
    fold.finish(b, kept, folds);
  });
}

Index without(const Index& index, const std::vector<bool>& folded, bool keep) {
  if (keep) return index;
  Index out;
  for (size_t k = 0; k < index.size(); ++k) {
    if (!folded[k]) out.push_back(index[k]);
  }
  return out;
}

Sizes kept_sizes(sym::Context& cx, const Sizes& sizes, const std::vector<bool>& folded) {
  Sizes out = sizes;
  for (size_t k = 0; k < sizes.size(); ++k) {
    if (folded[k]) out[k] = cx.constant(1);
  }
  return out;
}

Expr fold_count(sym::Context& cx, const Sizes& sizes, const std::vector<bool>& folded) {
  Expr count = cx.constant(1);
  for (size_t k = 0; k < sizes.size(); ++k) {
    if (folded[k]) count = cx.mul(count, sizes[k]);
  }
  return count;
}

Val real_of(Body& b, Expr expr, DType type) { return b.scalar(Scalar{expr}, type); }

DType scalar_type(const Scalar& value, const Tensor& out) {
  if (!ir::is_low_precision(out.dtype())) return out.dtype();
  return value.is_integer() ? DType::kI64 : DType::kF32;
}

namespace {

// Mixtures that are lowered: real types, and neither unsigned integers above 8 bits among integers nor 8-bit
// floats among floats.
std::optional<DType> promoted_if_lowered(DType a, DType b) {
  if (a == b) return a;
  const auto either = [&](auto is) { return is(a) || is(b); };
  if (either(ir::is_complex)) return std::nullopt;
  const bool floats = ir::is_float(a) && ir::is_float(b), integers = ir::is_integer(a) && ir::is_integer(b);
  if (floats && either([](DType d) { return ir::dtype_bytes(d) == 1; })) return std::nullopt;
  if (integers && either([](DType d) { return ir::is_unsigned(d) && d != DType::kU8; })) return std::nullopt;
  return ir::promoted(a, b);
}

// How a category of lower priority joins one of higher priority: only with a higher kind of number.
std::optional<DType> joined(std::optional<DType> higher, std::optional<DType> lower) {
  if (!higher || !lower) return higher ? higher : lower;
  if (ir::is_float(*higher)) return higher;
  if (ir::is_bool(*higher) || ir::is_float(*lower)) return promoted_if_lowered(*higher, *lower);
  return higher;
}

}  // namespace

void Promotion::combine(std::optional<DType>& category, DType type) {
  if (!category) {
    category = type;
    return;
  }
  category = promoted_if_lowered(*category, type);
  if (!category) refused_ = true;
}

void Promotion::add(const Tensor& tensor) {
  combine(tensor.rank() == 0 ? zero_dims_ : dims_, tensor.dtype());
}

void Promotion::add(const Scalar& scalar) {
  combine(scalars_, scalar.is_bool() ? DType::kBool : scalar.is_integer() ? DType::kI64 : DType::kF32);
}

std::optional<DType> Promotion::type() const {
  if (refused_) return std::nullopt;
  return joined(dims_, joined(zero_dims_, scalars_));
}

}  // namespace jumar::loop::lowering
