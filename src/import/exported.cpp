#include "import/exported.h"

#include "import/exported_argument.h"
#include "import/srepr.h"

namespace jumar::import {
namespace {

using sym::Expr;

constexpr int64_t kMajorVersion = 8;

// "  File "/a/b/model.py", line 12, in forward" of the innermost frame -> "model.py:12".
std::string origin_of(const std::string& trace) {
  const size_t begin = trace.rfind("File \"");
  if (begin == std::string::npos) return "";
  const size_t end = trace.find('"', begin + 6);
  if (end == std::string::npos) return "";
  const size_t line = trace.find("line ", end);
  if (line == std::string::npos) return "";
  const std::string path = trace.substr(begin + 6, end - begin - 6);
  const size_t digits = trace.find_first_not_of("0123456789", line + 5);
  return path.substr(path.rfind('/') + 1) + ":" + trace.substr(line + 5, digits - line - 5);
}

class Reader {
 public:
  explicit Reader(sym::Context& cx) : cx_(cx) {}

  Result<ExportedProgram> program(const JsonValue& root) {
    JUMAR_RETURN_IF_ERROR(version(root));
    ExportedProgram out;
    JUMAR_ASSIGN(const JsonValue module, root.get("graph_module"));
    JUMAR_ASSIGN(const JsonValue graph_value, module.get("graph"));
    JUMAR_ASSIGN(out.graph, graph(graph_value, 0));
    JUMAR_ASSIGN(const JsonValue signature, module.get("signature"));
    JUMAR_RETURN_IF_ERROR(signatures(signature, out));
    JUMAR_RETURN_IF_ERROR(ranges(root, out));
    JUMAR_RETURN_IF_ERROR(call_specs(module, out));
    if (root.has("torch_version")) {
      JUMAR_ASSIGN(const JsonValue text, root.get("torch_version"));
      JUMAR_ASSIGN(out.torch_version, text.string());
    }
    out.hints = std::move(hints_);
    return out;
  }

 private:
  // A newer minor version only adds what an older reader may skip.
  static Status version(const JsonValue& root) {
    JUMAR_ASSIGN(const JsonValue value, root.get("schema_version"));
    JUMAR_ASSIGN(const JsonValue major_value, value.get("major"));
    JUMAR_ASSIGN(const int64_t major, major_value.integer());
    if (major == kMajorVersion) return {};
    return value.error("the program has schema version {}, this reader knows version {} (torch 2.11)", major,
                       kMajorVersion);
  }

  Result<ExportedGraph> graph(const JsonValue& value, int depth) {
    constexpr int kDeepest = 16;
    if (depth > kDeepest) return value.error("graphs are nested too deep");
    ArgumentReader arguments(cx_, [this, depth](const JsonValue& v) { return graph(v, depth + 1); });
    ExportedGraph out;
    JUMAR_RETURN_IF_ERROR(each(value, "inputs", [&](const JsonValue& item) -> Status {
      JUMAR_ASSIGN(Argument input, arguments.argument(item));
      out.inputs.push_back(std::move(input));
      return {};
    }));
    JUMAR_RETURN_IF_ERROR(each(value, "outputs", [&](const JsonValue& item) -> Status {
      JUMAR_ASSIGN(Argument output, arguments.argument(item));
      out.outputs.push_back(std::move(output));
      return {};
    }));
    JUMAR_RETURN_IF_ERROR(each(value, "nodes", [&](const JsonValue& item) -> Status {
      JUMAR_ASSIGN(ExportedNode made, node(item, arguments));
      out.nodes.push_back(std::move(made));
      return {};
    }));
    JUMAR_RETURN_IF_ERROR(values(value, out));
    return out;
  }

  Status values(const JsonValue& value, ExportedGraph& out) {
    JUMAR_RETURN_IF_ERROR(
        each_member(value, "tensor_values", [&](const std::string& name, const JsonValue& item) -> Status {
          JUMAR_ASSIGN(TensorMeta meta, read_tensor_meta(cx_, item, hints_));
          out.tensors.emplace(name, std::move(meta));
          return {};
        }));
    JUMAR_RETURN_IF_ERROR(
        each_member(value, "sym_int_values", [&](const std::string& name, const JsonValue& item) -> Status {
          JUMAR_ASSIGN(const Expr e, read_size(cx_, item, hints_));
          out.ints.emplace(name, e);
          return {};
        }));
    JUMAR_RETURN_IF_ERROR(
        each_member(value, "sym_bool_values", [&](const std::string& name, const JsonValue& item) -> Status {
          JUMAR_ASSIGN(const Expr e, read_truth(cx_, item));
          out.bools.emplace(name, e);
          return {};
        }));
    if (!value.has("sym_float_values")) return {};
    return each_member(value, "sym_float_values",
                       [&](const std::string& name, const JsonValue& item) -> Status {
                         std::optional<double> constant;
                         if (item.has("as_float")) {
                           JUMAR_ASSIGN(const JsonValue number, item.get("as_float"));
                           JUMAR_ASSIGN(constant, number.number());
                         }
                         out.floats.emplace(name, constant);
                         return {};
                       });
  }

  Result<ExportedNode> node(const JsonValue& value, ArgumentReader& arguments) {
    ExportedNode out;
    JUMAR_ASSIGN(const JsonValue target, value.get("target"));
    JUMAR_ASSIGN(out.target, target.string());
    JUMAR_RETURN_IF_ERROR(each(value, "inputs", [&](const JsonValue& item) -> Status {
      NamedArgument named;
      JUMAR_ASSIGN(const JsonValue name, item.get("name"));
      JUMAR_ASSIGN(named.name, name.string());
      JUMAR_ASSIGN(const JsonValue arg, item.get("arg"));
      JUMAR_ASSIGN(named.value, arguments.argument(arg));
      out.inputs.push_back(std::move(named));
      return {};
    }));
    JUMAR_RETURN_IF_ERROR(each(value, "outputs", [&](const JsonValue& item) -> Status {
      JUMAR_ASSIGN(Argument output, arguments.argument(item));
      out.outputs.push_back(std::move(output));
      return {};
    }));
    if (value.has("metadata")) {
      JUMAR_ASSIGN(const JsonValue metadata, value.get("metadata"));
      if (metadata.has("stack_trace")) {
        JUMAR_ASSIGN(const JsonValue trace, metadata.get("stack_trace"));
        JUMAR_ASSIGN(const std::string text, trace.string());
        out.origin = origin_of(text);
      }
    }
    return out;
  }

  Status signatures(const JsonValue& signature, ExportedProgram& out) {
    JUMAR_RETURN_IF_ERROR(each(signature, "input_specs", [&](const JsonValue& item) -> Status {
      JUMAR_ASSIGN(InputSpec spec, read_input_spec(cx_, item));
      out.inputs.push_back(std::move(spec));
      return {};
    }));
    return each(signature, "output_specs", [&](const JsonValue& item) -> Status {
      JUMAR_ASSIGN(OutputSpec spec, read_output_spec(cx_, item));
      out.outputs.push_back(std::move(spec));
      return {};
    });
  }

  static Result<int64_t> bound(const JsonValue& item, std::string_view key, int64_t none) {
    if (!item.has(key)) return none;
    JUMAR_ASSIGN(const JsonValue value, item.get(key));
    return value.integer();
  }

  Status ranges(const JsonValue& root, ExportedProgram& out) {
    return each_member(root, "range_constraints",
                       [&](const std::string& name, const JsonValue& item) -> Status {
                         sym::Range range;
                         JUMAR_ASSIGN(range.lo, bound(item, "min_val", sym::Range::kMin));
                         JUMAR_ASSIGN(range.hi, bound(item, "max_val", sym::Range::kMax));
                         if (range.lo > range.hi) return item.error("the range of {} is empty", name);
                         out.ranges.emplace(name, range);
                         return {};
                       });
  }

  // The entry of the whole module has the tree specs of its arguments and results.
  Status call_specs(const JsonValue& module, ExportedProgram& out) {
    return each(module, "module_call_graph", [&](const JsonValue& item) -> Status {
      JUMAR_ASSIGN(const JsonValue fqn_value, item.get("fqn"));
      JUMAR_ASSIGN(const std::string fqn, fqn_value.string());
      if (!fqn.empty() || !item.has("signature")) return {};
      JUMAR_ASSIGN(const JsonValue signature, item.get("signature"));
      JUMAR_ASSIGN(const JsonValue in_spec, signature.get("in_spec"));
      JUMAR_ASSIGN(out.in_spec, in_spec.string());
      JUMAR_ASSIGN(const JsonValue out_spec, signature.get("out_spec"));
      JUMAR_ASSIGN(out.out_spec, out_spec.string());
      if (!signature.has("forward_arg_names")) return {};
      return each(signature, "forward_arg_names", [&](const JsonValue& name) -> Status {
        JUMAR_ASSIGN(std::string text, name.string());
        out.argument_names.push_back(std::move(text));
        return {};
      });
    });
  }

  template <class Visit>
  static Status each(const JsonValue& value, std::string_view key, Visit&& visit) {
    JUMAR_ASSIGN(const JsonValue list, value.get(key));
    JUMAR_ASSIGN(const std::vector<JsonValue> items, list.array());
    for (const JsonValue& item : items) JUMAR_RETURN_IF_ERROR(visit(item));
    return {};
  }

  template <class Visit>
  static Status each_member(const JsonValue& value, std::string_view key, Visit&& visit) {
    JUMAR_ASSIGN(const JsonValue map, value.get(key));
    JUMAR_ASSIGN(const auto members, map.object());
    for (const auto& [name, item] : members) JUMAR_RETURN_IF_ERROR(visit(name, item));
    return {};
  }

  sym::Context& cx_;
  std::map<std::string, int64_t> hints_;
};

}  // namespace

Result<ExportedProgram> read_exported(sym::Context& cx, std::string_view text, const std::string& file) {
  JUMAR_ASSIGN(const JsonDocument document, JsonDocument::parse(text, file));
  return Reader(cx).program(document.root());
}

}  // namespace jumar::import
