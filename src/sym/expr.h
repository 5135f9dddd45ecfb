// Integer expressions over size symbols and loop axes: sizes, strides, addresses and guards of all three IRs.
//
//   Context cx;
//   Expr s0 = cx.symbol(SymbolKind::kSize, "s0"), i = cx.symbol(SymbolKind::kAxis, "i0");
//   Expr e = cx.add(cx.mul(s0, cx.constant(4)), i);        // prints as  i0 + 4*s0
//
// An Expr is an immutable interned node of one Context: equal means same handle, and `compare` is an order by
// structure, never by address, so that printed text does not vary from run to run. Constructors bring
// expressions into one canonical form (docs/sym.md): sums of products with like terms collected, products
// expanded over sums, constants folded, n-ary operators flattened and sorted. What needs ranges or extents
// (that (256*i0 + i1)//256 is i0) is done by `simplified` in sym/facts.h.
//
// Values are mathematical integers that callers promise to keep within 64 bits; `floordiv` rounds to minus
// infinity and `mod` has the divisor's sign, as in Python, so a == floordiv(a, b)*b + mod(a, b). Predicates
// are integers too: 0 or 1. Division by a constant zero is a broken invariant; `evaluate` of a division by a
// zero that is only found out with values is a diagnostic.
//
// A Context is used by one compilation, in one thread at a time. Exprs of two Contexts must not meet.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/lexer.h"
#include "support/result.h"

namespace jumar::sym {

enum class Op : uint8_t {
  kConst,
  kSymbol,
  kMul,       // n-ary product: a constant only first; the other factors are no sums and sorted
  kAdd,       // n-ary sum of products, sorted by their factors: a constant only first, printed last
  kFloorDiv,  // two operands
  kMod,       // two operands
  kMin,       // n-ary
  kMax,       // n-ary
  kEq,        // predicates: 0 or 1
  kNe,
  kLt,
  kLe,
  kAnd,  // n-ary
  kOr,   // n-ary
  kNot,
};

enum class SymbolKind : uint8_t {
  kSize,      // s0: a size known when a call begins
  kUnbacked,  // u0: a number that a called op defines
  kAxis,      // i0, r0: a loop axis, from 0 to its extent - 1
  kValue,     // %7: an integer computed by a loop body (an index read from a tensor)
};

// The size of an expression: rewriting never makes it larger (docs/sym.md). Compares lexicographically.
struct Measure {
  uint64_t weight = 0;  // sums add, products multiply, so that expanding a product changes nothing
  uint64_t bits = 0;    // of the constants, more when below divisions: breaks ties
  auto operator<=>(const Measure&) const = default;
};

struct Node;
struct NodeAccess;
class Context;

class Expr {
 public:
  Expr() = default;  // empty: no expression
  explicit operator bool() const { return node_ != nullptr; }
  bool operator==(const Expr&) const = default;

  Op op() const;
  bool is_const() const;
  bool is_const(int64_t value) const;
  std::optional<int64_t> as_const() const;
  bool is_symbol() const;
  bool is_symbol(SymbolKind kind) const;
  int64_t const_value() const;             // of a kConst
  SymbolKind symbol_kind() const;          // of a kSymbol
  const std::string& symbol_name() const;  // of a kSymbol
  std::span<const Expr> operands() const;
  uint64_t structural_hash() const;
  Measure measure() const;

 private:
  friend class Context;
  friend struct NodeAccess;
  explicit Expr(const Node* node) : node_(node) {}
  const Node* node_ = nullptr;
};

// Total order by structure; constants first, then symbols by kind (axes, values, unbacked, sizes) and natural
// name order (s2 before s10).
std::strong_ordering compare(Expr a, Expr b);

class Context {
 public:
  Context();
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  Expr constant(int64_t value);
  // The same kind and name give the same symbol. A name is one word of the text form ("s0"), or "%7" for
  // values.
  Expr symbol(SymbolKind kind, std::string_view name);
  Expr value(uint32_t index);  // symbol(kValue, "%<index>")

  Expr add(Expr a, Expr b);
  Expr add(std::span<const Expr> terms);
  Expr sub(Expr a, Expr b);
  Expr mul(Expr a, Expr b);
  Expr mul(std::span<const Expr> factors);
  Expr neg(Expr a);
  Expr floordiv(Expr a, Expr b);
  Expr ceildiv(Expr a, Expr b);  // -floordiv(-a, b)
  Expr mod(Expr a, Expr b);
  Expr min(Expr a, Expr b);
  Expr max(Expr a, Expr b);
  Expr eq(Expr a, Expr b);
  Expr ne(Expr a, Expr b);
  Expr lt(Expr a, Expr b);
  Expr le(Expr a, Expr b);
  Expr logical_and(Expr a, Expr b);
  Expr logical_or(Expr a, Expr b);
  Expr logical_not(Expr a);

  Expr add(Expr a, int64_t b) { return add(a, constant(b)); }
  Expr sub(Expr a, int64_t b) { return sub(a, constant(b)); }
  Expr mul(Expr a, int64_t b) { return mul(a, constant(b)); }
  Expr floordiv(Expr a, int64_t b) { return floordiv(a, constant(b)); }
  Expr mod(Expr a, int64_t b) { return mod(a, constant(b)); }

  // Rebuilds `e` with each symbol s replaced by map(s); an empty result keeps s.
  Expr substituted(Expr e, const std::function<Expr(Expr)>& map);
  // Builds an operator node from canonical operands, through the constructors above.
  Expr make(Op op, std::span<const Expr> operands);

  struct Impl;  // sym/node.h

 private:
  std::unique_ptr<Impl> impl_;
};

// The symbols of `e`, each once, in structural order.
std::vector<Expr> symbols_of(Expr e);
bool mentions(Expr e, Expr symbol);
bool mentions_kind(Expr e, SymbolKind kind);

// If e == coefficient*symbol + rest with neither mentioning `symbol`, both; otherwise nothing.
struct Linear {
  Expr coefficient;
  Expr rest;
};
std::optional<Linear> linear_in(Context& cx, Expr e, Expr symbol);

// The value of `e` where value_of gives each symbol's value (nothing: a diagnostic that names the symbol).
Result<int64_t> evaluate(Expr e, const std::function<std::optional<int64_t>(Expr)>& value_of);

// Text, with Python's precedence and spelling: `i0 + 4*s0`, `(i0 + 3)//4`, `i1 % 8`, `min(a, b)`,
// `i1 < 128 and i0 != s0`. `resolve` maps a word or "%7" to a symbol; an empty Expr is an error there.
std::string text(Expr e);
Result<Expr> read_expr(Context& cx, Lexer& lexer, const std::function<Expr(std::string_view)>& resolve);

}  // namespace jumar::sym

template <>
struct std::hash<jumar::sym::Expr> {
  size_t operator()(jumar::sym::Expr e) const noexcept { return e ? e.structural_hash() : 0; }
};
