#include "fuse/forward.h"

#include <algorithm>

#include "fuse/inline.h"
#include "fuse/merge_common.h"

namespace jumar::fuse {

using loop::InstKind;
using loop::ScalarOp;
using loop::ValueId;

namespace {

constexpr int kCheapWeight = 8;

class Forwarder {
 public:
  Forwarder(MergeContext& context, loop::Nest& nest,
            const std::function<bool(loop::BufferId)>& needed_elsewhere)
      : context_(context), cx_(context.program.cx()), nest_(nest), needed_elsewhere_(needed_elsewhere) {}

  void run() {
    std::vector<loop::BufferId> buffers;
    for (const auto& [buffer, site] : plain_stores(context_, nest_)) buffers.push_back(buffer);
    for (loop::BufferId buffer : buffers) {
      // Sites are looked up afresh: forwarding another buffer inserts and removes lines.
      auto stores = plain_stores(context_, nest_);
      auto site = stores.find(buffer);
      if (site == stores.end() || !site->second || needed_elsewhere_(buffer)) continue;
      if (!nest_.stages[site->second->stage].inner.empty()) forward(buffer, *site->second);
    }
  }

 private:
  struct Use {
    LoadSite site;
    std::vector<Expr> point;  // values of the store's inner axes
  };

  void forward(loop::BufferId buffer, StoreSite site) {
    const loop::Stage& stage = nest_.stages[site.stage];
    Expr address = stage.body[site.line].inst.address;
    facts_ = at_points(nest_facts(context_.program, nest_), nest_.kept);
    std::optional<Strided> store = strided(cx_, address, stage.inner);
    if (!store || !sort_mixed_radix(cx_, *store, at_points(facts_, stage.inner))) return;
    std::vector<Use> uses;
    for (const LoadSite& load : loads_of(nest_, {{buffer, site}})) {
      const sym::Facts facts = at_points(facts_, nest_.stages[load.stage].inner);
      std::optional<std::vector<Expr>> point =
          inverted(cx_, *store, inst_at(nest_, load.stage, load.line).address, facts);
      if (!point || !proves_in_range(cx_, *store, *point, facts)) return;
      uses.push_back({load, std::move(*point)});
    }
    if (uses.empty()) return;
    std::vector<uint32_t> chain;
    if (collect_chain(site, chain)) {
      recompute(site, chain, *store, uses);
    } else {
      keep_locally(buffer, site, *store, uses);
    }
  }

  // Lines of the store's stage that its value needs, in order; false when recomputing them is not cheap.
  bool collect_chain(StoreSite site, std::vector<uint32_t>& chain) {
    const std::vector<loop::Stage::Line>& body = nest_.stages[site.stage].body;
    std::vector<bool> needed(nest_.value_count, false);
    needed[body[site.line].inst.operands[0].index()] = true;
    loop::Nest cost;
    cost.stages.emplace_back();
    for (uint32_t k = site.line; k-- > 0;) {
      const loop::Stage::Line& line = body[k];
      if (!line.result || !needed[line.result.index()]) continue;
      InstKind kind = line.inst.kind;
      if (kind != InstKind::kOp && kind != InstKind::kConst && kind != InstKind::kLoad &&
          kind != InstKind::kIndex && kind != InstKind::kParam)
        return false;
      if (kind == InstKind::kLoad && plain_stores(context_, nest_).contains(line.inst.buffer)) return false;
      for (ValueId operand : line.inst.operands)
        if (operand) needed[operand.index()] = true;
      for (Expr e : {line.inst.address, line.inst.guard})
        if (e && sym::mentions_kind(e, sym::SymbolKind::kValue)) return false;
      chain.push_back(k);
      cost.stages[0].body.push_back(line);
    }
    std::reverse(chain.begin(), chain.end());
    return body_weight(cost) <= kCheapWeight;
  }

  void recompute(StoreSite site, const std::vector<uint32_t>& chain, const Strided& store,
                 std::vector<Use>& uses) {
    std::unordered_map<ValueId, ValueId> replacements;
    // From the last use to the first, so that insertions don't move the sites still to come.
    std::reverse(uses.begin(), uses.end());
    for (const Use& use : uses) {
      AxisMap axes = axes_of(site, store, use);
      LineCopier copier(cx_, nest_, axes, facts_);
      std::vector<loop::Stage::Line> lines;
      const std::vector<loop::Stage::Line>& source = nest_.stages[site.stage].body;
      for (const loop::Stage::Line& line : source)
        for (ValueId operand : line.inst.operands)
          if (operand) copier.map_value(operand, operand);  // rows known to every stage stay what they are
      ValueId stored = source[site.line].inst.operands[0];
      copier.map_value(stored, stored);
      for (uint32_t k : chain) lines.push_back(copier.copied(source[k]));
      std::vector<loop::Stage::Line>& body = nest_.stages[use.site.stage].body;
      replacements[body[use.site.line].result] = copier.mapped(stored);
      body.erase(body.begin() + use.site.line);
      body.insert(body.begin() + use.site.line, lines.begin(), lines.end());
    }
    replace_uses(cx_, nest_, replacements);
  }

  AxisMap axes_of(StoreSite site, const Strided& store, const Use& use) {
    AxisMap axes;
    for (const loop::Axis& axis : nest_.stages[site.stage].inner)
      if (axis.extent.is_const(1)) axes[axis.symbol] = cx_.constant(0);
    for (size_t k = 0; k < store.terms.size(); ++k) axes[store.terms[k].axis.symbol] = use.point[k];
    return axes;
  }

  void keep_locally(loop::BufferId buffer, StoreSite site, const Strided& store,
                    const std::vector<Use>& uses) {
    ir::DType type = context_.program.buffers[buffer].type.dtype;
    std::optional<int64_t> elems = point_count(cx_, nest_.stages[site.stage].inner).as_const();
    int64_t used = 0;
    for (const loop::Local& local : nest_.locals) used += local.elems * ir::dtype_bytes(local.type);
    if (!elems || *elems * ir::dtype_bytes(type) + used > context_.options.max_local_bytes) return;
    uint32_t local = static_cast<uint32_t>(nest_.locals.size());
    nest_.locals.push_back({type, *elems});

    loop::Stage::Line& line = nest_.stages[site.stage].body[site.line];
    std::vector<Expr> here;
    for (const Strided::Term& term : store.terms) here.push_back(term.axis.symbol);
    line.inst.kind = InstKind::kStoreLocal;
    line.inst.buffer = loop::BufferId();
    line.inst.local = local;
    line.inst.address = index_of(store, here);
    for (const Use& use : uses) {
      loop::Inst& load = nest_.stages[use.site.stage].body[use.site.line].inst;
      load.kind = InstKind::kLoadLocal;
      load.buffer = loop::BufferId();
      load.local = local;
      load.address = index_of(store, use.point);
    }
  }

  // Row-major position among the store's inner points, in the order of the store's terms.
  Expr index_of(const Strided& store, const std::vector<Expr>& point) {
    Expr index = cx_.constant(0);
    for (size_t k = 0; k < store.terms.size(); ++k)
      index = cx_.add(cx_.mul(index, store.terms[k].axis.extent), point[k]);
    return sym::simplified(cx_, index, facts_);
  }

  MergeContext& context_;
  sym::Context& cx_;
  loop::Nest& nest_;
  const std::function<bool(loop::BufferId)>& needed_elsewhere_;
  sym::Facts facts_;
};

}  // namespace

void forward_stores(MergeContext& context, loop::Nest& nest,
                    const std::function<bool(loop::BufferId)>& needed_elsewhere) {
  if (nest.stages.size() > 1) Forwarder(context, nest, needed_elsewhere).run();
}

void drop_dead_stores(loop::Nest& nest, const std::function<bool(loop::BufferId)>& needed_elsewhere) {
  std::set<loop::BufferId> loaded;
  for (const loop::Stage& stage : nest.stages)
    for (const loop::Stage::Line& line : stage.body)
      if (line.inst.kind == InstKind::kLoad) loaded.insert(line.inst.buffer);
  for (loop::Stage& stage : nest.stages)
    std::erase_if(stage.body, [&](const loop::Stage::Line& line) {
      return line.inst.kind == InstKind::kStore && !loaded.contains(line.inst.buffer) &&
             !needed_elsewhere(line.inst.buffer);
    });
}

void fold_conversions(loop::Program& program, loop::Nest& nest) {
  std::vector<const loop::Inst*> definitions(nest.value_count, nullptr);
  std::unordered_map<ValueId, ValueId> replacements;
  auto source = [&](ValueId value) {
    auto it = replacements.find(value);
    return it == replacements.end() ? value : it->second;
  };
  for (loop::Stage& stage : nest.stages) {
    for (loop::Stage::Line& line : stage.body) {
      if (!line.result) continue;
      definitions[line.result.index()] = &line.inst;
      if (line.inst.kind != InstKind::kOp || line.inst.op != ScalarOp::kCast) continue;
      ValueId operand = source(line.inst.operands[0]);
      const loop::Inst* from = definitions[operand.index()];
      if (!from) continue;
      if (from->type == line.inst.type) {
        replacements[line.result] = operand;
        continue;
      }
      bool demoted = from->kind == InstKind::kOp && from->op == ScalarOp::kDemote;
      if (!demoted || program.strict) continue;
      ValueId wide = source(from->operands[0]);
      if (definitions[wide.index()] && definitions[wide.index()]->type == line.inst.type)
        replacements[line.result] = wide;
    }
  }
  replace_uses(program.cx(), nest, replacements);
}

}  // namespace jumar::fuse
