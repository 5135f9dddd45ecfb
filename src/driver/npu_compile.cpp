#include "driver/npu_compile.h"

#include <algorithm>
#include <set>

#include "driver/build_id.h"
#include "driver/device_report.h"
#include "emit/host/emit_plan.h"
#include "graph/op_traits.h"
#include "tile/npu/arguments.h"
#include "tile/npu/supports.h"
#include "tile/split_reduction.h"

namespace jumar::driver {
namespace {

// Rounds of taking apart and calling; each makes at least one kernel smaller.
constexpr int kMostRounds = 8;

Stages::LowerFor lowering_for(const target::Target& target) {
  Stages::LowerFor how;
  how.has_f64 = target.loads("f64");
  how.refuses = [&target](const loop::Program& program, const loop::Kernel& kernel) {
    std::optional<std::string> reason = tile::npu::unsupported(program, kernel, [&](ir::DType dtype) {
      return target.loads(ir::dtype_name(dtype)) && target.stores(ir::dtype_name(dtype));
    });
    if (reason) *reason = fmt::format("{}: {}", target.name, *reason);
    return reason;
  };
  return how;
}

// A device's kernels store to memory that nothing else holds.
Status check_updates(const graph::Graph& graph, const target::Target& target) {
  for (const graph::NodeId id : graph.order) {
    if (graph::is_update(graph.nodes[id]))
      return diagnostic("unsupported", "the graph updates an input, which kernels for {} do not",
                        target.name);
  }
  return {};
}

// A long reduction with few results is cut where its results keep less than half of the cores busy, and where
// one core's part takes longer than a second launch.
tile::SplitPolicy split_policy(const target::Target& target) {
  tile::SplitPolicy policy;
  policy.parallel = target.vector_cores;
  policy.results_per_unit = 8;
  policy.most_units = target.vector_cores / 2;
  policy.least_points = 65536;
  return policy;
}

// Kernels that have no points of any size are not made.
void drop_empty_kernels(loop::Program& program) {
  const auto is_empty = [](const loop::Nest& nest) {
    return std::ranges::any_of(nest.kept, [](const loop::Axis& axis) { return axis.extent.is_const(0); });
  };
  std::erase_if(program.items, [&](loop::Item& item) {
    auto* kernel = std::get_if<loop::Kernel>(&item);
    if (kernel == nullptr) return false;
    std::erase_if(kernel->nests, is_empty);
    return kernel->nests.empty();
  });
}

// Kernels count along an axis in 32 bits: each extent that may be more than that is checked once.
void add_size_checks(loop::Program& program, const NpuKernels& made) {
  sym::Context& cx = program.cx();
  const sym::Expr cores = tile::npu::vector_cores(cx);
  std::vector<loop::Item> items;
  std::set<std::string> checked;
  size_t next = 0;
  for (loop::Item& item : program.items) {
    if (std::holds_alternative<loop::Kernel>(item)) {
      for (const tile::npu::IntArgument& argument : made.kernels[next].choice.kernel.ints) {
        if (!argument.must_fit || sym::mentions(argument.value, cores)) continue;
        if (!checked.insert(sym::text(argument.value)).second) continue;
        items.push_back(loop::Check{
            cx.le(argument.value, cx.constant(tile::npu::kMostExtent)),
            fmt::format("kernel {}: {} is more than {}, which is the most that kernels of a "
                        "device count to along one axis",
                        made.kernels[next].name, sym::text(argument.value), tile::npu::kMostExtent)});
      }
      ++next;
    }
    items.push_back(std::move(item));
  }
  program.items = std::move(items);
}

// What must change after a round, or false if a kernel can't be helped.
void learn(const NpuKernels& made, const std::map<std::string, std::set<std::string>>& members,
           Stages::LowerFor& how, std::set<std::string>& apart, Report& report) {
  for (const auto& [name, reason] : made.refused) {
    const std::set<std::string>& parts = members.at(name);
    if (parts.size() > 1) {
      apart.insert(parts.begin(), parts.end());
      report.notes.push_back(fmt::format("kernel {} is taken apart: {}", name, reason));
    } else {
      how.call_kernels[*parts.begin()] = reason;
      report.notes.push_back(fmt::format("kernel {} is called: {}", name, reason));
    }
  }
}

}  // namespace

NpuSettings::NpuSettings(const Options& options, std::function<void(size_t done, size_t total)> progress) {
  npu.toolchain_threads = static_cast<int>(options.toolchain_threads());
  if (options.cache() && !options.resolved_cache_dir().empty() && !build_id().empty())
    npu.store = &store.emplace(options.resolved_cache_dir(), options.cache_size_bytes());
  if (options.costmodel()) npu.ranked_share = options.costmodel_ratio();
  npu.progress = std::move(progress);
}

emit::host::KernelLaunch npu_launch(const loop::Program& program, const NpuKernel& kernel) {
  sym::Context& cx = program.cx();
  const tile::npu::BlockKernel& block = kernel.choice.kernel;
  emit::host::KernelLaunch launch;
  launch.symbol = kernel.name;
  launch.buffers = block.buffers;
  for (const tile::npu::IntArgument& argument : block.ints) launch.ints.push_back(argument.value);
  launch.ints.insert(launch.ints.end(), {block.grid, cx.constant(1), cx.constant(1)});
  for (const loop::BufferId id : block.buffers)
    launch.ints.push_back(ir::storage_extent(cx, program.buffers[id].type));
  launch.numbers = block.numbers;
  launch.checks_indices = true;
  // Blocks that fold into memory run one after the other.
  launch.phases = {{block.grid, block.has_atomics ? cx.max(block.grid, cx.constant(1)) : cx.constant(1)}};
  return launch;
}

Result<plan::Plan> plan_for_npu(Stages& stages, loop::Program& program, const NpuKernels& made,
                                const target::Target& target) {
  JUMAR_RETURN_IF_ERROR(all_made(made, target));
  add_size_checks(program, made);
  stages.note_items(program);
  std::vector<emit::host::KernelLaunch> launches;
  for (const NpuKernel& kernel : made.kernels) launches.push_back(npu_launch(program, kernel));
  return stages.plan(program, launches);
}

Result<loop::Program> lowered_for_npu(Stages& stages, const graph::Graph& graph, const Device& device) {
  JUMAR_RETURN_IF_ERROR(check_updates(graph, device.target));
  return stages.lower(graph, lowering_for(device.target));
}

Result<NpuParts> compile_for_npu(Stages& stages, const graph::Graph& graph, const Device& device,
                                 const toolchain::Toolchain* tools, const NpuOptions& options,
                                 Report& report) {
  JUMAR_RETURN_IF_ERROR(check_updates(graph, device.target));
  Stages::LowerFor how = lowering_for(device.target);
  std::set<std::string> apart;
  for (int round = 0;; ++round) {
    JUMAR_ASSIGN(loop::Program program, stages.lower(graph, how));
    std::map<std::string, std::set<std::string>> members = stages.fuse(program, {apart, true});
    drop_empty_kernels(program);
    for (const auto& [chunk, whole] : tile::split_reductions(program, split_policy(device.target)))
      members[chunk] = members.at(whole);
    NpuKernels made;
    {
      const StageTimer timer(report, "kernels");
      JUMAR_ASSIGN(made, npu_kernels(program, device.target, tools, options));
    }
    note_refused(made, report);
    if (!made.refused.empty() && round < kMostRounds) {
      learn(made, members, how, apart, report);
      continue;
    }
    JUMAR_ASSIGN(plan::Plan plan, plan_for_npu(stages, program, made, device.target));
    return NpuParts{std::move(program), std::move(made), std::move(plan)};
  }
}

}  // namespace jumar::driver
