// Where the kernel's own buffers live.
//
// Bufferization gives every tensor that it can't keep in place an allocation of its own, inside of loops too,
// and a loop may hand the buffer of one iteration to the next. Here each allocation of a known size becomes
// one place of a frame, for as long as the kernel runs; nothing is allocated or freed in loops. For that, no
// buffer of an iteration may live longer than it: what a loop carries is copied into slots of the loop first.
#pragma once

#include <mlir/Dialect/Func/IR/FuncOps.h>

#include "support/result.h"

namespace jumar::runtime::sim {

// After it, buffers that loops hand on are slots that exist once.
Status copy_carried_buffers(mlir::func::FuncOp kernel);

// Allocations of a known size become memref.alloca at the function's start.
void place_buffers(mlir::func::FuncOp kernel);

}  // namespace jumar::runtime::sim
