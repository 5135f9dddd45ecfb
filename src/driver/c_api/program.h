// The C API's handle of a compiled graph, and the results of its calls.
#pragma once

#include <memory>
#include <vector>

#include "driver/context.h"
#include "jumar/jumar.h"
#include "support/spares.h"

// What a program's handle and the results of its calls share: either may be freed first. Freed results are
// kept with their buffers for a later call.
struct jumar_shared_program {
  std::shared_ptr<const jumar::driver::CompiledGraph> graph;
  jumar::Spares<jumar_results> results;
};

struct jumar_program {
  std::shared_ptr<jumar_shared_program> shared;

  const jumar::driver::CompiledGraph& graph() const { return *shared->graph; }
};

struct jumar_results {
  std::vector<jumar::runtime::InputValue> inputs;  // scratch of the call
  // Null while they are kept. Declared before the outputs, which may be libtorch's tensors: the graph keeps
  // the functions that release them.
  std::shared_ptr<jumar_shared_program> shared;
  std::vector<jumar::runtime::Output> outputs;
};
