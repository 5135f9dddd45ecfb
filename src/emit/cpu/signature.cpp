#include "emit/cpu/signature.h"

#include <algorithm>

#include "loop/walk.h"
#include "tile/units.h"

namespace jumar::emit::cpu {
namespace {

using loop::InstKind;
using sym::Expr;

template <class T>
void add_once(std::vector<T>& list, const T& item) {
  if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
}

class Collector {
 public:
  explicit Collector(KernelSignature& out) : out_(out) {}

  void nest(const loop::Nest& nest) {
    for (const loop::Axis& axis : nest.kept) sizes(axis.extent);
    for (Expr cut : nest.tiling->cuts) sizes(cut);
    for (size_t s = 0; s < nest.stages.size(); ++s) {
      for (const loop::Axis& axis : nest.stages[s].inner) sizes(axis.extent);
      for (Expr cut : nest.tiling->stages[s].cuts) sizes(cut);
      for (const loop::Stage::Line& line : nest.stages[s].body) inst(line.inst);
    }
  }

 private:
  void sizes(Expr e) {
    if (!e) return;
    for (Expr symbol : sym::symbols_of(e)) {
      if (symbol.is_symbol(sym::SymbolKind::kSize) || symbol.is_symbol(sym::SymbolKind::kUnbacked))
        add_once(out_.ints, symbol);
    }
  }

  void inst(const loop::Inst& inst) {
    if (inst.buffer) add_once(out_.buffers, inst.buffer);
    if (inst.kind == InstKind::kParam) add_once(out_.numbers, inst.number);
    if (inst.kind == InstKind::kWrapIndex || inst.kind == InstKind::kCheckIndex) out_.checks = true;
    loop::for_each_expr(inst, [&](Expr e) { sizes(e); });
  }

  KernelSignature& out_;
};

// Buffers that two nests store to, whatever the mode, make the nests collide unless each stores its own part,
// which only stores of mode `set` promise.
bool nests_collide(const loop::Kernel& kernel) {
  std::vector<loop::BufferId> folded;
  for (const loop::Nest& nest : kernel.nests) {
    std::vector<loop::BufferId> mine;
    for (const loop::Stage& stage : nest.stages) {
      for (const loop::Stage::Line& line : stage.body) {
        if (line.inst.kind == InstKind::kStore && line.inst.mode != loop::StoreMode::kSet)
          add_once(mine, line.inst.buffer);
      }
    }
    for (loop::BufferId buffer : mine) {
      if (std::find(folded.begin(), folded.end(), buffer) != folded.end()) return true;
      folded.push_back(buffer);
    }
  }
  return false;
}

}  // namespace

KernelSignature signature(const loop::Program& program, const loop::Kernel& kernel) {
  sym::Context& cx = program.cx();
  KernelSignature out;
  Collector collector(out);
  const auto at_least_one = [&](int64_t grain) { return cx.constant(std::max<int64_t>(grain, 1)); };
  Expr units = cx.constant(0);
  int64_t grain = 0;
  for (const loop::Nest& nest : kernel.nests) {
    CHECK(nest.tiling && nest.tiling->stages.size() == nest.stages.size(), "kernel '{}' is not tiled",
          kernel.name);
    collector.nest(nest);
    out.nest_units.push_back(tile::units_of(cx, nest));
    units = cx.add(units, out.nest_units.back());
    if (kernel.is_phased) out.phases.push_back({out.nest_units.back(), at_least_one(nest.tiling->grain)});
    grain = grain == 0 ? nest.tiling->grain : std::min(grain, nest.tiling->grain);
  }
  if (!kernel.is_phased)
    out.phases = {{units, nests_collide(kernel) ? cx.max(units, cx.constant(1)) : at_least_one(grain)}};
  return out;
}

}  // namespace jumar::emit::cpu
