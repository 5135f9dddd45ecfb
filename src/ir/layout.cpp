#include "ir/layout.h"

#include <algorithm>

namespace jumar::ir {

using sym::Expr;

std::vector<Expr> contiguous_strides(sym::Context& cx, const std::vector<Expr>& sizes) {
  std::vector<Expr> strides(sizes.size());
  Expr stride = cx.constant(1);
  for (size_t k = sizes.size(); k-- > 0;) {
    strides[k] = stride;
    // A size that is a plain symbol is taken as it is: a symbolic stride that spelled out max(1, s) would
    // compare unequal to the one that capture prints, and an empty tensor has no element to address.
    if (sizes[k].is_const(0)) continue;
    stride = cx.mul(stride, sizes[k]);
  }
  return strides;
}

std::optional<std::vector<Expr>> viewed_strides(sym::Context& cx, const TensorType& type,
                                                const std::vector<Expr>& new_sizes) {
  // From the last dimension on, `block` is a run of old dimensions that lie one inside the other; the new
  // dimensions must fill each run exactly.
  std::vector<Expr> strides(new_sizes.size());
  size_t next = new_sizes.size();
  size_t old = type.rank();
  while (old > 0) {
    --old;
    if (type.sizes[old].is_const(1)) continue;
    Expr block = type.sizes[old];
    Expr unit = type.strides[old];
    Expr stride = unit;
    while (old > 0 && (type.sizes[old - 1].is_const(1) || type.strides[old - 1] == cx.mul(unit, block))) {
      --old;
      block = cx.mul(block, type.sizes[old]);
    }
    Expr filled = cx.constant(1);
    while (next > 0 && (filled != block || new_sizes[next - 1].is_const(1))) {
      --next;
      strides[next] = stride;
      filled = cx.mul(filled, new_sizes[next]);
      stride = cx.mul(stride, new_sizes[next]);
    }
    if (filled != block) return std::nullopt;
  }
  Expr outer = next < new_sizes.size() ? cx.mul(strides[next], new_sizes[next]) : cx.constant(1);
  while (next > 0) {
    if (!new_sizes[--next].is_const(1)) return std::nullopt;
    strides[next] = outer;
  }
  return strides;
}

std::vector<Expr> channels_last_strides(sym::Context& cx, const std::vector<Expr>& sizes) {
  CHECK(sizes.size() == 4, "channels last of rank {}", sizes.size());
  Expr row = cx.mul(sizes[3], sizes[1]);
  return {cx.mul(row, sizes[2]), cx.constant(1), row, sizes[1]};
}

bool is_contiguous(sym::Context& cx, const TensorType& type) {
  return type.strides == contiguous_strides(cx, type.sizes);
}

bool is_channels_last(sym::Context& cx, const TensorType& type) {
  return type.rank() == 4 && type.strides == channels_last_strides(cx, type.sizes);
}

bool is_static(const TensorType& type) {
  const auto is_const = [](Expr e) { return e.is_const(); };
  return std::all_of(type.sizes.begin(), type.sizes.end(), is_const) &&
         std::all_of(type.strides.begin(), type.strides.end(), is_const);
}

Expr element_count(sym::Context& cx, const std::vector<Expr>& sizes) {
  Expr count = cx.constant(1);
  for (Expr size : sizes) count = cx.mul(count, size);
  return count;
}

Expr storage_extent(sym::Context& cx, const TensorType& type) {
  Expr last = cx.constant(0);
  for (size_t k = 0; k < type.rank(); ++k) {
    if (type.sizes[k].is_const(0)) return cx.constant(0);
    last = cx.add(last, cx.mul(cx.sub(type.sizes[k], 1), type.strides[k]));
  }
  return cx.add(last, 1);
}

namespace {

std::string list_text(const std::vector<Expr>& exprs, char open, char close) {
  std::string out(1, open);
  for (size_t k = 0; k < exprs.size(); ++k) {
    if (k > 0) out += ", ";
    out += sym::text(exprs[k]);
  }
  return out + close;
}

Result<std::vector<Expr>> read_list(sym::Context& cx, Lexer& lexer, std::string_view open,
                                    std::string_view close,
                                    const std::function<Expr(std::string_view)>& resolve) {
  JUMAR_RETURN_IF_ERROR(lexer.expect_punct(open));
  std::vector<Expr> out;
  if (lexer.accept_punct(close)) return out;
  while (true) {
    JUMAR_ASSIGN(Expr e, sym::read_expr(cx, lexer, resolve));
    out.push_back(e);
    if (lexer.accept_punct(close)) return out;
    JUMAR_RETURN_IF_ERROR(lexer.expect_punct(","));
  }
}

}  // namespace

std::string text(sym::Context& cx, const TensorType& type) {
  std::string out(dtype_name(type.dtype));
  out += list_text(type.sizes, '[', ']');
  if (!is_contiguous(cx, type)) out += list_text(type.strides, '{', '}');
  return out;
}

Result<TensorType> read_tensor_type(sym::Context& cx, Lexer& lexer,
                                    const std::function<Expr(std::string_view)>& resolve) {
  TensorType type;
  std::optional<DType> dtype =
      dtype_from_name(lexer.peek().kind == TokenKind::kWord ? lexer.peek().text : "");
  if (!dtype) return lexer.expected("an element type such as f32");
  type.dtype = *dtype;
  lexer.next();
  JUMAR_ASSIGN(type.sizes, read_list(cx, lexer, "[", "]", resolve));
  if (!lexer.peek_punct("{")) {
    type.strides = contiguous_strides(cx, type.sizes);
    return type;
  }
  Token open = lexer.peek();
  JUMAR_ASSIGN(type.strides, read_list(cx, lexer, "{", "}", resolve));
  if (type.strides.size() != type.sizes.size())
    return lexer.error_at(open,
                          fmt::format("{} strides for {} sizes", type.strides.size(), type.sizes.size()));
  return type;
}

}  // namespace jumar::ir
