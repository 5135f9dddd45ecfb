// Scalar arithmetic where the device has a result and the processor stops.
#pragma once

#include <mlir/IR/BuiltinOps.h>

namespace jumar::runtime::sim {

// Division by zero gives the dividend, its remainder is 0; the smallest integer divided by -1 is itself. What
// the device gives for them is not defined, but lanes that a mask excludes divide too, and must not end the
// process.
void make_divisions_safe(mlir::ModuleOp module);

// The roundings between operations on f16 and bf16 stay, though MLIR allows to leave them out.
void keep_roundings(mlir::ModuleOp module);

}  // namespace jumar::runtime::sim
