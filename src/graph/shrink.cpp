#include "graph/shrink.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "graph/passes/passes.h"

namespace jumar::graph {
namespace {

using sym::Expr;

// What an argument or type becomes: references and integers, each by a function.
struct Rewrite {
  std::function<ValueId(ValueId)> value = [](ValueId id) { return id; };
  std::function<Expr(Expr)> expr = [](Expr e) { return e; };

  Arg operator()(const Arg& arg) const {
    if (const auto* id = arg.as<ValueId>()) return Arg(value(*id));
    if (const auto* e = arg.as<Expr>()) return Arg(expr(*e));
    if (arg.list() == nullptr) return arg;
    ArgList items;
    for (const Arg& item : *arg.list()) items.push_back((*this)(item));
    return Arg(std::move(items));
  }

  void operator()(ArgList& args) const {
    for (Arg& arg : args) arg = (*this)(arg);
  }
};

void rewrite_args(Graph& graph, const Rewrite& rewrite) {
  for (const NodeId id : graph.order) rewrite(graph.nodes[id].args);
  rewrite(graph.outputs);
}

void rewrite_types(Graph& graph, const std::function<ir::TensorType(const ir::TensorType&)>& type,
                   const Rewrite& rewrite) {
  for (uint32_t k = 0; k < graph.values.size(); ++k) {
    Value& value = graph.values[ValueId(k)];
    if (value.kind == ValueKind::kTensor) value.type = type(value.type);
    if (value.kind == ValueKind::kInt) value.expr = rewrite.expr(value.expr);
  }
}

class Shrinker {
 public:
  Shrinker(Graph graph, const Holds& holds) : graph_(std::move(graph)), holds_(holds) {}

  Result<Shrunk> run() {
    bool changed = true;
    while (changed) {
      changed = false;
      using Step = Result<bool> (Shrinker::*)();
      constexpr std::array<Step, 7> kSteps = {
          &Shrinker::drop_outputs, &Shrinker::return_early, &Shrinker::cut_nodes,   &Shrinker::reuse_values,
          &Shrinker::drop_inputs,  &Shrinker::fix_symbols,  &Shrinker::shrink_sizes};
      for (const Step step : kSteps) {
        JUMAR_ASSIGN(const bool did, (this->*step)());
        changed = changed || did;
      }
    }
    return Shrunk{std::move(graph_), tries_};
  }

 private:
  // Takes the candidate for the graph where it is one, is another graph, and `holds_` of it.
  Result<bool> accept(Graph candidate) {
    if (candidate.outputs.empty()) return false;
    constexpr std::array<std::string_view, 1> kCleaning = {"dead-code"};
    if (!verify(candidate).ok() || !run_graph_passes(candidate, kCleaning).ok()) return false;
    std::erase_if(candidate.schemas, [&](const auto& row) {
      return std::none_of(candidate.order.begin(), candidate.order.end(),
                          [&](NodeId id) { return candidate.nodes[id].op == row.first; });
    });
    for (const NodeId id : candidate.order) candidate.nodes[id].origin.clear();
    // What is asked about is what the text says, and a text that was asked about is not asked about again.
    const std::string text = write_graph(candidate);
    if (!seen_.insert(text).second) return false;
    Result<Graph> read = read_graph(text);
    if (!read.ok() || !verify(*read).ok()) return false;
    ++tries_;
    JUMAR_ASSIGN(const bool does_hold, holds_(*read));
    if (does_hold) graph_ = std::move(*read);
    return does_hold;
  }

  // Tries `without(begin, end)` for ever smaller ranges of `count()` things, last ones first.
  Result<bool> in_ranges(const std::function<size_t()>& count,
                         const std::function<Graph(size_t, size_t)>& without) {
    bool changed = false;
    for (size_t size = count(); size > 0; size /= 2) {
      for (size_t end = count(); end > 0;) {
        const size_t begin = end - std::min(size, end);
        JUMAR_ASSIGN(const bool did, accept(without(begin, end)));
        changed = changed || did;
        end = std::min(begin, count());
      }
    }
    return changed;
  }

  Result<bool> drop_outputs() {
    return in_ranges([this] { return graph_.outputs.size(); },
                     [this](size_t begin, size_t end) {
                       Graph out = graph_;
                       out.outputs.erase(out.outputs.begin() + static_cast<ptrdiff_t>(begin),
                                         out.outputs.begin() + static_cast<ptrdiff_t>(end));
                       return out;
                     });
  }

  // The results of one node in place of what is returned.
  Result<bool> return_early() {
    for (const NodeId id : std::vector<NodeId>(graph_.order)) {
      Graph out = graph_;
      out.outputs.clear();
      for (const ValueId result : out.nodes[id].results)
        if (out.values[result].kind != ValueKind::kNone) out.outputs.emplace_back(result);
      JUMAR_ASSIGN(const bool did, accept(std::move(out)));
      if (did) return true;
    }
    return false;
  }

  // Results of the nodes that others use become inputs.
  Result<bool> cut_nodes() {
    return in_ranges([this] { return graph_.order.size(); },
                     [this](size_t begin, size_t end) {
                       Graph out = graph_;
                       const auto first = out.order.begin() + static_cast<ptrdiff_t>(begin);
                       const auto last = out.order.begin() + static_cast<ptrdiff_t>(end);
                       const std::vector<NodeId> cut(first, last);
                       out.order.erase(first, last);
                       std::set<ValueId> used;
                       const auto use = [&](ValueId id) { used.insert(id); };
                       for (const NodeId id : out.order)
                         for (const Arg& arg : out.nodes[id].args) for_each_value(arg, use);
                       for (const Arg& arg : out.outputs) for_each_value(arg, use);
                       for (const NodeId id : cut) {
                         for (const ValueId result : out.nodes[id].results) {
                           if (!used.contains(result)) continue;
                           out.values[result].definition = {};
                           out.inputs.push_back({result, InputKind::kInput, ""});
                         }
                       }
                       return out;
                     });
  }

  // An earlier value of the same type in place of a node's result, so that what made it is not needed.
  Result<bool> reuse_values() {
    bool changed = false;
    for (size_t k = graph_.order.size(); k-- > 0;) {
      if (k >= graph_.order.size()) continue;
      for (const ValueId result : std::vector<ValueId>(graph_.nodes[graph_.order[k]].results)) {
        const std::optional<ValueId> other = earlier(result, k);
        if (!other) continue;
        Graph out = graph_;
        Rewrite rewrite;
        rewrite.value = [&](ValueId id) { return id == result ? *other : id; };
        rewrite_args(out, rewrite);
        JUMAR_ASSIGN(const bool did, accept(std::move(out)));
        changed = changed || did;
        if (did) break;
      }
    }
    return changed;
  }

  std::optional<ValueId> earlier(ValueId result, size_t position) const {
    const Value& wanted = graph_.values[result];
    if (wanted.kind != ValueKind::kTensor) return std::nullopt;
    const auto fits = [&](ValueId id) {
      return graph_.values[id].kind == ValueKind::kTensor && graph_.values[id].type == wanted.type;
    };
    for (const Input& input : graph_.inputs)
      if (fits(input.value)) return input.value;
    for (size_t k = 0; k < position; ++k)
      for (const ValueId id : graph_.nodes[graph_.order[k]].results)
        if (fits(id)) return id;
    return std::nullopt;
  }

  Result<bool> drop_inputs() {
    return in_ranges([this] { return graph_.inputs.size(); },
                     [this](size_t begin, size_t end) {
                       Graph out = graph_;
                       out.inputs.erase(out.inputs.begin() + static_cast<ptrdiff_t>(begin),
                                        out.inputs.begin() + static_cast<ptrdiff_t>(end));
                       return out;
                     });
  }

  Result<bool> fix_symbols() {
    bool changed = false;
    for (size_t k = graph_.symbols.size(); k-- > 0;) {
      if (k >= graph_.symbols.size()) continue;
      const SymbolInfo info = graph_.symbols[k];
      for (const int64_t value : {int64_t{2}, int64_t{3}, info.hint.value_or(info.range.lo)}) {
        if (value < info.range.lo || value > info.range.hi) continue;
        Graph out = graph_;
        std::erase_if(out.symbols, [&](const SymbolInfo& other) { return other.symbol == info.symbol; });
        rewrite_exprs(out, [&](Expr e) {
          return out.cx().substituted(
              e, [&](Expr symbol) { return symbol == info.symbol ? out.cx().constant(value) : Expr(); });
        });
        JUMAR_ASSIGN(const bool did, accept(std::move(out)));
        changed = changed || did;
        if (did) break;
      }
    }
    return changed;
  }

  static void rewrite_exprs(Graph& graph, const std::function<Expr(Expr)>& map) {
    Rewrite rewrite;
    rewrite.expr = map;
    rewrite_args(graph, rewrite);
    rewrite_types(
        graph,
        [&](const ir::TensorType& type) {
          ir::TensorType out = type;
          for (Expr& size : out.sizes) size = map(size);
          for (Expr& stride : out.strides) stride = map(stride);
          return out;
        },
        rewrite);
  }

  // Each size in turn, everywhere at once: alone, or with the sizes that are multiples of it, as reshapes
  // make them. Strides keep their order.
  Result<bool> shrink_sizes() {
    bool changed = false;
    for (const int64_t size : constant_sizes()) {
      for (const int64_t to : {int64_t{1}, int64_t{2}, int64_t{3}, size / 4, size / 2, size - 1}) {
        if (to < 1 || to >= size) continue;
        JUMAR_ASSIGN(bool did, accept(resized(size, to, false)));
        if (!did) {
          JUMAR_ASSIGN(did, accept(resized(size, to, true)));
        }
        changed = changed || did;
        if (did) break;
      }
    }
    return changed;
  }

  // Largest first.
  std::vector<int64_t> constant_sizes() const {
    std::set<int64_t, std::greater<>> sizes;
    const auto collect = [&](const Value& value) {
      if (value.kind != ValueKind::kTensor) return;
      for (const Expr size : value.type.sizes)
        if (size.is_const() && size.const_value() > 1) sizes.insert(size.const_value());
    };
    for (const Input& input : graph_.inputs) collect(graph_.values[input.value]);
    for (const NodeId id : graph_.order)
      for (const ValueId result : graph_.nodes[id].results) collect(graph_.values[result]);
    return {sizes.begin(), sizes.end()};
  }

  Graph resized(int64_t from, int64_t to, bool multiples) const {
    Graph out = graph_;
    sym::Context& cx = out.cx();
    const auto map = [&](Expr e) {
      if (!e.is_const()) return e;
      const int64_t value = e.const_value();
      if (value == from) return cx.constant(to);
      return multiples && value > 0 && value % from == 0 ? cx.constant(value / from * to) : e;
    };
    Rewrite rewrite;
    rewrite.expr = map;
    // Of arguments nobody knows which numbers are sizes; a wrong guess is a graph of which `holds_` does not
    // hold.
    rewrite_args(out, rewrite);
    rewrite_types(
        out, [&](const ir::TensorType& type) { return with_sizes(cx, type, map); }, rewrite);
    return out;
  }

  static ir::TensorType with_sizes(sym::Context& cx, const ir::TensorType& type,
                                   const std::function<Expr(Expr)>& map) {
    ir::TensorType out = type;
    for (Expr& size : out.sizes) size = map(size);
    if (ir::is_contiguous(cx, type)) {
      out.strides = ir::contiguous_strides(cx, out.sizes);
      return out;
    }
    // Dimensions from the innermost outwards, as far as strides are numbers; a stride of 0 stays.
    std::vector<size_t> order(out.sizes.size());
    for (size_t k = 0; k < order.size(); ++k) order[k] = k;
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      const auto stride = [&](size_t k) {
        return type.strides[k].is_const() ? type.strides[k].const_value() : sym::Range::kMax;
      };
      return stride(a) < stride(b);
    });
    Expr next = cx.constant(1);
    for (const size_t k : order) {
      if (!type.strides[k].is_const() || type.strides[k].is_const(0)) continue;
      out.strides[k] = next;
      next = cx.mul(next, out.sizes[k].is_const(0) ? cx.constant(1) : out.sizes[k]);
    }
    return out;
  }

  Graph graph_;
  const Holds& holds_;
  size_t tries_ = 0;
  std::set<std::string> seen_;
};

}  // namespace

Result<Shrunk> shrunk(Graph graph, const Holds& holds) { return Shrinker(std::move(graph), holds).run(); }

}  // namespace jumar::graph
