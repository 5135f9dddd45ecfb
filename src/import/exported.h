// An exported program as the archive's JSON says it (torch's schema 8), with names resolved to nothing yet.
//
//   JUMAR_ASSIGN(ExportedProgram program, read_exported(cx, json_text, "model.json"));
//   program.graph.nodes[0].target               "torch.ops.aten.add_.Tensor"
//   program.graph.tensors.at("add_").type       f32[s77, 4]
//
// Sizes are expressions from here on; element types, layouts and devices are checked. What the schema knows
// and no graph can hold (objects, operators as arguments, ...) is kept as Opaque with the name of its kind,
// so that the reader of a node can say what it cannot take. Unknown members are skipped: newer minor versions
// add some.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "import/json.h"
#include "ir/arg.h"
#include "ir/layout.h"
#include "sym/facts.h"

namespace jumar::import {

struct ExportedGraph;

// What arguments refer to, by name.
struct TensorName {
  std::string name;
  bool operator==(const TensorName&) const = default;
};
struct NumberName {  // of a symbolic int, float or bool
  std::string name;
  bool operator==(const NumberName&) const = default;
};
struct Subgraph {
  std::string name;
  std::shared_ptr<const ExportedGraph> graph;
  bool operator==(const Subgraph&) const = default;
};
struct Opaque {
  std::string kind;  // "as_custom_obj"
  bool operator==(const Opaque&) const = default;
};
using Argument = ir::BasicArg<TensorName, NumberName, Subgraph, Opaque>;

struct NamedArgument {
  std::string name;
  Argument value;
};

struct ExportedNode {
  std::string target;
  std::vector<NamedArgument> inputs;
  std::vector<Argument> outputs;
  std::string origin;  // "model.py:12"; may be empty
};

struct TensorMeta {
  ir::TensorType type;
  sym::Expr storage_offset;
};

struct ExportedGraph {
  std::vector<Argument> inputs;
  std::vector<Argument> outputs;
  std::vector<ExportedNode> nodes;
  std::map<std::string, TensorMeta> tensors;
  // Symbolic ints and bools. Where no expression says the number, it is empty.
  std::map<std::string, sym::Expr> ints;
  std::map<std::string, sym::Expr> bools;
  // Symbolic floats, with the value of those that are constant.
  std::map<std::string, std::optional<double>> floats;
};

enum class InputRole : uint8_t {
  kUser,
  kParameter,
  kBuffer,
  kTensorConstant,
  kConstant,
  kCustomObject,
  kToken
};
enum class OutputRole : uint8_t {
  kUser,
  kBufferMutation,
  kParameterMutation,
  kUserInputMutation,
  kGradient,
  kToken
};

struct InputSpec {
  InputRole role = InputRole::kUser;
  Argument value;      // of a kConstant: the value that the call must pass
  std::string target;  // "fc.weight"; of a kConstant: the argument's name
};

struct OutputSpec {
  OutputRole role = OutputRole::kUser;
  Argument value;
  std::string target;  // what is mutated: a buffer, a parameter or a user input
};

struct ExportedProgram {
  ExportedGraph graph;
  std::vector<InputSpec> inputs;
  std::vector<OutputSpec> outputs;
  std::map<std::string, sym::Range> ranges;  // of symbols
  std::map<std::string, int64_t> hints;      // sizes seen at export
  std::string in_spec;                       // torch's pytree specs, as JSON
  std::string out_spec;
  std::vector<std::string> argument_names;
  std::string torch_version;
};

Result<ExportedProgram> read_exported(sym::Context& cx, std::string_view text, const std::string& file);
// The description of a tensor as weights have it; `hints` collects the sizes seen.
Result<TensorMeta> read_tensor_meta(sym::Context& cx, const JsonValue& value,
                                    std::map<std::string, int64_t>& hints);

}  // namespace jumar::import
