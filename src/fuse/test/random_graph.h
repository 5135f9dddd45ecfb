// Random graphs of operators that lower to loops, for comparing programs before and after a transformation.
//
// A graph has two or three float inputs of small sizes, some symbolic (s0, and s1 where they may be 0), a
// dozen random operators that take earlier values, and returns the last few. Every graph verifies and lowers.
// The same seed gives the same graph.
#pragma once

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace jumar::fuse::test {

class RandomGraph {
 public:
  RandomGraph(uint64_t seed, bool dynamic, int64_t least = 2)
      : random_(seed), graph_(std::make_shared<sym::Context>()) {
    sym::Context& cx = graph_.cx();
    sizes_ = {cx.constant(1), cx.constant(2), cx.constant(3), cx.constant(4), cx.constant(6)};
    if (!dynamic) return;
    sizes_.push_back(add_size("s0", least));
    sizes_.push_back(least < 2 ? add_size("s1", least) : sizes_.back());
  }

  graph::Graph make(int operators) {
    std::vector<sym::Expr> shape = {pick(sizes_), pick(sizes_), pick(sizes_)};
    add_input(shape);
    add_input(shape);
    add_input({shape[2]});
    for (int k = 0; k < operators; ++k) add_operator();
    for (size_t k = values_.size() - std::min<size_t>(3, values_.size()); k < values_.size(); ++k)
      graph_.outputs.push_back(values_[k]);
    return std::move(graph_);
  }

 private:
  using Sizes = std::vector<sym::Expr>;

  sym::Expr add_size(const std::string& name, int64_t least) {
    const sym::Expr size = cx().symbol(sym::SymbolKind::kSize, name);
    graph_.symbols.push_back({size, {least, 64}, 5});
    graph::Value number;
    number.name = "n";
    number.kind = graph::ValueKind::kInt;
    number.expr = size;
    graph_.inputs.push_back({graph_.add_value(number), graph::InputKind::kInput, ""});
    return size;
  }

  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[random_() % from.size()];
  }
  int64_t below(int64_t n) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(n)); }
  sym::Context& cx() { return graph_.cx(); }
  const ir::TensorType& type(graph::ValueId v) { return graph_.values[v].type; }
  sym::Expr number(int64_t n) { return cx().constant(n); }

  void add_input(const Sizes& sizes) {
    graph::ValueId v = graph_.add_tensor("x", {ir::DType::kF32, sizes, ir::contiguous_strides(cx(), sizes)});
    graph_.inputs.push_back({v, graph::InputKind::kInput, ""});
    values_.push_back(v);
  }

  graph::ValueId add(const std::string& op, const std::string& schema, graph::ArgList args, Sizes sizes,
                     Sizes strides = {}) {
    std::vector<graph::ValueId> results;
    if (strides.empty()) strides = ir::contiguous_strides(cx(), sizes);
    results.push_back(graph_.add_tensor("v", {ir::DType::kF32, std::move(sizes), std::move(strides)}));
    add_node(op, schema, std::move(args), results);
    values_.push_back(results[0]);
    return results[0];
  }

  void add_node(const std::string& op, const std::string& schema, graph::ArgList args,
                std::vector<graph::ValueId> results) {
    graph_.schemas[op] = parsed(schema);
    graph::Node node;
    node.op = op;
    node.args = std::move(args);
    node.results = std::move(results);
    graph_.append(std::move(node));
  }

  // "Tensor self, int dim -> Tensor, Tensor"
  static graph::Schema parsed(const std::string& text) {
    graph::Schema schema;
    size_t arrow = text.find(" -> ");
    auto split = [](const std::string& list, auto&& take) {
      for (size_t begin = 0; begin < list.size();) {
        size_t end = std::min(list.find(", ", begin), list.size());
        take(list.substr(begin, end - begin));
        begin = end + 2;
      }
    };
    split(text.substr(0, arrow), [&](const std::string& arg) {
      size_t space = arg.rfind(' ');
      schema.args.push_back({arg.substr(0, space), arg.substr(space + 1)});
    });
    split(text.substr(arrow + 4), [&](const std::string& result) { schema.returns.push_back(result); });
    return schema;
  }

  bool is_contiguous(graph::ValueId v) { return ir::is_contiguous(cx(), type(v)); }

  void add_operator() {
    graph::ValueId x = pick(values_);
    switch (below(15)) {
      case 0:
        return unary(x);
      case 1:
      case 2:
      case 3:
        return binary(x);
      case 4:
      case 5:
        return reduce(x);
      case 6:
        return softmax(x);
      case 7:
        return layer_norm(x);
      case 8:
        return permute(x);
      case 9:
        return clone(x);
      case 10:
        return view(x);
      case 11:
        return slice(x);
      case 12:
        return cat(x);
      case 13:
        return roll(x);
      default:
        return below(2) ? pad(x) : product(x);
    }
  }

  void unary(graph::ValueId x) {
    static const std::vector<std::string> kOps = {"relu", "tanh", "neg", "sigmoid", "abs"};
    std::string op = pick(kOps);
    Sizes strides = type(x).strides;
    add("aten." + op + ".default", "Tensor self -> Tensor", {x}, type(x).sizes, dense(x) ? strides : Sizes());
  }

  // Eager keeps the layout of a dense operand; the test only needs a layout without gaps.
  bool dense(graph::ValueId v) { return is_contiguous(v) || permuted_.contains(v); }

  void binary(graph::ValueId x) {
    std::vector<graph::ValueId> fitting;
    for (graph::ValueId y : values_)
      if (broadcasts(type(y).sizes, type(x).sizes)) fitting.push_back(y);
    graph::ValueId y = pick(fitting);
    static const std::vector<std::string> kOps = {"add", "mul", "sub"};
    std::string op = pick(kOps);
    graph::ArgList args = {x, y};
    if (op != "mul") args.push_back(number(1));
    add("aten." + op + ".Tensor",
        op == "mul" ? "Tensor self, Tensor other -> Tensor"
                    : "Tensor self, Tensor other, Scalar alpha -> Tensor",
        args, type(x).sizes);
  }

  static bool broadcasts(const Sizes& from, const Sizes& to) {
    if (from.size() > to.size()) return false;
    for (size_t k = 0; k < from.size(); ++k) {
      sym::Expr size = from[from.size() - 1 - k];
      if (!size.is_const(1) && size != to[to.size() - 1 - k]) return false;
    }
    return true;
  }

  void reduce(graph::ValueId x) {
    size_t rank = type(x).rank();
    if (rank == 0) return;
    int64_t dim = below(static_cast<int64_t>(rank));
    bool keep = below(2) == 1;
    Sizes sizes = type(x).sizes;
    if (keep)
      sizes[static_cast<size_t>(dim)] = number(1);
    else
      sizes.erase(sizes.begin() + dim);
    graph::ArgList dims = {number(dim)};
    if (below(2))
      add("aten.sum.dim_IntList", "Tensor self, int[1]? dim, bool keepdim, ScalarType? dtype -> Tensor",
          {x, dims, keep, graph::NoneArg{}}, sizes);
    else
      add("aten.amax.default", "Tensor self, int[1] dim, bool keepdim -> Tensor", {x, dims, keep}, sizes);
  }

  void softmax(graph::ValueId x) {
    if (type(x).rank() == 0) return;
    int64_t dim =
        below(2) ? static_cast<int64_t>(type(x).rank()) - 1 : below(static_cast<int64_t>(type(x).rank()));
    add("aten._softmax.default", "Tensor self, int dim, bool half_to_float -> Tensor",
        {x, number(dim), false}, type(x).sizes);
  }

  void layer_norm(graph::ValueId x) {
    if (type(x).rank() < 2) return;
    Sizes sizes = type(x).sizes;
    Sizes rows = sizes;
    rows.back() = number(1);
    graph::ArgList shape = {sizes.back()};
    std::vector<graph::ValueId> results = {
        graph_.add_tensor("v", {ir::DType::kF32, sizes, ir::contiguous_strides(cx(), sizes)}),
        graph_.add_tensor("m", {ir::DType::kF32, rows, ir::contiguous_strides(cx(), rows)}),
        graph_.add_tensor("r", {ir::DType::kF32, rows, ir::contiguous_strides(cx(), rows)})};
    add_node("aten.native_layer_norm.default",
             "Tensor input, SymInt[] normalized_shape, Tensor? weight, Tensor? bias, float eps -> Tensor, "
             "Tensor, Tensor",
             {x, shape, graph::NoneArg{}, graph::NoneArg{}, 1e-3}, results);
    values_.push_back(results[0]);
    values_.push_back(results[1]);
  }

  void permute(graph::ValueId x) {
    std::vector<size_t> order(type(x).rank());
    for (size_t k = 0; k < order.size(); ++k) order[k] = k;
    std::shuffle(order.begin(), order.end(), random_);
    Sizes sizes, strides;
    graph::ArgList dims;
    for (size_t k : order) {
      sizes.push_back(type(x).sizes[k]);
      strides.push_back(type(x).strides[k]);
      dims.push_back(number(static_cast<int64_t>(k)));
    }
    bool was_dense = dense(x);
    graph::ValueId v =
        add("aten.permute.default", "Tensor self, int[] dims -> Tensor", {x, dims}, sizes, strides);
    if (was_dense && type(v).rank() > 0) permuted_.insert(v);
  }

  void clone(graph::ValueId x) {
    add("aten.clone.default", "Tensor self, MemoryFormat? memory_format -> Tensor",
        {x, graph::WordArg{graph::WordArg::Kind::kMemoryFormat, "contiguous"}}, type(x).sizes);
  }

  // Two neighbouring dimensions become one.
  void view(graph::ValueId x) {
    if (type(x).rank() < 2) return;
    size_t at = static_cast<size_t>(below(static_cast<int64_t>(type(x).rank()) - 1));
    Sizes sizes = type(x).sizes;
    sizes[at] = cx().mul(sizes[at], sizes[at + 1]);
    sizes.erase(sizes.begin() + static_cast<ptrdiff_t>(at) + 1);
    auto strides = ir::viewed_strides(cx(), type(x), sizes);
    if (!strides) return;
    graph::ArgList list(sizes.begin(), sizes.end());
    add("aten.view.default", "Tensor self, SymInt[] size -> Tensor", {x, list}, sizes, *strides);
  }

  void slice(graph::ValueId x) {
    for (size_t k = 0; k < type(x).rank(); ++k) {
      std::optional<int64_t> size = type(x).sizes[k].as_const();
      if (!size || *size < 3) continue;
      Sizes sizes = type(x).sizes;
      int64_t start = below(2);
      int64_t end = *size - 1 + below(2);
      sizes[k] = number(end - start);
      add("aten.slice.Tensor", "Tensor self, int dim, SymInt? start, SymInt? end, SymInt step -> Tensor",
          {x, number(static_cast<int64_t>(k)), number(start), number(end), number(1)}, sizes,
          type(x).strides);
      return;
    }
  }

  // Of two to four pieces.
  void cat(graph::ValueId x) {
    if (type(x).rank() == 0) return;
    size_t dim = static_cast<size_t>(below(static_cast<int64_t>(type(x).rank())));
    int64_t pieces = 2 + below(3);
    Sizes sizes = type(x).sizes;
    sizes[dim] = cx().mul(sizes[dim], pieces);
    graph::ArgList tensors(static_cast<size_t>(pieces), graph::Arg(x));
    add("aten.cat.default", "Tensor[] tensors, int dim -> Tensor",
        {tensors, number(static_cast<int64_t>(dim))}, sizes);
  }

  void roll(graph::ValueId x) {
    if (type(x).rank() == 0) return;
    graph::ArgList dims = {number(below(static_cast<int64_t>(type(x).rank())))};
    graph::ArgList shifts = {number(below(5) - 2)};
    add("aten.roll.default", "Tensor self, SymInt[1] shifts, int[1] dims -> Tensor", {x, shifts, dims},
        type(x).sizes);
  }

  void pad(graph::ValueId x) {
    if (type(x).rank() == 0) return;
    Sizes sizes = type(x).sizes;
    sizes.back() = cx().add(sizes.back(), 3);
    graph::ArgList amounts = {number(1), number(2)};
    add("aten.constant_pad_nd.default", "Tensor self, SymInt[] pad, Scalar value -> Tensor",
        {x, amounts, 0.5}, sizes);
  }

  // A call, so that not everything can be fused.
  void product(graph::ValueId x) {
    if (type(x).rank() != 2 || type(x).sizes[0] != type(x).sizes[1]) return;
    add("aten.mm.default", "Tensor self, Tensor mat2 -> Tensor", {x, x}, type(x).sizes);
  }

  std::mt19937_64 random_;
  graph::Graph graph_;
  std::vector<sym::Expr> sizes_;
  std::vector<graph::ValueId> values_;
  std::set<graph::ValueId> permuted_;
};

}  // namespace jumar::fuse::test
