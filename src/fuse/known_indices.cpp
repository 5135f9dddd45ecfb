#include "fuse/known_indices.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "fuse/rewrite.h"

namespace jumar::fuse {

using loop::InstKind;
using loop::ScalarOp;
using loop::ValueId;

namespace {

bool is_counted(ir::DType type) { return ir::is_integer(type) && !ir::is_bool(type); }

class Indices {
 public:
  Indices(loop::Program& program, loop::Nest& nest) : program_(program), cx_(program.cx()), nest_(nest) {}

  bool run() {
    for (uint32_t s = 0; s < nest_.stages.size(); ++s) {
      loop::Stage& stage = nest_.stages[s];
      facts_ = stage_facts(program_, nest_, s);
      std::erase_if(stage.body, [&](loop::Stage::Line& line) { return is_written_out(line); });
    }
    replace_uses(cx_, nest_, replacements_);
    return !replacements_.empty();
  }

 private:
  // Whether the line is a check that is not needed.
  bool is_written_out(loop::Stage::Line& line) {
    loop::Inst& inst = line.inst;
    rewrite(inst.address);
    rewrite(inst.guard);
    if (inst.kind == InstKind::kWrapIndex || inst.kind == InstKind::kCheckIndex) {
      const Expr index = known(inst.operands[0]);
      if (!index || !proves_le(cx_, cx_.constant(0), index, facts_) ||
          !proves_lt(cx_, index, inst.address, facts_))
        return false;
      written_out_[cx_.value(line.result.index())] = index;
      replacements_[line.result] = inst.operands[0];
      known_[line.result] = index;
      return true;
    }
    if (line.result && is_counted(inst.type)) note(line.result, inst);
    return false;
  }

  void rewrite(Expr& e) const {
    if (!e || written_out_.empty() || !sym::mentions_kind(e, sym::SymbolKind::kValue)) return;
    const Expr written = cx_.substituted(e, [&](Expr symbol) {
      const auto found = written_out_.find(symbol);
      return found == written_out_.end() ? Expr() : found->second;
    });
    if (written != e) e = sym::simplified(cx_, written, facts_);
  }

  // Empty: not known.
  Expr known(ValueId value) const {
    const auto found = known_.find(value);
    return found == known_.end() ? Expr() : found->second;
  }

  // A number that its type holds, so that arithmetic on it is that of numbers.
  void note(ValueId value, const loop::Inst& inst) {
    const Expr e = value_of(inst);
    if (!e || sym::mentions_kind(e, sym::SymbolKind::kValue)) return;
    const sym::Range range = sym::bounds(e, facts_);
    const int64_t most = ir::dtype_bytes(inst.type) == 8 ? std::numeric_limits<int64_t>::max() - 1
                                                         : std::numeric_limits<int32_t>::max();
    if (ir::dtype_bytes(inst.type) >= 4 && range.lo >= -most && range.hi <= most) known_[value] = e;
  }

  Expr value_of(const loop::Inst& inst) const {
    if (inst.kind == InstKind::kIndex) return inst.address;
    if (inst.kind == InstKind::kConst) return cx_.constant(inst.constant.integer);
    if (inst.kind != InstKind::kOp) return {};
    const Expr a = known(inst.operands[0]);
    if (!a) return {};
    if (inst.op == ScalarOp::kCast) return a;
    const Expr b = inst.operands[1] ? known(inst.operands[1]) : Expr();
    if (!b) return {};
    switch (inst.op) {
      case ScalarOp::kAdd:
        return cx_.add(a, b);
      case ScalarOp::kSub:
        return cx_.sub(a, b);
      case ScalarOp::kMul:
        return cx_.mul(a, b);
      default:
        return {};
    }
  }

  loop::Program& program_;
  sym::Context& cx_;
  loop::Nest& nest_;
  sym::Facts facts_;
  std::unordered_map<ValueId, Expr> known_;
  std::unordered_map<Expr, Expr> written_out_;
  std::unordered_map<ValueId, ValueId> replacements_;
};

}  // namespace

bool write_out_indices(loop::Program& program, loop::Nest& nest) { return Indices(program, nest).run(); }

}  // namespace jumar::fuse
