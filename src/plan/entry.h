// What a call knows before its first step: the symbols that int inputs, binds of sizes and strides of
// inputs, and binds of a device's cores give, in an order in which they can be computed.
//
//   %n: int(2*s0) = input 0          ->  s0 = (input 0 - 0) / 2
//   bind s0 + s1 = size(%x, 1)       ->  s1 = size 1 of %x - s0
//
// These read no tensor memory, so they run before inputs are checked against their types. Where the division
// has a rest, the check that follows fails, because the expression then differs from the number it was solved
// from.
#pragma once

#include <vector>

#include "plan/plan.h"

namespace jumar::plan {

struct EntryBinding {
  enum class Source : uint8_t { kInt, kSize, kStride, kCubeCores, kVectorCores } source = Source::kInt;
  uint32_t input = 0;  // position among the call's inputs; not of cores
  uint32_t dim = 0;    // of kSize and kStride
  TensorId tensor;     // of kSize and kStride
  sym::Expr expr;      // what the number there must equal
  // symbol = (number - rest) // coefficient, of symbols bound by earlier rows. No symbol: only a check.
  sym::Expr symbol;
  sym::Expr coefficient;
  sym::Expr rest;

  bool of_cores() const { return source >= Source::kCubeCores; }
};

// "input 2", "size(%x, 0)", "cores(vector)".
std::string place_text(const Plan& plan, const EntryBinding& binding);

bool is_entry_bind(const Plan& plan, const BindStep& bind);

// A diagnostic when a binding can't be solved or needs a symbol that nothing binds.
Result<std::vector<EntryBinding>> entry_bindings(const Plan& plan);

}  // namespace jumar::plan
