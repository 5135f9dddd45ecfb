// Checks that a kernel makes before it touches memory.
//
//   %ok = ...                                               // the view lies inside of argument 2
//   func.call @jumar.guard(%ok, %low, %high, %size) {argument = 2, kind = 1, line = 40}
//   linalg.copy ins(%buffer) outs(%view)
//
// A view is checked once, before the operation that uses all of it, by its lowest and highest element; that is
// exact, because the operation touches both. So loops stay free of checks. A single load or store is checked
// by its own address. insert_guards must run when all tensors are buffers and before loops are made of
// operations; lower_guards when control flow is blocks: a guard that does not hold reports and leaves the
// kernel.
//
// Invariant: every buffer that an operation uses comes, through views and loops, from one argument of the
// kernel or from allocations alone; anything else is refused.
#pragma once

#include <mlir/Dialect/Func/IR/FuncOps.h>
#include <mlir/IR/Builders.h>
#include <mlir/IR/BuiltinOps.h>

#include "support/result.h"

namespace jumar::runtime::sim {

// The numbers are those of the C API.
enum GuardKind : int64_t { kRead = 0, kWrite = 1, kBuffer = 2, kShape = 3, kAssert = 4 };

void declare_guard(mlir::ModuleOp module);

// A guard without a memory access.
void guard(mlir::OpBuilder& builder, mlir::Location location, mlir::Value condition, GuardKind kind);

// `first` is the kernel's own argument 0 among the function's.
Status insert_guards(mlir::func::FuncOp kernel, unsigned first);

// `fault` and `block` are values of the function: the address of the fault block, the number of the block.
void lower_guards(mlir::func::FuncOp kernel, mlir::Value fault, mlir::Value block);

}  // namespace jumar::runtime::sim
