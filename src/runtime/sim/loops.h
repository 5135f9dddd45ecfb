// Named operations on tensors as loops over elements, few of them.
//
//   %1 = linalg.broadcast ...; %2 = arith.addf %0, %1 : tensor<8x64xf32>; %3 = math.exp %2 : ...
//
// becomes one linalg.generic, so that there is one loop to compile, and no buffer for %1 and %2.
#pragma once

#include <mlir/Dialect/Func/IR/FuncOps.h>
#include <mlir/IR/BuiltinOps.h>

namespace jumar::runtime::sim {

mlir::LogicalResult to_loops_over_elements(mlir::ModuleOp module);

// memref.copy as linalg.copy.
void copy_by_loops(mlir::func::FuncOp kernel);

}  // namespace jumar::runtime::sim
