#include <charconv>

#include "loop/loop.h"
#include "loop/walk.h"

namespace jumar::loop {

sym::Facts Program::facts() const {
  sym::Facts facts;
  for (const SymbolInfo& info : symbols) facts.set_range(info.symbol, info.range);
  return facts;
}

size_t line_count(const Nest& nest) {
  size_t count = 0;
  for (const Stage& stage : nest.stages) count += stage.body.size();
  return count;
}

size_t line_count(const Kernel& kernel) {
  size_t count = 0;
  for (const Nest& nest : kernel.nests) count += line_count(nest);
  return count;
}

bool is_arg_reduce(ReduceKind kind) { return kind == ReduceKind::kArgMax || kind == ReduceKind::kArgMin; }

int operand_count(const Inst& inst) {
  switch (inst.kind) {
    case InstKind::kConst:
    case InstKind::kIndex:
    case InstKind::kParam:
    case InstKind::kLoad:
    case InstKind::kLoadLocal:
      return 0;
    case InstKind::kOp:
      return scalar_op_arity(inst.op);
    case InstKind::kReduce:
      return is_arg_reduce(inst.reduce) ? 2 : 1;
    case InstKind::kStore:
    case InstKind::kStoreLocal:
    case InstKind::kScan:
    case InstKind::kWrapIndex:
    case InstKind::kCheckIndex:
      return 1;
  }
  return 0;
}

ValueId value_of_symbol(sym::Expr symbol) {
  const std::string& name = symbol.symbol_name();
  uint32_t index = 0;
  auto [end, error] = std::from_chars(name.data() + 1, name.data() + name.size(), index);
  CHECK(name[0] == '%' && error == std::errc() && end == name.data() + name.size(), "value symbol '{}'",
        name);
  return ValueId(index);
}

namespace {

class Tidier {
 public:
  Tidier(sym::Context& cx, Nest& nest)
      : cx_(cx), nest_(nest), live_values_(nest.value_count), live_locals_(nest.locals.size()) {}

  void run() {
    while (mark()) {
    }
    drop_lines();
    drop_stages();
    drop_locals();
    renumber();
  }

 private:
  // What has an effect: stores, index checks, and stores to a local that a live load reads.
  bool is_live(const Stage::Line& line) const {
    switch (line.inst.kind) {
      case InstKind::kStore:
      case InstKind::kWrapIndex:
      case InstKind::kCheckIndex:
        return true;
      case InstKind::kStoreLocal:
        return live_locals_[line.inst.local];
      default:
        return live_values_[line.result.index()];
    }
  }

  // One sweep from the last line to the first; true if it found something new. A second one is needed only
  // where a local is loaded before it is stored in the order of lines.
  bool mark() {
    bool changed = false;
    auto set = [&](std::vector<bool>& live, size_t index) {
      changed |= !live[index];
      live[index] = true;
    };
    for (size_t s = nest_.stages.size(); s-- > 0;) {
      const std::vector<Stage::Line>& body = nest_.stages[s].body;
      for (size_t k = body.size(); k-- > 0;) {
        if (!is_live(body[k])) continue;
        for_each_use(body[k].inst, [&](ValueId value) { set(live_values_, value.index()); });
        if (body[k].inst.kind == InstKind::kLoadLocal) set(live_locals_, body[k].inst.local);
      }
    }
    return changed;
  }

  void drop_lines() {
    for (Stage& stage : nest_.stages)
      std::erase_if(stage.body, [&](const Stage::Line& line) { return !is_live(line); });
  }

  void drop_stages() {
    bool has_stage_tilings = nest_.tiling && nest_.tiling->stages.size() == nest_.stages.size();
    for (size_t s = nest_.stages.size(); s-- > 0;) {
      if (!nest_.stages[s].body.empty()) continue;
      nest_.stages.erase(nest_.stages.begin() + s);
      if (has_stage_tilings) nest_.tiling->stages.erase(nest_.tiling->stages.begin() + s);
    }
  }

  void drop_locals() {
    std::vector<uint32_t> moved(nest_.locals.size());
    std::vector<Local> kept;
    for (size_t k = 0; k < nest_.locals.size(); ++k) {
      moved[k] = static_cast<uint32_t>(kept.size());
      if (live_locals_[k]) kept.push_back(nest_.locals[k]);
    }
    nest_.locals = std::move(kept);
    for (Stage& stage : nest_.stages)
      for (Stage::Line& line : stage.body)
        if (line.inst.kind == InstKind::kLoadLocal || line.inst.kind == InstKind::kStoreLocal)
          line.inst.local = moved[line.inst.local];
  }

  void renumber() {
    std::vector<uint32_t> renamed(nest_.value_count);
    uint32_t next = 0;
    bool changed = false;
    for (Stage& stage : nest_.stages) {
      for (Stage::Line& line : stage.body) {
        if (!line.inst.defines_value()) continue;
        changed |= line.result.index() != next;
        renamed[line.result.index()] = next;
        line.result = ValueId(next++);
      }
    }
    nest_.value_count = next;
    if (!changed) return;
    auto rename = [&](sym::Expr& e) {
      if (!e || !sym::mentions_kind(e, sym::SymbolKind::kValue)) return;
      e = cx_.substituted(e, [&](sym::Expr symbol) {
        if (!symbol.is_symbol(sym::SymbolKind::kValue)) return sym::Expr();
        return cx_.value(renamed[value_of_symbol(symbol).index()]);
      });
    };
    for (Stage& stage : nest_.stages) {
      for (Stage::Line& line : stage.body) {
        for (int k = 0; k < operand_count(line.inst); ++k)
          line.inst.operands[k] = ValueId(renamed[line.inst.operands[k].index()]);
        rename(line.inst.address);
        rename(line.inst.guard);
      }
    }
  }

  sym::Context& cx_;
  Nest& nest_;
  std::vector<bool> live_values_;
  std::vector<bool> live_locals_;
};

}  // namespace

void tidy(Program& program, Nest& nest) { Tidier(program.cx(), nest).run(); }

}  // namespace jumar::loop
