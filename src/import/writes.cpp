#include "import/writes.h"

#include <algorithm>

#include "import/decomposer.h"
#include "import/shape.h"

namespace jumar::import {
namespace {

// What type the function of an operator that writes gives, before it is stored.
enum class Computes : uint8_t {
  kTarget,    // the operand's own
  kPromoted,  // that of arithmetic on the operands
  kBool,
};

struct Row {
  std::string_view name;  // of aten.<name>_
  Computes computes;
};

constexpr Row kRows[] = {
    {"add", Computes::kPromoted},
    {"sub", Computes::kPromoted},
    {"mul", Computes::kPromoted},
    {"div", Computes::kPromoted},
    {"pow", Computes::kPromoted},
    {"remainder", Computes::kPromoted},
    {"fmod", Computes::kPromoted},
    {"floor_divide", Computes::kPromoted},
    {"atan2", Computes::kPromoted},
    {"addcmul", Computes::kPromoted},
    {"addcdiv", Computes::kPromoted},
    {"bitwise_and", Computes::kPromoted},
    {"bitwise_or", Computes::kPromoted},
    {"bitwise_xor", Computes::kPromoted},
    {"maximum", Computes::kPromoted},
    {"minimum", Computes::kPromoted},
    {"clamp", Computes::kPromoted},
    {"clamp_min", Computes::kPromoted},
    {"clamp_max", Computes::kPromoted},
    {"hypot", Computes::kPromoted},
    {"xlogy", Computes::kPromoted},
    {"copysign", Computes::kPromoted},
    {"eq", Computes::kBool},
    {"ne", Computes::kBool},
    {"lt", Computes::kBool},
    {"le", Computes::kBool},
    {"gt", Computes::kBool},
    {"ge", Computes::kBool},
    {"logical_and", Computes::kBool},
    {"logical_or", Computes::kBool},
    {"logical_xor", Computes::kBool},
    {"logical_not", Computes::kBool},
};

Computes computes(const std::string& functional) {
  const std::string name = functional.substr(5, functional.find('.', 5) - 5);
  for (const Row& row : kRows) {
    if (row.name == name) return row.computes;
  }
  return Computes::kTarget;
}

// Operators that write and whose function has another name, with the same arguments.
struct Renamed {
  std::string_view op;
  std::string_view function;
};
constexpr Renamed kRenamed[] = {
    {"aten.normal_.default", "aten.normal_functional.default"},
    {"aten.bernoulli_.float", "aten.bernoulli.p"},
};

std::string function_of(OpSchemas& schemas, const std::string& op) {
  for (const Renamed& row : kRenamed) {
    if (row.op == op) return std::string(row.function);
  }
  return functional_name(schemas, op);
}

}  // namespace

Result<ValueId> written_value(const WriteContext& c) {
  const TensorType target = c.graph.values[c.target].type;
  const std::string name = c.graph.values[c.node.results.empty() ? c.target : c.node.results[0]].name;
  ArgList args;
  for (const Arg& arg : c.node.args) {
    JUMAR_ASSIGN(Arg value, c.model.read(arg));
    args.push_back(std::move(value));
  }
  if (c.node.op == "aten.zero_.default")
    return c.model.append("aten.fill.Scalar", {args[0], Arg(c.graph.cx().constant(0))}, target, name,
                          c.node.origin);
  if (c.node.op == "aten.copy_.default") args.resize(2);
  const std::string function =
      c.node.op == "aten.copy_.default" ? "aten.copy.default" : function_of(c.schemas, c.node.op);
  if (function.empty())
    return diagnostic("unsupported", "{} writes to an operand, and no operator does the same without writing",
                      c.node.op);
  TensorType type = target;
  const Computes rule = computes(function);
  if (rule == Computes::kBool) type.dtype = DType::kBool;
  if (rule == Computes::kPromoted) {
    type.dtype = result_dtype(c.graph, args);
    // A quotient of integers is a float, which such an operand cannot hold: torch has refused it already.
    if (!ir::is_float(type.dtype) && !ir::is_complex(type.dtype))
      type.dtype = ir::promoted(type.dtype, target.dtype);
  }
  const ValueId value = c.model.append(function, std::move(args), type, name, c.node.origin);
  if (type.dtype == target.dtype) return value;
  const Arg dtype(ir::WordArg{ir::WordArg::Kind::kDType, std::string(ir::dtype_name(target.dtype))});
  return c.model.append("aten._to_copy.default", {Arg(value), dtype}, target, name, c.node.origin);
}

}  // namespace jumar::import
