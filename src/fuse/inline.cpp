#include "fuse/inline.h"

#include "fuse/merge_common.h"

namespace jumar::fuse {

using loop::InstKind;
using loop::ScalarOp;

namespace {

int op_weight(ScalarOp op) {
  switch (op) {
    case ScalarOp::kDiv:
    case ScalarOp::kTruncDiv:
    case ScalarOp::kFloorDiv:
    case ScalarOp::kFmod:
    case ScalarOp::kRemainder:
    case ScalarOp::kReciprocal:
      return 4;
    default:
      return op >= ScalarOp::kSqrt ? 10 : 1;
  }
}

// What a guard says about single axes: bounds by constants.
void learn_from_guard(Expr guard, sym::Facts& facts) {
  if (!guard) return;
  if (guard.op() == sym::Op::kAnd) {
    for (Expr part : guard.operands()) learn_from_guard(part, facts);
    return;
  }
  if (guard.op() != sym::Op::kLe && guard.op() != sym::Op::kLt) return;
  Expr low = guard.operands()[0];
  Expr high = guard.operands()[1];
  int64_t strict = guard.op() == sym::Op::kLt ? 1 : 0;
  if (low.is_const() && high.is_symbol())
    facts.set_range(high, {low.const_value() + strict, sym::Range::kMax});
  if (high.is_const() && low.is_symbol())
    facts.set_range(low, {sym::Range::kMin, high.const_value() - strict});
}

class Inliner {
 public:
  Inliner(MergeContext& context, const loop::Nest& producer, loop::BufferId buffer, loop::Nest consumer)
      : context_(context),
        cx_(context.program.cx()),
        producer_(producer),
        buffer_(buffer),
        consumer_(std::move(consumer)) {}

  std::string run() {
    std::map<loop::BufferId, std::optional<StoreSite>> stores = plain_stores(context_, producer_);
    auto site = stores.find(buffer_);
    if (site == stores.end() || !site->second) return "the producer's stores are guarded or accumulate";
    store_ = producer_.stages[0].body[site->second->line].inst;
    producer_facts_ = nest_facts(context_.program, producer_);
    for (uint32_t s = 0; s < consumer_.stages.size(); ++s) {
      loop::Stage& stage = consumer_.stages[s];
      facts_ = stage_facts(context_.program, consumer_, s);
      std::vector<loop::Stage::Line> body;
      for (const loop::Stage::Line& line : stage.body) {
        if (line.inst.kind != InstKind::kLoad || line.inst.buffer != buffer_) {
          body.push_back(line);
          continue;
        }
        if (std::string failure = expand(line, body); !failure.empty()) return failure;
      }
      stage.body = std::move(body);
    }
    replace_uses(cx_, consumer_, replacements_);
    return "";
  }

  loop::Nest take() { return std::move(consumer_); }

 private:
  std::string expand(const loop::Stage::Line& load, std::vector<loop::Stage::Line>& body) {
    sym::Facts facts = facts_;
    learn_from_guard(load.inst.guard, facts);
    PointMap map = point_at(cx_, store_.address, producer_.kept, producer_facts_, load.inst.address, facts);
    if (!map.failure.empty()) return map.failure;
    LineCopier copier(cx_, consumer_, map.axes, facts);
    for (const loop::Stage::Line& line : producer_.stages[0].body) {
      if (line.inst.kind == InstKind::kStore) continue;
      loop::Stage::Line copy = copier.copied(line);
      if (load.inst.guard && copy.inst.kind == InstKind::kLoad) {
        copy.inst.guard =
            copy.inst.guard ? cx_.logical_and(load.inst.guard, copy.inst.guard) : load.inst.guard;
        if (copy.inst.guard == load.inst.guard) copy.inst.constant = loop::Constant{0};
      }
      body.push_back(copy);
    }
    loop::ValueId value = copier.mapped(store_.operands[0]);
    if (load.inst.guard) value = guarded(load.inst, value, body);
    replacements_[load.result] = value;
    return "";
  }

  // select(guard, value, constant)
  loop::ValueId guarded(const loop::Inst& load, loop::ValueId value, std::vector<loop::Stage::Line>& body) {
    auto append = [&](loop::Inst inst) {
      loop::ValueId id(consumer_.value_count++);
      body.push_back({id, inst});
      return id;
    };
    loop::Inst condition;
    condition.kind = InstKind::kIndex;
    condition.type = ir::DType::kBool;
    condition.address = load.guard;
    loop::Inst other;
    other.kind = InstKind::kConst;
    other.type = load.type;
    other.constant = load.constant;
    loop::Inst choice;
    choice.kind = InstKind::kOp;
    choice.op = ScalarOp::kSelect;
    choice.type = load.type;
    choice.operands[0] = append(condition);
    choice.operands[1] = value;
    choice.operands[2] = append(other);
    return append(choice);
  }

  MergeContext& context_;
  sym::Context& cx_;
  const loop::Nest& producer_;
  loop::BufferId buffer_;
  loop::Nest consumer_;
  loop::Inst store_;
  sym::Facts facts_;
  sym::Facts producer_facts_;
  std::unordered_map<loop::ValueId, loop::ValueId> replacements_;
};

}  // namespace

int body_weight(const loop::Nest& nest) {
  int weight = 0;
  for (const loop::Stage& stage : nest.stages) {
    for (const loop::Stage::Line& line : stage.body) {
      const loop::Inst& inst = line.inst;
      if (inst.kind == InstKind::kOp) weight += op_weight(inst.op);
      if (inst.kind == InstKind::kLoad)
        weight += sym::mentions_kind(inst.address, sym::SymbolKind::kValue) ? 6 : 2;
      if (inst.kind == InstKind::kWrapIndex) weight += 4;
      if (inst.kind == InstKind::kIndex) weight += 1;
    }
  }
  return weight;
}

std::string inline_producer(MergeContext& context, const loop::Nest& producer, loop::BufferId buffer,
                            loop::Nest& consumer) {
  loop::Nest apart = producer;
  rename_axes_apart(context.program.cx(), apart, context.axis_counter);
  Inliner inliner(context, apart, buffer, consumer);
  std::string failure = inliner.run();
  if (failure.empty()) consumer = inliner.take();
  return failure;
}

}  // namespace jumar::fuse
