// What is behind an Expr: for the files of src/sym only.
//
// A node is allocated once in its Context's arena and never changes. Besides its structure it carries what
// would otherwise be computed again and again: the structural hash, a filter of the symbols below it, and its
// size by the measure of docs/sym.md.
#pragma once

#include <cstdint>
#include <memory>
#include <memory_resource>
#include <string>
#include <vector>

#include "sym/expr.h"

namespace jumar::sym {

struct Node {
  Op op = Op::kConst;
  SymbolKind kind = SymbolKind::kSize;  // of a symbol
  uint8_t kinds = 0;                    // one bit for each kind of symbol below
  bool is_polynomial = true;            // sums and products of constants and symbols only
  bool overflows = false;               // holds constants that were left unfolded, as they leave 64 bits
  uint32_t count = 0;
  uint64_t hash = 0;
  uint64_t symbol_filter = 0;  // a symbol below has its bit set; a set bit may be another symbol's
  Measure measure;
  int64_t value = 0;  // of a constant; the running number of a symbol
  const Expr* operands = nullptr;
  const Node* monomial = nullptr;     // of a product: itself without its leading constant
  const std::string* name = nullptr;  // of a symbol
};

struct NodeAccess {
  static const Node* node(Expr e) { return e.node_; }
  static Expr expr(const Node* node) { return Expr(node); }
};

// coefficient * monomial; an empty monomial is 1.
struct Term {
  int64_t coefficient = 0;
  Expr monomial;
};

// `e` must not be a sum.
Term term_of(Expr e);

// The summands of a sum, or `e` itself; the span points into `e` or its node.
inline std::span<const Expr> summands(const Expr& e) {
  return e.op() == Op::kAdd ? e.operands() : std::span<const Expr>(&e, 1);
}

std::span<const Expr> summands(const Expr&& e) = delete;

// The factors of a monomial, in order; none for the empty one.
inline std::span<const Expr> factors(const Expr& monomial) {
  if (!monomial) return {};
  return monomial.op() == Op::kMul ? monomial.operands() : std::span<const Expr>(&monomial, 1);
}
std::span<const Expr> factors(const Expr&& monomial) = delete;

inline bool is_comparison(Op op) { return op >= Op::kEq && op <= Op::kLe; }
// Whether every value of `e` is 0 or 1 by its form.
bool is_predicate(Expr e);

inline int64_t floor_quotient(int64_t a, int64_t b) {
  int64_t quotient = a / b;
  return quotient - ((a % b != 0) && ((a < 0) != (b < 0)));
}
inline int64_t floor_remainder(int64_t a, int64_t b) {
  int64_t remainder = a % b;
  return remainder != 0 && ((remainder < 0) != (b < 0)) ? remainder + b : remainder;
}
inline bool fits_int64(__int128 value) { return value >= INT64_MIN && value <= INT64_MAX; }

struct Context::Impl {
  Impl();

  const Node* intern(Op op, std::span<const Expr> operands);
  const Node* intern_constant(int64_t value);
  const Node* intern_symbol(SymbolKind kind, std::string_view name);

  Expr constant(int64_t value) { return NodeAccess::expr(intern_constant(value)); }
  Expr node(Op op, std::span<const Expr> operands) { return NodeAccess::expr(intern(op, operands)); }
  Expr node(Op op, Expr a, Expr b);

  // The expression of one term, and of a sum of terms (which the call sorts and merges).
  Expr term(const Term& term);
  Expr sum(std::vector<Term>& terms);
  // Appends `scale` times the terms of `e`.
  void append(std::vector<Term>& terms, Expr e, int64_t scale);
  Term product(const Term& a, const Term& b);
  Expr monomial_product(Expr a, Expr b);
  // e / divisor where every coefficient is a multiple of it, else empty; divisor > 0.
  Expr exact_quotient(Expr e, int64_t divisor);
  // Comparison in canonical form, without the cheap cases.
  Expr comparison(Op op, Expr a, Expr b);

  // A cleared vector that keeps its memory from use to use; uses nest.
  class Scratch {
   public:
    explicit Scratch(Impl& impl);
    ~Scratch() { --impl_.scratch_depth; }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    std::vector<Term>& operator*() { return terms_; }
    std::vector<Term>* operator->() { return &terms_; }

   private:
    Impl& impl_;
    std::vector<Term>& terms_;
  };

  std::pmr::monotonic_buffer_resource arena;
  std::vector<const Node*> slots;  // open addressing; the size is a power of two
  size_t used = 0;
  int64_t symbol_count = 0;
  std::vector<std::unique_ptr<std::string>> names;
  std::vector<std::unique_ptr<std::vector<Term>>> scratch;
  size_t scratch_depth = 0;

 private:
  const Node** find_slot(uint64_t hash, Op op, std::span<const Expr> operands, int64_t value);
  Node* insert(const Node** slot, size_t operand_count);
  void grow();
};

}  // namespace jumar::sym
