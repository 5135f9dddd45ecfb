// What a program did whose kernels the simulator ran, for people.
//
//   simulated for Ascend910B1, on at most 48 vector cores: 2 launches
//     softmax: grid 48, 48 cores
//     scatter: grid 12, 12 cores, one block after the other
//   called operators:
//     6x aten.addmm.default: a matrix product
//   kernels that the toolchain refused, called instead: none
#pragma once

#include <span>
#include <string>

#include "driver/context.h"
#include "driver/device.h"

namespace jumar::driver {

// `inputs` are those of the call. Of a package, what was launched when it was loaded is told, too.
Result<std::string> sim_report(const CompiledGraph& graph, const Device& device,
                               std::span<const runtime::InputValue> inputs);

}  // namespace jumar::driver
