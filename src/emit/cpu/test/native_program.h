// Compiles the kernels of a loop program in this process and runs them, to be compared with the interpreter.
//
//   NativeProgram native(tiled, target);
//   Result<loop::ProgramResult> got = native.run(inputs);
//
// Programs hold kernels and inputs only: no calls, no host arithmetic. Every buffer that a kernel may write
// has guard bytes on both sides; a kernel that touches them is an error with code "bounds".
#pragma once

#include "driver/jit/codegen.h"
#include "driver/jit/jit.h"
#include "emit/cpu/emit_kernel.h"
#include "loop/check.h"
#include "tile/cpu_model.h"

namespace jumar::emit::cpu {

class NativeProgram {
 public:
  NativeProgram(const loop::Program& program, const driver::jit::CpuTarget& target);
  ~NativeProgram();

  // `pieces`: how many calls each kernel's units are split into.
  Result<loop::ProgramResult> run(loop::ProgramInputs& inputs, int pieces = 1);
  // The module's text before any pass, for messages.
  const std::string& ir() const { return ir_; }

 private:
  struct Block;
  using KernelFn = void (*)(int64_t, int64_t, void**);

  Status run_kernel(const loop::Kernel& kernel, const std::vector<void*>& buffers,
                    const std::unordered_map<sym::Expr, int64_t>& symbols, const std::vector<double>& numbers,
                    int pieces);

  const loop::Program& program_;
  std::unique_ptr<driver::jit::Jit> jit_;
  driver::jit::ObjectHandle handle_{};
  std::string ir_;
};

// The tile stage's view of a target.
tile::CpuModel model_of(const driver::jit::CpuTarget& target);

// Targets that this machine runs: AVX2 everywhere, and what the host has beyond it.
std::vector<driver::jit::CpuTarget> test_targets();

// Reads the program, runs it by the interpreter, and natively for every target, tiled by tile_cpu unless the
// text has tilings; where that joined kernels, with each of them tiled by itself as well. Nothing, or what
// differs, with the tiled program's text.
Status check_native(const std::string& text, const loop::CheckOptions& options,
                    const loop::Tolerance& tolerance = {});

}  // namespace jumar::emit::cpu
