// Index expressions as LLVM values.
//
//   256*i0 + i1, where i1 runs in the 8 lanes   ->   splat(256*i0 + i1) + <0, 1, ..., 7>
//
// Scope holds what expressions mean at the point of insertion: the values of axes, sizes and loaded integers,
// and which axis runs in the lanes. Everything is 64 bits wide. An expression that does not depend on the
// lane gives a scalar, any other a vector.
//
// Sums are built from what changes least to what changes most, by depth of loops, so that LLVM's
// loop-invariant code motion finds every part that can leave a loop.
#pragma once

#include <unordered_map>
#include <vector>

#include "emit/cpu/builder.h"
#include "loop/loop.h"

namespace jumar::emit::cpu {

// Lane k of a vector holds the point `base` + k of `axis`. Lanes where the mask is false do not exist.
struct Lanes {
  sym::Expr axis;
  unsigned width = 1;
  Value* base = nullptr;
  Value* mask = nullptr;  // nothing: all lanes exist
  bool aligned = false;   // `base` is a multiple of `width`
};

struct Scope {
  struct Binding {
    Value* value = nullptr;
    unsigned depth = 0;  // loops around the definition
  };
  std::unordered_map<sym::Expr, Binding> bindings;  // of axes (but the lanes' one), sizes and loaded integers
  Lanes lanes;
  // Bounds of the lanes' axis here: between cuts a predicate in `decided` has the value that it has at `low`.
  Value* low = nullptr;
  uint32_t named = 0;  // quotients that have been given a name
};

class IndexEmitter {
 public:
  IndexEmitter(Builder& b, sym::Context& cx, const sym::Facts& facts, Scope& scope)
      : b_(b), cx_(cx), facts_(facts), scope_(scope) {}

  // i64 or a vector of it.
  Value* value(sym::Expr e);
  // i1 or a vector of it.
  Value* predicate(sym::Expr e);

  // The same value, with quotients that all lanes agree on computed once and named.
  sym::Expr with_common_quotients(sym::Expr e);

  // Whether the value differs between lanes.
  bool varies(sym::Expr e) const;
  // Loops around the innermost definition that `e` needs.
  unsigned depth(sym::Expr e) const;

 private:
  bool varies_beside_axis(sym::Expr e) const;
  Value* symbol(sym::Expr e);
  Value* sum(sym::Expr e);
  Value* product(sym::Expr e);
  Value* division(sym::Expr e);
  Value* divided(Value* a, Value* b, sym::Expr e);
  Value* lane_divided(Value* a, Value* b, sym::Expr e);
  Value* multiplied_quotient(Value* a, sym::Expr e);
  Value* affine_divided(sym::Expr e);
  Value* extreme(sym::Expr e);
  Value* compared(sym::Expr e);
  Value* logical(sym::Expr e);
  // Operands from what changes least to what changes most, scalars before vectors.
  std::vector<sym::Expr> ordered(std::span<const sym::Expr> operands) const;

  Builder& b_;
  sym::Context& cx_;
  const sym::Facts& facts_;
  Scope& scope_;
};

}  // namespace jumar::emit::cpu
