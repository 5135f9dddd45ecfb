// Tensor types: element type, sizes and strides, both symbolic.
//
// `f32[s0, 256]` is contiguous; other strides follow in braces: `f32[s0, 256]{1, s0}`. Strides count
// elements. A rank of 0 prints as `f32[]`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/dtype.h"
#include "sym/expr.h"

namespace jumar::ir {

struct TensorType {
  DType dtype = DType::kF32;
  std::vector<sym::Expr> sizes;
  std::vector<sym::Expr> strides;

  size_t rank() const { return sizes.size(); }
  bool operator==(const TensorType&) const = default;
};

// Row-major strides as PyTorch makes them: the stride of dimension k is the product of max(1, size) of the
// dimensions after it.
std::vector<sym::Expr> contiguous_strides(sym::Context& cx, const std::vector<sym::Expr>& sizes);
// Strides with which the elements, in order, can be seen as `new_sizes` without moving them; nothing where
// that is impossible or not known.
std::optional<std::vector<sym::Expr>> viewed_strides(sym::Context& cx, const TensorType& type,
                                                     const std::vector<sym::Expr>& new_sizes);
// Strides of a rank-4 tensor [n, c, h, w] whose elements lie in the order n, h, w, c.
std::vector<sym::Expr> channels_last_strides(sym::Context& cx, const std::vector<sym::Expr>& sizes);
bool is_contiguous(sym::Context& cx, const TensorType& type);
bool is_channels_last(sym::Context& cx, const TensorType& type);
// Whether no size and no stride depends on a symbol.
bool is_static(const TensorType& type);
// Number of elements.
sym::Expr element_count(sym::Context& cx, const std::vector<sym::Expr>& sizes);
// Elements of storage from the first element to the last, 0 where a size is 0:
// 1 + sum of (size - 1)*stride; the caller takes care of empty tensors where sizes are symbolic.
sym::Expr storage_extent(sym::Context& cx, const TensorType& type);

std::string text(sym::Context& cx, const TensorType& type);
// Reads `f32[...]` with optional `{...}`.
Result<TensorType> read_tensor_type(sym::Context& cx, Lexer& lexer,
                                    const std::function<sym::Expr(std::string_view)>& resolve);

}  // namespace jumar::ir
