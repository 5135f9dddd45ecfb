// The C API's handle of a compiled graph.
#pragma once

#include <memory>

#include "driver/context.h"

struct jumar_program {
  std::shared_ptr<const jumar::driver::CompiledGraph> graph;
};
