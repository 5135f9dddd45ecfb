// Whose memory a buffer is.
//
//   %view = memref.reinterpret_cast %arg2 ...      root: argument 2
//   %part = memref.subview %alloc ...              root: an allocation of so many elements
#pragma once

#include <mlir/Dialect/Func/IR/FuncOps.h>

#include <cstdint>
#include <optional>

namespace jumar::runtime::sim {

struct Root {
  std::optional<unsigned> argument;  // of the function
  // Of allocations: the elements of the smallest that it may be; none where that is known at run time only.
  std::optional<int64_t> elements;
};

// Follows views, loops and branches. None where the buffer may belong to several arguments, to an argument or
// an allocation, or to something else.
std::optional<Root> find_root(mlir::func::FuncOp kernel, mlir::Value buffer);

}  // namespace jumar::runtime::sim
