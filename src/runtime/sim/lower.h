// From a kernel in linalg to the same kernel in MLIR's LLVM dialect.
//
// In order: bodies for what is only declared; elementwise operations become linalg.generic and are fused, so
// that one loop does what a chain of them says; tensors become buffers in a frame; guards; loops; blocks;
// arithmetic on f16 and bf16 as f32 with a rounding after each operation; LLVM.
//
// The function that comes out is called kLoweredName, takes for each memref a descriptor of five values, and
// after its own arguments the address of the fault block and the number of the block.
#pragma once

#include <mlir/Dialect/Func/IR/FuncOps.h>
#include <mlir/IR/BuiltinOps.h>

#include "runtime/sim/signature.h"
#include "support/result.h"

namespace jumar::runtime::sim {

inline constexpr const char* kLoweredName = "jumar.kernel";

Status lower(mlir::ModuleOp module, mlir::func::FuncOp kernel, const Signature& signature);

}  // namespace jumar::runtime::sim
