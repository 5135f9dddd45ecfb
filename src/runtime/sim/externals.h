// Bodies for the functions that triton-adapter-opt declares and calls, but leaves to the device's libraries.
//
//   %1 = call @triton_cumsum_0(%0, %c1_i32, %false) : (tensor<16x64xf32>, i32, i1) -> tensor<16x64xf32>
//
// becomes loops over %0 that add along axis 1. Each call is replaced where it stands, because the axis, the
// direction and the order are constants of the call. Known are triton_cumsum, cumprod, sort, flip, gather,
// indirect_load, indirect_store, assert and print; of a print nothing is left. Functions named __hmf_... stay
// calls and are found by the linker (runtime_symbols.def). A declared function that is neither is an error
// that names it.
#pragma once

#include <mlir/IR/BuiltinOps.h>

#include "support/result.h"

namespace jumar::runtime::sim {

Status lower_externals(mlir::ModuleOp module);

}  // namespace jumar::runtime::sim
