#include "graph/passes/split_constants.h"

#include <algorithm>
#include <array>

#include "graph/op_traits.h"
#include "graph/passes/passes.h"
#include "graph/storage.h"

namespace jumar::graph {
namespace {

// A folded value of up to this size may be larger than what it is computed of.
constexpr int64_t kSmallBytes = 64 << 10;

int64_t bytes_of(sym::Context& cx, const ir::TensorType& type) {
  return ir::element_count(cx, type.sizes).const_value() * ir::dtype_bytes(type.dtype);
}

class Splitter {
 public:
  Splitter(Graph& graph, size_t first_parameter, const std::vector<bool>& is_written)
      : graph_(graph), first_(first_parameter), storage_(graph) {
    known_.assign(graph.values.size(), false);
    of_parameter_.assign(graph.values.size(), false);
    for (size_t k = first_; k < graph.inputs.size(); ++k) {
      const ValueId value = graph.inputs[k].value;
      known_[value.index()] = !is_written[k - first_];
      of_parameter_[value.index()] = true;
    }
  }

  SplitConstants run() {
    for (const NodeId id : graph_.order) look_at(graph_.nodes[id]);
    find_cuts();
    SplitConstants out;
    if (!cuts_.empty()) out.folding = folding_graph();
    rewrite(out);
    return out;
  }

 private:
  void look_at(const Node& node) {
    bool known = !has_effect(node) && !is_python_call(node) && !is_host_scalar(node) && node.unbacked.empty();
    bool of_parameter = false;
    int64_t operand_bytes = kSmallBytes;
    for (const Arg& arg : node.args) {
      for_each_value(arg, [&](ValueId v) {
        known = known && known_[v.index()];
        of_parameter = of_parameter || of_parameter_[v.index()];
        const Value& root = graph_.values[storage_.root(v)];
        if (known && root.kind == ValueKind::kTensor) operand_bytes += bytes_of(graph_.cx(), root.type);
      });
      for_each_expr(arg, [&](sym::Expr e) { known = known && e.is_const(); });
    }
    for (const ValueId result : node.results) {
      const Value& value = graph_.values[result];
      if (value.kind == ValueKind::kNone) continue;
      known = known && value.kind == ValueKind::kTensor && ir::is_static(value.type);
      if (known && !may_alias(node)) known = bytes_of(graph_.cx(), value.type) <= operand_bytes;
    }
    for (const ValueId result : node.results) {
      known_[result.index()] = known;
      of_parameter_[result.index()] = known && of_parameter;
    }
  }

  // A node is done ahead when it computes something of a parameter. What has no parameter in it is made by
  // the kernel that uses it, and copied into the folding graph where that needs it.
  bool is_folded(const Node& node) const {
    return !node.results.empty() && !may_alias(node) &&
           std::any_of(node.results.begin(), node.results.end(),
                       [&](ValueId v) { return known_[v.index()] && of_parameter_[v.index()]; });
  }

  // The folded values that something else uses, through views as well: they stay where their user is.
  void find_cuts() {
    std::vector<bool> is_cut(graph_.values.size(), false);
    const auto use = [&](const Arg& arg) {
      for_each_value(arg, [&](ValueId v) {
        const NodeId definition = graph_.values[v].definition;
        if (!definition.valid() || !is_folded(graph_.nodes[definition]) || is_cut[v.index()]) return;
        is_cut[v.index()] = true;
        cuts_.push_back(v);
      });
    };
    std::vector<bool> is_needed(graph_.values.size(), false);
    const auto need = [&](const Arg& arg) {
      for_each_value(arg, [&](ValueId v) { is_needed[v.index()] = true; });
    };
    for (const Arg& output : graph_.outputs) {
      use(output);
      need(output);
    }
    // Backwards, so that a view counts as a user only where the view itself is used by what stays.
    for (size_t k = graph_.order.size(); k-- > 0;) {
      const Node& node = graph_.nodes[graph_.order[k]];
      if (is_folded(node)) continue;
      const bool is_used = has_effect(node) || std::any_of(node.results.begin(), node.results.end(),
                                                           [&](ValueId v) { return is_needed[v.index()]; });
      if (!is_used) continue;
      for (const Arg& arg : node.args) {
        use(arg);
        need(arg);
      }
    }
    std::sort(cuts_.begin(), cuts_.end(), [](ValueId a, ValueId b) { return a.index() < b.index(); });
  }

  Graph folding_graph() const {
    Graph folding = graph_;
    folding.name = "constants";
    folding.symbols.clear();
    folding.inputs.erase(folding.inputs.begin(),
                         folding.inputs.begin() + static_cast<std::ptrdiff_t>(first_));
    folding.outputs.clear();
    for (const ValueId cut : cuts_) folding.outputs.emplace_back(cut);
    // What depends on arguments, and what has effects, is the other graph's.
    std::erase_if(folding.order, [&](NodeId id) {
      const Node& node = folding.nodes[id];
      return node.results.empty() || std::any_of(node.results.begin(), node.results.end(),
                                                 [&](ValueId v) { return !known_[v.index()]; });
    });
    remove_dead(folding);
    return folding;
  }

  static void remove_dead(Graph& graph) {
    constexpr std::array<std::string_view, 1> kPasses = {"dead-code"};
    const auto removed = run_graph_passes(graph, kPasses);
    CHECK(removed.ok(), "{}", removed.error().text());
  }

  void rewrite(SplitConstants& out) {
    std::erase_if(graph_.order, [&](NodeId id) { return is_folded(graph_.nodes[id]); });
    for (size_t k = first_; k < graph_.inputs.size(); ++k) out.parameters.push_back({false, k - first_});
    for (size_t k = 0; k < cuts_.size(); ++k) {
      graph_.values[cuts_[k]].definition = NodeId();
      graph_.inputs.push_back({cuts_[k], InputKind::kParameter, ""});
      out.parameters.push_back({true, k});
    }
    remove_dead(graph_);
    drop_unused(out.parameters);
  }

  void drop_unused(std::vector<SplitParameter>& parameters) {
    std::vector<bool> is_used(graph_.values.size(), false);
    const auto use = [&](const Arg& arg) {
      for_each_value(arg, [&](ValueId v) { is_used[v.index()] = true; });
    };
    for (const NodeId id : graph_.order) {
      for (const Arg& arg : graph_.nodes[id].args) use(arg);
    }
    for (const Arg& output : graph_.outputs) use(output);
    size_t kept = 0;
    for (size_t k = 0; k < parameters.size(); ++k) {
      if (!is_used[graph_.inputs[first_ + k].value.index()]) continue;
      graph_.inputs[first_ + kept] = graph_.inputs[first_ + k];
      parameters[kept++] = parameters[k];
    }
    graph_.inputs.resize(first_ + kept);
    parameters.resize(kept);
  }

  Graph& graph_;
  size_t first_;
  StorageFacts storage_;
  std::vector<bool> known_;         // by value: it is the same in every call
  std::vector<bool> of_parameter_;  // by value: a parameter is part of what it is computed of
  std::vector<ValueId> cuts_;
};

}  // namespace

SplitConstants split_constants(Graph& graph, size_t first_parameter, const std::vector<bool>& is_written) {
  return Splitter(graph, first_parameter, is_written).run();
}

}  // namespace jumar::graph
