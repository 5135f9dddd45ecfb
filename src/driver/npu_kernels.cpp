#include "driver/npu_kernels.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <set>

#include "emit/ttir/emit_ttir.h"

namespace jumar::driver {
namespace {

using toolchain::KernelCheck;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// A name that MLIR takes without quotes, of a length that the launcher takes, different from the others.
std::string function_name(const std::string& name, int64_t most, std::set<std::string>& taken) {
  std::string base;
  for (const char c : name) base += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  if (base.empty() || std::isdigit(static_cast<unsigned char>(base[0])) != 0) base = "k" + base;
  // Suffixes of the toolchain and of numbers have to fit as well.
  base = base.substr(0, static_cast<size_t>(std::max<int64_t>(most - 12, 8)));
  std::string unique = base;
  for (int k = 1; !taken.insert(unique).second; ++k) unique = fmt::format("{}_{}", base, k);
  return unique;
}

struct Tried {
  tile::npu::TiledKernel tiled;
  size_t next = 0;
};

// The choice that stands now, as TTIR.
void set_choice(const loop::Program& program, Tried& tried, NpuKernel& kernel) {
  kernel.choice = std::move(tried.tiled.choices[tried.next++]);
  kernel.choice.kernel.name = kernel.function;
  kernel.ttir = emit::ttir::emit_ttir(program, kernel.choice.kernel);
}

}  // namespace

tile::npu::NpuModel npu_model(const target::Target& target) {
  tile::npu::NpuModel model;
  const target::Costs& cost = target.cost();
  model.vector_cores = target.vector_cores;
  model.buffer_bytes = target.ub_usable_bytes;
  model.align_bytes = target.align_bytes;
  model.vector_bytes = target.vector_bytes;
  model.bytes_per_us = std::min(cost.gm_core_bytes_per_us.value,
                                cost.gm_bytes_per_us.value / static_cast<double>(target.vector_cores));
  model.transfer_us = cost.dma_latency_us.value;
  model.instruction_us = cost.vector_issue_us.value;
  model.vector_us = cost.vector_repeat_us.value;
  model.round_us = cost.loop_us.value + 2 * cost.sync_us.value;
  model.scalar_us = cost.scalar_element_us.value;
  return model;
}

Result<toolchain::Toolchain> needed_toolchain(const Options& options, const target::Target& target) {
  toolchain::Toolchain tools = toolchain::toolchain_of(options, process_environment());
  JUMAR_ASSIGN(const toolchain::ToolchainFlavor flavor, toolchain::flavor_of(target));
  for (const toolchain::ToolKind kind : {toolchain::ToolKind::kAdapter, flavor.compiler})
    if (tools.find(kind) == nullptr) return tools.missing(kind);
  tools.ask_versions();
  return tools;
}

std::string tiling_text(const NpuKernel& kernel) {
  std::string out =
      fmt::format("kernel @{} grid {} buffer_bytes {} modelled_us {:.2f}\n", kernel.name,
                  sym::text(kernel.choice.kernel.grid), kernel.choice.buffer_bytes, kernel.choice.us);
  for (size_t n = 0; n < kernel.choice.tilings.size(); ++n) {
    out += fmt::format("  nest tasks {}:", sym::text(kernel.choice.kernel.nests[n].tasks));
    for (const tile::npu::AxisTiling& axis : kernel.choice.tilings[n].axes) {
      const char* role = axis.is_inner ? "inner" : axis.in_tasks ? "tasks" : "loop";
      out += fmt::format(" {} {} x {}{}", role, axis.symbol.symbol_name(), axis.size,
                         axis.is_scalar ? " scalar" : "");
      out += fmt::format(" of {}{}", sym::text(axis.extent),
                         &axis == &kernel.choice.tilings[n].axes.back() ? "" : ",");
    }
    out += '\n';
  }
  return out;
}

namespace {

// Everything is tried at once; what the toolchain refuses is cut in the next way and tried again.
Status check_all(const loop::Program& program, const toolchain::Toolchain& tools,
                 const toolchain::ToolchainFlavor& flavor, const NpuOptions& options,
                 std::vector<Tried>& tried, NpuKernels& out) {
  std::vector<size_t> open;
  for (size_t k = 0; k < out.kernels.size(); ++k)
    if (!out.refused.contains(out.kernels[k].name)) open.push_back(k);
  const size_t total = open.size();
  while (!open.empty()) {
    std::vector<toolchain::TtirKernel> batch;
    for (const size_t k : open) batch.push_back({out.kernels[k].function, out.kernels[k].ttir});
    toolchain::CheckOptions check;
    check.threads = options.toolchain_threads;
    check.store = options.store;
    if (options.progress) {
      check.progress = [&, left = open.size()](const KernelCheck&, size_t done, size_t) {
        options.progress(total - left + done, total);
      };
    }
    JUMAR_ASSIGN(std::vector<KernelCheck> checks, toolchain::check_kernels(batch, tools, flavor, check));
    std::vector<size_t> again;
    for (size_t j = 0; j < open.size(); ++j) {
      NpuKernel& kernel = out.kernels[open[j]];
      kernel.check = std::move(checks[j]);
      kernel.is_checked = kernel.check.is_ok();
      if (kernel.is_checked) continue;
      kernel.rejected.push_back(kernel.check.failure()->text());
      Tried& state = tried[open[j]];
      if (state.next < state.tiled.choices.size()) {
        set_choice(program, state, kernel);
        again.push_back(open[j]);
      } else {
        out.refused[kernel.name] = std::string(kToolchainRefuses) + kernel.rejected.front();
      }
    }
    open = std::move(again);
  }
  return {};
}

}  // namespace

Result<NpuKernels> npu_kernels(loop::Program& program, const target::Target& target,
                               const toolchain::Toolchain* tools, const NpuOptions& options) {
  NpuKernels out;
  const tile::npu::NpuModel model = npu_model(target);
  std::vector<Tried> tried;
  std::set<std::string> functions;
  const auto start = std::chrono::steady_clock::now();
  for (const loop::Item& item : program.items) {
    const auto* kernel = std::get_if<loop::Kernel>(&item);
    if (kernel == nullptr) continue;
    NpuKernel& made = out.kernels.emplace_back();
    made.name = kernel->name;
    made.function = function_name(kernel->name, target.max_kernel_name, functions);
    made.origin = kernel->origin;
    Tried& state = tried.emplace_back();
    state.tiled = tile::npu::tile_npu(program, *kernel, model, options.most_choices);
    if (state.tiled.choices.empty())
      out.refused[kernel->name] = state.tiled.refusal;
    else
      set_choice(program, state, made);
  }
  out.tile_seconds = seconds_since(start);
  if (tools == nullptr) return out;
  const auto compiled = std::chrono::steady_clock::now();
  JUMAR_ASSIGN(const toolchain::ToolchainFlavor flavor, toolchain::flavor_of(target));
  JUMAR_RETURN_IF_ERROR(check_all(program, *tools, flavor, options, tried, out));
  out.toolchain_seconds = seconds_since(compiled);
  return out;
}

}  // namespace jumar::driver
