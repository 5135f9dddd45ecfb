#include "driver/toolchain/flavor.h"

#include <fmt/ranges.h>

namespace jumar::driver::toolchain {

std::string ToolchainFlavor::text() const {
  return fmt::format("{}\n{} {}\nunsigned source: {}\n", fmt::join(adapter_args, "\n"), program_of(compiler),
                     fmt::join(compiler_args, "\n"), needs_unsigned_source);
}

Result<ToolchainFlavor> flavor_of(const target::Target& target) {
  ToolchainFlavor out;
  const std::optional<ToolKind> compiler = tool_from_program(target.compiler);
  if (!compiler || (*compiler != ToolKind::kCompiler && *compiler != ToolKind::kCompilerA5)) {
    return diagnostic("target", "target {} is compiled by '{}'; known are {} and {}", target.name,
                      target.compiler, program_of(ToolKind::kCompiler), program_of(ToolKind::kCompilerA5));
  }
  out.compiler = *compiler;
  out.adapter_args = target.adapter_flags;
  out.compiler_args = {"--target=" + target.compiler_target};
  out.compiler_args.insert(out.compiler_args.end(), target.compiler_flags.begin(),
                           target.compiler_flags.end());
  out.needs_unsigned_source = target.has_patch("unsigned_src");
  return out;
}

HivmCosts costs_of(const target::Target& target) {
  constexpr double kPerSecond = 1e6;  // from what is given for a microsecond
  const target::Costs& given = target.cost();
  HivmCosts out;
  out.device_bytes_per_second = given.gm_bytes_per_us.value * kPerSecond;
  out.core_bytes_per_second = given.gm_core_bytes_per_us.value * kPerSecond;
  out.burst_bytes = given.gm_burst_bytes.value;
  out.transfer_seconds = given.dma_issue_us.value / kPerSecond;
  out.vector_call_seconds = given.vector_issue_us.value / kPerSecond;
  out.vector_bytes_per_second =
      static_cast<double>(target.vector_bytes) / given.vector_repeat_us.value * kPerSecond;
  out.scalar_element_seconds = given.scalar_element_us.value / kPerSecond;
  out.gm_scalar_seconds = given.dma_latency_us.value / kPerSecond;
  out.barrier_seconds = given.barrier_us.value / kPerSecond;
  out.flag_seconds = given.sync_us.value / kPerSecond;
  out.block_sync_seconds = given.dma_latency_us.value / kPerSecond;
  // A program waits for its first data and for its last to be gone.
  out.program_seconds = (given.program_us.value + 2 * given.dma_latency_us.value) / kPerSecond;
  out.launch_seconds = given.launch_us.value / kPerSecond;
  return out;
}

}  // namespace jumar::driver::toolchain
