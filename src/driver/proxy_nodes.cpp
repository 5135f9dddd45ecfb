#include "driver/proxy_nodes.h"

#include <fmt/ranges.h>

#include <array>
#include <cmath>
#include <optional>

#include "driver/json_writer.h"
#include "runtime/code.h"
#include "runtime/torch/schema_type.h"

namespace jumar::driver {
namespace {

using plan::Arg;
using runtime::torch::SchemaType;
using Base = SchemaType::Base;

// The export schema has numbers of its own: torch/_export/serde/schema.py.
struct Code {
  std::string_view word;
  int number;
};
constexpr std::array<Code, 13> kDTypes = {{{"u8", 1},
                                           {"i8", 2},
                                           {"i16", 3},
                                           {"i32", 4},
                                           {"i64", 5},
                                           {"f16", 6},
                                           {"f32", 7},
                                           {"f64", 8},
                                           {"c64", 10},
                                           {"c128", 11},
                                           {"bool", 12},
                                           {"bf16", 13},
                                           {"u16", 28}}};
constexpr std::array<Code, 1> kLayouts = {{{"strided", 7}}};
constexpr std::array<Code, 4> kMemoryFormats = {
    {{"contiguous", 1}, {"channels_last", 2}, {"channels_last_3d", 3}, {"preserve", 4}}};

std::optional<int> number_of(std::span<const Code> codes, std::string_view word) {
  for (const Code& code : codes) {
    if (code.word == word) return code.number;
  }
  return std::nullopt;
}

std::string member(std::string_view name, std::string_view value) {
  return fmt::format("{{\"{}\": {}}}", name, value);
}

// One call. What an argument cannot be is `problem`, and its text is of no use then.
class Node {
 public:
  Node(const plan::Plan& plan, const plan::CallStep& call, const plan::Schema& schema) : plan_(plan) {
    for (size_t k = 0; k < call.args.size(); ++k) {
      const SchemaType type = runtime::torch::parsed_schema_type(schema.args[k].type);
      inputs_.push_back(fmt::format("{{\"name\": {}, \"arg\": {}, \"kind\": 1}}",
                                    json_text(schema.args[k].name), argument(call.args[k], type)));
    }
    for (size_t k = 0; k < schema.returns.size(); ++k) {
      if (schema.returns[k] != "Tensor") problem = fmt::format("it returns {}", schema.returns[k]);
      outputs_.push_back(tensor(fmt::format("result{}", k)));
    }
  }

  std::string text(const std::string& op, size_t index) const {
    // "aten.scatter.value" is "aten::scatter.value", and the overload "default" has no name.
    std::string target = op;
    target.replace(target.find('.'), 1, "::");
    constexpr std::string_view kDefault = ".default";
    if (target.ends_with(kDefault)) target.resize(target.size() - kDefault.size());
    return fmt::format(
        "{{\"name\": \"{}\", \"node\": {{\"target\": {}, \"inputs\": [{}], \"outputs\": [{}], \"metadata\": "
        "{{}}}}}}",
        index, json_text(target), fmt::join(inputs_, ", "), fmt::join(outputs_, ", "));
  }

  std::string problem;

 private:
  std::string tensor(std::string_view name) { return member("as_tensor", member("name", json_text(name))); }

  std::string refused(std::string_view why) {
    problem = why;
    return "";
  }

  std::string argument(const Arg& arg, const SchemaType& type) {
    if (arg.is_none()) return member("as_none", "true");
    if (const plan::ArgList* items = arg.as<plan::ArgList>()) return list(*items, type);
    if (const plan::TensorId* id = arg.as<plan::TensorId>()) return tensor(plan_.tensors[*id].name);
    if (const sym::Expr* e = arg.as<sym::Expr>()) {
      if (e->is_const()) return member("as_int", std::to_string(e->const_value()));
      if (type.base != Base::kInt) return refused("a plain number is computed from sizes");
      return member("as_sym_int", member("as_name", json_text(sym::text(*e))));
    }
    if (const double* value = arg.as<double>()) {
      if (!std::isfinite(*value)) return refused("a number is not finite");
      return member("as_float", fmt::format("{:#}", *value));
    }
    if (const bool* value = arg.as<bool>()) return member("as_bool", *value ? "true" : "false");
    if (const std::string* value = arg.as<std::string>()) return member("as_string", json_text(*value));
    if (const plan::WordArg* word = arg.as<plan::WordArg>()) return word_text(*word);
    return refused("a number is computed in the program");
  }

  std::string word_text(const plan::WordArg& word) {
    using Kind = plan::WordArg::Kind;
    if (word.kind == Kind::kDevice) return member("as_device", "{\"type\": \"cpu\", \"index\": null}");
    const bool is_dtype = word.kind == Kind::kDType;
    const bool is_layout = word.kind == Kind::kLayout;
    const std::optional<int> number = is_dtype    ? number_of(kDTypes, word.word)
                                      : is_layout ? number_of(kLayouts, word.word)
                                                  : number_of(kMemoryFormats, word.word);
    if (!number) return refused(fmt::format("the schema has no '{}'", word.word));
    return member(is_dtype    ? "as_scalar_type"
                  : is_layout ? "as_layout"
                              : "as_memory_format",
                  std::to_string(*number));
  }

  std::string list(const plan::ArgList& items, const SchemaType& type) {
    std::vector<std::string> texts;
    if (type.base == Base::kTensor) {
      for (const Arg& item : items) {
        const plan::TensorId* id = item.as<plan::TensorId>();
        const std::string named = id != nullptr ? member("name", json_text(plan_.tensors[*id].name)) : "";
        if (!type.optional_element) {
          texts.push_back(named);
        } else {
          texts.push_back(id != nullptr ? member("as_tensor", named) : member("as_none", "true"));
        }
      }
      return member(type.optional_element ? "as_optional_tensors" : "as_tensors",
                    fmt::format("[{}]", fmt::join(texts, ", ")));
    }
    if (type.base == Base::kInt) return ints(items);
    const char* name = type.base == Base::kFloat  ? "as_floats"
                       : type.base == Base::kBool ? "as_bools"
                                                  : nullptr;
    if (name == nullptr) return refused("a list of such elements cannot be passed");
    for (const Arg& item : items) {
      if (const double* value = item.as<double>()) texts.push_back(fmt::format("{:#}", *value));
      if (const bool* value = item.as<bool>()) texts.emplace_back(*value ? "true" : "false");
    }
    if (texts.size() != items.size()) return refused("a list holds numbers that are computed");
    return member(name, fmt::format("[{}]", fmt::join(texts, ", ")));
  }

  std::string ints(const plan::ArgList& items) {
    std::vector<std::string> texts;
    bool all_constant = true;
    for (const Arg& item : items) {
      const sym::Expr* e = item.as<sym::Expr>();
      if (e == nullptr) return refused("a list of integers holds something else");
      all_constant = all_constant && e->is_const();
    }
    for (const Arg& item : items) {
      const sym::Expr e = *item.as<sym::Expr>();
      const std::string number = e.is_const() ? std::to_string(e.const_value()) : std::string();
      if (all_constant) {
        texts.push_back(number);
      } else {
        texts.push_back(e.is_const() ? member("as_int", number) : member("as_name", json_text(sym::text(e))));
      }
    }
    return member(all_constant ? "as_ints" : "as_sym_ints", fmt::format("[{}]", fmt::join(texts, ", ")));
  }

  const plan::Plan& plan_;
  std::vector<std::string> inputs_;
  std::vector<std::string> outputs_;
};

}  // namespace

ProxyNodes proxy_nodes(const plan::Plan& plan) {
  const auto code = runtime::described(plan::Plan(plan));
  CHECK(code.ok(), "{}", code.error().text());
  ProxyNodes out;
  std::vector<std::string> nodes;
  for (const runtime::PreparedPlan::HostCalledOp& called : (*code)->host_called) {
    const auto& call = std::get<plan::CallStep>(plan.steps[called.step].data);
    const auto schema = std::find_if(plan.schemas.begin(), plan.schemas.end(),
                                     [&](const auto& row) { return row.first == call.op; });
    const Node node(plan, call, schema->second);
    if (!node.problem.empty() || !call.result_ints.empty()) {
      const std::string& why = node.problem.empty() ? "it returns numbers" : node.problem;
      out.problems.push_back(
          fmt::format("{}: {}; torch's proxy executor cannot, either: {}", called.op, called.reason, why));
      continue;
    }
    nodes.push_back(node.text(call.op, nodes.size()));
    out.steps.push_back(called.step);
  }
  if (!nodes.empty()) out.json = fmt::format("{{\"nodes\": [{}]}}", fmt::join(nodes, ", "));
  return out;
}

}  // namespace jumar::driver
