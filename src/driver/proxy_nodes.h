// The record that tells torch's proxy executor what to call: the calls of a plan that libtorch's C functions
// cannot make because they carry plain numbers.
//
//   ProxyNodes nodes = proxy_nodes(plan);
//   nodes.json        {"nodes": [{"name": "0", "node": {"target": "aten::scatter.value", ...}}]}
//   nodes.steps       [4]: the steps of the plan, in the order of the nodes
//   nodes.problems    what not even the executor can be given, with the operator's name
//
// The form is that of torch's export schema 8, as torch 2.11 reads it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/plan.h"

namespace jumar::driver {

struct ProxyNodes {
  std::string json;
  std::vector<uint32_t> steps;
  std::vector<std::string> problems;
};

// The plan verifies.
ProxyNodes proxy_nodes(const plan::Plan& plan);

}  // namespace jumar::driver
