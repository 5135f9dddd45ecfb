// What a kernel takes, read off its linalg function.
//
//   func.func @k(%arg0: memref<?xi8>, %arg1: memref<?xi8>, %arg2: memref<?xf32> {tt.tensor_kind = 0 : i32},
//                %arg3: i32, ... six more i32) attributes {SyncBlockLockArgIdx = 0, WorkspaceArgIdx = 1, ...}
//   name "k", one pointer to f32 that is read, one i32; first is 2
//
// The lock and the workspace come before the kernel's own arguments, gridX, gridY, gridZ and the program's
// three ids after them.
#pragma once

#include <mlir/Dialect/Func/IR/FuncOps.h>
#include <mlir/IR/BuiltinOps.h>

#include <string>
#include <vector>

#include "support/result.h"

namespace jumar::runtime::sim {

struct Argument {
  enum class Kind { kPointer, kInteger, kFloat };
  Kind kind = Kind::kPointer;
  int role = -1;     // of a pointer: 0 read, 1 written, 2 both, -1 unknown
  std::string type;  // "f32"; of a pointer that of its elements
};

// The words of a call: see api.h.
struct Words {
  std::vector<int> arguments;  // where each argument's word is
  std::vector<int> counts;     // of a pointer where its element count is; else -1
  int fault = 0;
  int grid = 0;
  int count = 0;
};

struct Signature {
  std::string name;
  std::vector<Argument> arguments;
  unsigned first = 0;  // of them among the function's arguments
  bool has_atomics = false;
  bool is_mixed = false;

  Words words(bool floats_last) const;
};

// The kernel of this name, or the only one where it is empty.
Result<mlir::func::FuncOp> find_kernel(mlir::ModuleOp module, const std::string& name);
Result<Signature> read_signature(mlir::func::FuncOp kernel);

}  // namespace jumar::runtime::sim
