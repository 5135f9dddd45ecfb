#include "import/shape.h"

#include <algorithm>

namespace jumar::import {

using graph::Arg;
using graph::ValueId;
using graph::ValueKind;
using ir::DType;
using ir::TensorType;
using sym::Expr;

DType result_dtype(const graph::Graph& graph, const std::vector<Arg>& args) {
  std::optional<DType> dims, zero_dims, numbers;
  const auto join = [](std::optional<DType>& into, DType dtype) {
    into = into ? ir::promoted(*into, dtype) : dtype;
  };
  for (const Arg& arg : args) {
    if (const auto* id = arg.as<ValueId>()) {
      const graph::Value& value = graph.values[*id];
      if (value.kind == ValueKind::kTensor) {
        join(value.type.rank() > 0 ? dims : zero_dims, value.type.dtype);
      } else {
        join(numbers, value.kind == ValueKind::kFloat  ? DType::kF32
                      : value.kind == ValueKind::kBool ? DType::kBool
                                                       : DType::kI64);
      }
    } else if (arg.as<double>() != nullptr) {
      join(numbers, DType::kF32);
    } else if (arg.as<bool>() != nullptr) {
      join(numbers, DType::kBool);
    } else if (arg.as<Expr>() != nullptr) {
      join(numbers, DType::kI64);
    }
  }
  std::optional<DType> out = dims;
  for (const std::optional<DType>& weaker : {zero_dims, numbers}) {
    if (weaker && (!out || ir::dtype_category(*weaker) > ir::dtype_category(*out))) out = weaker;
  }
  return out.value_or(DType::kF32);
}

TensorType Shapes::contiguous(DType dtype, Sizes sizes) const {
  TensorType out;
  out.dtype = dtype;
  out.strides = ir::contiguous_strides(cx_, sizes);
  out.sizes = std::move(sizes);
  return out;
}

bool Shapes::equal(Expr a, Expr b) const { return a == b || sym::proves_eq(cx_, a, b, facts_); }

bool Shapes::equal(const Sizes& a, const Sizes& b) const {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [this](Expr x, Expr y) { return equal(x, y); });
}

std::optional<Sizes> Shapes::broadcast(const Sizes& a, const Sizes& b) const {
  const Sizes& longer = a.size() >= b.size() ? a : b;
  const Sizes& shorter = a.size() >= b.size() ? b : a;
  Sizes out = longer;
  const size_t shift = longer.size() - shorter.size();
  for (size_t k = 0; k < shorter.size(); ++k) {
    Expr& size = out[k + shift];
    if (shorter[k].is_const(1) || equal(size, shorter[k])) continue;
    if (!size.is_const(1)) return std::nullopt;
    size = shorter[k];
  }
  return out;
}

TensorType Shapes::permuted(const TensorType& type, const std::vector<size_t>& dims) const {
  TensorType out;
  out.dtype = type.dtype;
  for (const size_t dim : dims) {
    out.sizes.push_back(type.sizes[dim]);
    out.strides.push_back(type.strides[dim]);
  }
  return out;
}

TensorType Shapes::expanded(const TensorType& type, const Sizes& sizes) const {
  TensorType out;
  out.dtype = type.dtype;
  out.sizes = sizes;
  out.strides.assign(sizes.size(), cx_.constant(0));
  const size_t shift = sizes.size() - type.rank();
  for (size_t k = 0; k < type.rank(); ++k) {
    if (equal(type.sizes[k], sizes[k + shift])) out.strides[k + shift] = type.strides[k];
  }
  return out;
}

TensorType Shapes::unsqueezed(const TensorType& type, size_t dim) const {
  TensorType out = type;
  const auto at = static_cast<ptrdiff_t>(dim);
  const Expr stride = dim < type.rank() ? cx_.mul(type.sizes[dim], type.strides[dim]) : cx_.constant(1);
  out.sizes.insert(out.sizes.begin() + at, cx_.constant(1));
  out.strides.insert(out.strides.begin() + at, stride);
  return out;
}

TensorType Shapes::without(const TensorType& type, size_t dim) const {
  TensorType out = type;
  out.sizes.erase(out.sizes.begin() + static_cast<ptrdiff_t>(dim));
  out.strides.erase(out.strides.begin() + static_cast<ptrdiff_t>(dim));
  return out;
}

std::optional<TensorType> Shapes::viewed(const TensorType& type, const Sizes& sizes) const {
  if (is_contiguous(type)) return contiguous(type.dtype, sizes);
  std::optional<Sizes> strides = ir::viewed_strides(cx_, type, sizes);
  if (!strides) return std::nullopt;
  TensorType out;
  out.dtype = type.dtype;
  out.sizes = sizes;
  out.strides = std::move(*strides);
  return out;
}

bool Shapes::is_contiguous(const TensorType& type) const {
  return same_strides(type.sizes, type.strides, ir::contiguous_strides(cx_, type.sizes));
}

bool Shapes::is_channels_last(const TensorType& type) const {
  return type.rank() == 4 &&
         same_strides(type.sizes, type.strides, ir::channels_last_strides(cx_, type.sizes));
}

bool Shapes::same_layout(const TensorType& a, const TensorType& b) const {
  return a.dtype == b.dtype && equal(a.sizes, b.sizes) && same_strides(a.sizes, a.strides, b.strides);
}

bool Shapes::same_strides(const Sizes& sizes, const Sizes& a, const Sizes& b) const {
  for (const Expr size : sizes) {
    if (size.is_const(0)) return true;
  }
  for (size_t k = 0; k < sizes.size(); ++k) {
    if (!sizes[k].is_const(1) && !equal(a[k], b[k])) return false;
  }
  return true;
}

}  // namespace jumar::import
