#include "driver/kernel_counts.h"

#include "tile/npu/arguments.h"

namespace jumar::driver {
namespace {

// Of the scalar part of a launch: a few seconds.
constexpr int64_t kMostSteps = int64_t{1} << 30;

}  // namespace

Result<LaunchNumbers> launch_numbers(const loop::Program& program, const tile::npu::BlockKernel& kernel,
                                     int64_t vector_cores, const SizeValues& sizes) {
  const sym::Expr cores = tile::npu::vector_cores(program.cx());
  const auto value = [&](sym::Expr e) {
    return sym::evaluate(e, [&](sym::Expr symbol) -> std::optional<int64_t> {
      if (symbol == cores) return vector_cores;
      const auto row = sizes.find(symbol.symbol_name());
      return row == sizes.end() ? std::nullopt : std::optional(row->second);
    });
  };
  LaunchNumbers out;
  JUMAR_ASSIGN(out.grid[0], value(kernel.grid));
  for (const tile::npu::IntArgument& argument : kernel.ints) {
    JUMAR_ASSIGN(const int64_t scalar, value(argument.value));
    out.scalars.push_back(scalar);
  }
  return out;
}

Result<toolchain::HivmTraffic> counted(const toolchain::KernelCheck& check, const LaunchNumbers& numbers,
                                       const target::CoreLimit& cores) {
  JUMAR_ASSIGN(const toolchain::HivmProgram program,
               toolchain::read_hivm(check.compiled.hivm, check.name + ".hivm.mlir"));
  toolchain::HivmLaunch request;
  request.grid = numbers.grid;
  request.scalars = numbers.scalars;
  request.vector_cores = static_cast<int>(cores.vector_cores);
  request.cube_cores = static_cast<int>(cores.cube_cores);
  request.most_steps = kMostSteps;
  return toolchain::hivm_traffic(program, request);
}

}  // namespace jumar::driver
