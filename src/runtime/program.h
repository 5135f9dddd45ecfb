// Integer expressions of a plan, compiled to register code.
//
//   Program program;
//   program.begin_stage({s0});                 // stage 1: s0 gets known
//   Slot bytes = program.slot(4*s0 + 64);      // a register; its code belongs to stage 1
//   std::vector<int64_t> values = program.initial_values();
//   values[program.slot(s0)] = 7;
//   program.run(1, values)                     // values[bytes] == 92
//
// Every expression has one register. Constants are filled in once; an expression is computed by the code of
// the latest stage that makes one of its symbols known. So what is static costs nothing per call, and what
// depends on an operator's result is computed when that is known. Stages are run in order, stage 0 (operators
// of constants that were not folded) first.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "sym/expr.h"

namespace jumar::runtime {

using Slot = uint32_t;

class Program {
 public:
  // Starts the next stage, from 1 on, in which these symbols become known; their registers are set by the
  // caller.
  uint32_t begin_stage(const std::vector<sym::Expr>& symbols);
  // The register of an expression whose symbols are known by the latest stage begun.
  Slot slot(sym::Expr e);
  // The same for an expression that has a register already.
  Slot known_slot(sym::Expr e) const { return slots_.at(e); }
  // The stage that computes the register; 0 for constants.
  uint32_t stage(Slot slot) const { return stages_of_[slot]; }

  std::vector<int64_t> initial_values() const { return initial_; }

  // Computes the registers of a stage. False when a value leaves 64 bits or a divisor is 0: `failed` is then
  // the register that has no value.
  bool run(uint32_t stage, std::vector<int64_t>& values, Slot& failed) const;
  // The expression of a register.
  sym::Expr expr(Slot slot) const { return exprs_[slot]; }

 private:
  struct Code {
    sym::Op op;
    Slot result;
    Slot a;
    Slot b;
  };
  Slot fresh(sym::Expr e, uint32_t stage, int64_t value);
  static bool compute(const Code& code, int64_t a, int64_t b, int64_t& out);

  std::unordered_map<sym::Expr, Slot> slots_;
  std::vector<uint32_t> stages_of_;
  std::vector<sym::Expr> exprs_;
  std::vector<int64_t> initial_;
  std::vector<std::vector<Code>> code_ = std::vector<std::vector<Code>>(1);  // by stage
};

}  // namespace jumar::runtime
