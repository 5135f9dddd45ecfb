#include "graph/op_traits.h"

#include <algorithm>
#include <array>

namespace jumar::graph {
namespace {

enum class Trait : uint8_t { kAlias, kStorage, kStrides, kRandom };

struct Row {
  Trait trait;
  std::string_view name;
};

constexpr Row kRows[] = {
#define JUMAR_OP_TRAIT(trait, name) {Trait::k##trait, #name},
#include "graph/op_traits.def"
#undef JUMAR_OP_TRAIT
};

constexpr std::string_view kAten = "aten.";

// "aten.view.default" -> "view".
std::string_view aten_name(std::string_view op) {
  if (!op.starts_with(kAten)) return {};
  op.remove_prefix(kAten.size());
  return op.substr(0, op.find('.'));
}

bool has_trait(const Node& node, Trait trait) {
  std::string_view name = aten_name(node.op);
  return std::any_of(std::begin(kRows), std::end(kRows),
                     [&](const Row& row) { return row.trait == trait && row.name == name; });
}

// Attention draws numbers when its probability of dropping is not zero.
bool drops_attention(const Node& node) {
  std::string_view name = aten_name(node.op);
  const bool is_attention = name.starts_with("_scaled_dot_product") || name.starts_with("scaled_dot_product");
  if (!is_attention || name.ends_with("_backward")) return false;
  return std::any_of(node.args.begin(), node.args.end(), [](const Arg& arg) {
    const double* number = arg.as<double>();
    return number != nullptr && *number > 0;
  });
}

}  // namespace

bool may_alias(const Node& node) { return is_python_call(node) || has_trait(node, Trait::kAlias); }

bool is_random(const Node& node) { return has_trait(node, Trait::kRandom) || drops_attention(node); }

bool has_effect(const Node& node) {
  if (is_host_scalar(node)) return false;
  return node.results.empty() || !node.op.starts_with(kAten) || is_random(node);
}

bool is_update(const Node& node) { return node.op == "aten.copy_.default" && node.results.empty(); }

bool takes_strides(const Node& node) { return has_trait(node, Trait::kStrides); }

bool reads_storage(const Node& node) { return is_python_call(node) || has_trait(node, Trait::kStorage); }

}  // namespace jumar::graph
