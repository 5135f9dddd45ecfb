// What compiled kernels may call: the mathematical library, conversions that the processor may lack, the
// device's own functions (__hmf_...) and the simulator. Nothing else is found, so what a kernel does is decided
// here and not by whichever libraries the process has loaded.
#pragma once

#include <cstdint>
#include <vector>

namespace jumar::runtime::sim {

struct RuntimeSymbol {
  const char* name;
  void* address;
};

std::vector<RuntimeSymbol> runtime_symbols();

}  // namespace jumar::runtime::sim
