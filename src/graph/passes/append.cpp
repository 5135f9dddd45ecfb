#include "graph/passes/append.h"

namespace jumar::graph {

void add_schema(Graph& graph, const std::string& op) {
  static const std::map<std::string, Schema, std::less<>> kSchemas = {
      {"aten.view.default", {{{"Tensor", "self"}, {"SymInt[]", "size"}}, {"Tensor"}}},
      {"aten.permute.default", {{{"Tensor", "self"}, {"int[]", "dims"}}, {"Tensor"}}},
      {"aten.clone.default", {{{"Tensor", "self"}, {"MemoryFormat?", "memory_format"}}, {"Tensor"}}},
      {"aten.mm.default", {{{"Tensor", "self"}, {"Tensor", "mat2"}}, {"Tensor"}}},
      {"aten.matmul.default", {{{"Tensor", "self"}, {"Tensor", "other"}}, {"Tensor"}}},
      {"aten.mul.Scalar", {{{"Tensor", "self"}, {"Scalar", "other"}}, {"Tensor"}}},
      {"aten.add.Tensor", {{{"Tensor", "self"}, {"Tensor", "other"}, {"Scalar", "alpha"}}, {"Tensor"}}},
      {"aten.masked_fill.Scalar",
       {{{"Tensor", "self"}, {"Tensor", "mask"}, {"Scalar", "value"}}, {"Tensor"}}},
      {"aten.logical_not.default", {{{"Tensor", "self"}}, {"Tensor"}}},
      {"aten.ones.default",
       {{{"SymInt[]", "size"},
         {"ScalarType?", "dtype"},
         {"Layout?", "layout"},
         {"Device?", "device"},
         {"bool?", "pin_memory"}},
        {"Tensor"}}},
      {"aten.triu.default", {{{"Tensor", "self"}, {"SymInt", "diagonal"}}, {"Tensor"}}},
      {"aten._softmax.default",
       {{{"Tensor", "self"}, {"int", "dim"}, {"bool", "half_to_float"}}, {"Tensor"}}},
      {"aten._safe_softmax.default",
       {{{"Tensor", "self"}, {"int", "dim"}, {"ScalarType?", "dtype"}}, {"Tensor"}}},
      {"aten._to_copy.default",
       {{{"Tensor", "self"},
         {"ScalarType?", "dtype"},
         {"Layout?", "layout"},
         {"Device?", "device"},
         {"bool?", "pin_memory"},
         {"bool", "non_blocking"},
         {"MemoryFormat?", "memory_format"}},
        {"Tensor"}}},
      {"aten.addmm.default",
       {{{"Tensor", "self"}, {"Tensor", "mat1"}, {"Tensor", "mat2"}, {"Scalar", "beta"}, {"Scalar", "alpha"}},
        {"Tensor"}}}};
  graph.schemas.try_emplace(op, kSchemas.at(op));
}

ValueId appended(Graph& graph, const std::string& op, ArgList args, const std::string& name,
                 ir::TensorType type) {
  add_schema(graph, op);
  Node node;
  node.op = op;
  node.args = std::move(args);
  node.results = {graph.add_tensor(name, std::move(type))};
  const ValueId result = node.results[0];
  graph.append(std::move(node));
  return result;
}

void append_as(Graph& graph, NodeId id, const std::string& op, ArgList args) {
  add_schema(graph, op);
  Node& node = graph.nodes[id];
  node.op = op;
  node.args = std::move(args);
  graph.order.push_back(id);
}

}  // namespace jumar::graph
