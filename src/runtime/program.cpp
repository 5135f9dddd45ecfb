#include "runtime/program.h"

#include <algorithm>
#include <limits>

#include "support/check.h"

namespace jumar::runtime {

using sym::Expr;
using sym::Op;

Slot Program::fresh(Expr e, uint32_t stage, int64_t value) {
  stages_of_.push_back(stage);
  exprs_.push_back(e);
  initial_.push_back(value);
  return static_cast<Slot>(initial_.size() - 1);
}

uint32_t Program::begin_stage(const std::vector<Expr>& symbols) {
  code_.emplace_back();
  uint32_t stage = static_cast<uint32_t>(code_.size() - 1);
  for (Expr symbol : symbols) {
    CHECK(!slots_.contains(symbol), "symbol {} is made known twice", sym::text(symbol));
    slots_[symbol] = fresh(symbol, stage, 0);
  }
  return stage;
}

Slot Program::slot(Expr e) {
  auto found = slots_.find(e);
  if (found != slots_.end()) return found->second;
  CHECK(!e.is_symbol(), "symbol {} is not known yet", sym::text(e));
  if (e.is_const()) return slots_[e] = fresh(e, 0, e.const_value());
  // An n-ary operator becomes a chain of binary ones; only the last has the expression's register.
  std::span<const Expr> operands = e.operands();
  Slot left = slot(operands[0]);
  Slot result = left;
  size_t count = std::max<size_t>(operands.size(), 2);
  for (size_t k = 1; k < count; ++k) {
    Slot right = operands.size() > 1 ? slot(operands[k]) : left;
    uint32_t stage = std::max(stages_of_[left], stages_of_[right]);
    result = fresh(e, stage, 0);
    code_[stage].push_back({e.op(), result, left, right});
    left = result;
  }
  return slots_[e] = result;
}

bool Program::compute(const Code& code, int64_t a, int64_t b, int64_t& out) {
  switch (code.op) {
    case Op::kAdd:
      return !__builtin_add_overflow(a, b, &out);
    case Op::kMul:
      return !__builtin_mul_overflow(a, b, &out);
    case Op::kFloorDiv:
    case Op::kMod: {
      if (b == 0 || (a == std::numeric_limits<int64_t>::min() && b == -1)) return false;
      int64_t quotient = a / b;
      int64_t rest = a % b;
      if (rest != 0 && (rest < 0) != (b < 0)) {
        --quotient;
        rest += b;
      }
      out = code.op == Op::kFloorDiv ? quotient : rest;
      return true;
    }
    case Op::kMin:
      out = std::min(a, b);
      return true;
    case Op::kMax:
      out = std::max(a, b);
      return true;
    case Op::kEq:
      out = a == b;
      return true;
    case Op::kNe:
      out = a != b;
      return true;
    case Op::kLt:
      out = a < b;
      return true;
    case Op::kLe:
      out = a <= b;
      return true;
    case Op::kAnd:
      out = a != 0 && b != 0;
      return true;
    case Op::kOr:
      out = a != 0 || b != 0;
      return true;
    case Op::kNot:
      out = a == 0;
      return true;
    case Op::kConst:
    case Op::kSymbol:
      break;
  }
  CHECK(false, "op {} in code", static_cast<int>(code.op));
}

bool Program::run(uint32_t stage, std::vector<int64_t>& values, Slot& failed) const {
  for (const Code& code : code_[stage]) {
    if (!compute(code, values[code.a], values[code.b], values[code.result])) {
      failed = code.result;
      return false;
    }
  }
  return true;
}

}  // namespace jumar::runtime
