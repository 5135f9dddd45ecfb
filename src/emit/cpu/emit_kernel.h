// Writes a tiled kernel of loop IR as an LLVM function.
//
//   llvm::Module module("graph", context);
//   codegen.prepare(module);                       // data layout and triple first
//   emit_kernel(module, program, kernel, {});      // defines void @<kernel name>(i64 begin, i64 end, ptr
//   args)
//
// The function's arguments are those of signature(program, kernel). Vectors are written out as the tiling
// says; nothing is left for LLVM to vectorise or to unroll.
//
// Invariants: the program is verified and each nest of the kernel has a tiling that the tile stage made or
// accepts. Emitting cannot fail and decides nothing: what it meets and can't write is a broken invariant.
#pragma once

#include "emit/cpu/emit_options.h"
#include "emit/cpu/signature.h"

namespace llvm {
class Module;
}

namespace jumar::emit::cpu {

void emit_kernel(llvm::Module& module, const loop::Program& program, const loop::Kernel& kernel,
                 const EmitOptions& options);

}  // namespace jumar::emit::cpu
