// Schemas of torch's operators: what an argument that an archive leaves out is, what an operator writes to,
// and what may share storage.
//
//   const OpSchema* schema = schemas.find("aten.add_.Tensor");     // null for an operator nobody knows
//   schema->args[2].default_value                                  1
//   schema->args[0].writes                                         true: `self` is written to
//
// The rows are src/import/op_schemas.def, made from torch 2.11. A row is parsed when it is first asked for.
// An OpSchemas belongs to one compilation, as its default values are expressions of one context.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace jumar::import {

struct OpArgument {
  std::string type;  // "SymInt[2]"
  std::string name;
  std::optional<graph::Arg> default_value;
  bool writes = false;
  bool may_alias = false;  // a result may share its storage
};

struct OpSchema {
  std::vector<OpArgument> args;
  std::vector<std::string> returns;
  // For each result, the argument that it is, where it is one that is written to.
  std::vector<std::optional<size_t>> same_as;

  // As graphs carry schemas.
  ir::Schema plain() const;
  bool writes() const;
  bool may_alias() const;
};

class OpSchemas {
 public:
  explicit OpSchemas(sym::Context& cx) : cx_(cx) {}
  const OpSchema* find(const std::string& op);

 private:
  sym::Context& cx_;
  std::map<std::string, std::unique_ptr<OpSchema>> known_;
};

// The names of all rows that begin with `prefix`, sorted.
std::vector<std::string_view> operators_of(std::string_view prefix);

}  // namespace jumar::import
