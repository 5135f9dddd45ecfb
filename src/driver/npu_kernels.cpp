#include "driver/npu_kernels.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cmath>
#include <ctime>
#include <map>
#include <set>

#include "driver/kernel_counts.h"
#include "driver/toolchain/hivm_time.h"
#include "emit/ttir/emit_ttir.h"

namespace jumar::driver {
namespace {

using toolchain::KernelCheck;

// Of this thread's work, whatever else the machine does.
double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

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

// What kernels are called while the toolchain has them.
constexpr std::string_view kNoKernel = kBinaryFunction;

// The text with a function's name changed, and the names that the toolchain derives from it by endings.
std::string renamed(std::string_view text, std::string_view from, std::string_view to) {
  const std::string mark = "@" + std::string(from);
  std::string out;
  while (true) {
    const size_t at = text.find(mark);
    if (at == std::string_view::npos) return out + std::string(text);
    out.append(text.substr(0, at + 1)).append(to);
    text.remove_prefix(at + mark.size());
  }
}

KernelCheck named(KernelCheck check, const std::string& function) {
  check.name = function;
  if (check.adapted.linalg)
    check.adapted.linalg->text = renamed(check.adapted.linalg->text, kNoKernel, function);
  check.compiled.hivm = renamed(check.compiled.hivm, kNoKernel, function);
  return check;
}

struct Tried {
  const loop::Kernel* loops = nullptr;
  tile::npu::TiledKernel tiled;
  bool has_all = false;  // else only the first choice has been looked for
  size_t next = 0;       // choices before it have been tried
};

// A choice as TTIR.
std::string ttir_of(const loop::Program& program, const NpuKernel& kernel, tile::npu::Choice& choice) {
  choice.kernel.name = kernel.function;
  return emit::ttir::emit_ttir(program, choice.kernel);
}

}  // namespace

tile::npu::NpuModel npu_model(const target::Target& target) {
  tile::npu::NpuModel model;
  // Both models of time have the target's constants by one reading of them; this one counts in microseconds.
  const toolchain::HivmCosts costs = toolchain::costs_of(target);
  constexpr double kPerSecond = 1e6;
  model.vector_cores = target.vector_cores;
  model.buffer_bytes = target.ub_usable_bytes;
  model.align_bytes = target.align_bytes;
  // The toolchain decides by this flag alone.
  const bool is_multi = std::ranges::find(target.compiler_flags, "--enable-auto-multi-buffer=true") !=
                        target.compiler_flags.end();
  model.multi_buffer = is_multi ? 2 : 1;
  model.has_vector_functions =
      toolchain::tool_from_program(target.compiler) == toolchain::ToolKind::kCompilerA5;
  model.vector_bytes = target.vector_bytes;
  model.divides_i32 = !target.inexact_division("i32");
  model.core_bytes_per_us = costs.core_bytes_per_second / kPerSecond;
  model.device_bytes_per_us = costs.device_bytes_per_second / kPerSecond;
  model.burst_bytes = costs.burst_bytes;
  model.transfer_us = costs.transfer_seconds * kPerSecond;
  model.sync_us = costs.flag_seconds * kPerSecond;
  model.instruction_us = costs.vector_call_seconds * kPerSecond;
  model.vector_us = static_cast<double>(target.vector_bytes) / costs.vector_bytes_per_second * kPerSecond;
  model.barrier_us = costs.barrier_seconds * kPerSecond;
  model.round_us = target.cost().loop_us.value;
  model.scalar_us = costs.scalar_element_seconds * kPerSecond;
  model.memory_scalar_us = costs.gm_scalar_seconds * kPerSecond;
  model.start_us = costs.program_seconds * kPerSecond;
  return model;
}

std::string anonymous_linalg(const NpuKernel& kernel) {
  return renamed(kernel.linalg(), kernel.function, kNoKernel);
}

Result<toolchain::Toolchain> needed_toolchain(const Options& options, const target::Target& target) {
  toolchain::Toolchain tools = toolchain::toolchain_of(options, process_environment());
  JUMAR_ASSIGN(const toolchain::ToolchainFlavor flavor, toolchain::flavor_of(target));
  for (const toolchain::ToolKind kind : {toolchain::ToolKind::kAdapter, flavor.compiler})
    if (tools.find(kind) == nullptr) return tools.missing(kind);
  tools.ask_versions();
  return tools;
}

Status all_made(const NpuKernels& made, const target::Target& target) {
  if (made.refused.empty()) return {};
  const auto& [name, reason] = *made.refused.begin();
  return diagnostic("unsupported", "kernel {} can't be made for {}: {}", name, target.name, reason);
}

std::string_view role_of(const tile::npu::AxisTiling& axis) {
  return axis.is_inner ? "inner" : axis.in_tasks ? "tasks" : "loop";
}

std::string tiling_text(const NpuKernel& kernel) {
  std::string out =
      fmt::format("kernel @{} grid {} buffer_bytes {} modelled_us {:.2f}\n", kernel.name,
                  sym::text(kernel.choice.kernel.grid), kernel.choice.buffer_bytes, kernel.choice.us);
  for (size_t n = 0; n < kernel.choice.tilings.size(); ++n) {
    out += fmt::format("  nest tasks {}:", sym::text(kernel.choice.kernel.nests[n].tasks));
    for (const tile::npu::AxisTiling& axis : kernel.choice.tilings[n].axes) {
      out += fmt::format(" {} {} x {}{}", role_of(axis), axis.symbol.symbol_name(), axis.size,
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
class Checker {
 public:
  Checker(loop::Program& program, const target::Target& target, const toolchain::Toolchain& tools,
          const NpuOptions& options, std::vector<Tried>& tried, NpuKernels& out)
      : program_(program),
        target_(target),
        tools_(tools),
        options_(options),
        tried_(tried),
        out_(out),
        sizes_(hinted_sizes(program)),
        costs_(toolchain::costs_of(target)) {}

  Status run() {
    JUMAR_ASSIGN(const toolchain::ToolchainFlavor flavor, toolchain::flavor_of(target_));
    std::vector<size_t> open;
    for (size_t k = 0; k < out_.kernels.size(); ++k)
      if (!out_.refused.contains(out_.kernels[k].name)) open.push_back(k);
    const size_t total = open.size();
    for (bool is_first = true; !open.empty(); is_first = false) {
      std::vector<Attempt> attempts = attempts_of(open, is_first);
      JUMAR_ASSIGN(std::vector<KernelCheck> checks, checked(attempts, flavor, total - open.size(), total));
      for (size_t a = 0; a < attempts.size(); ++a) learn(attempts[a], std::move(checks[a]));
      std::erase_if(open, [&](size_t k) { return is_settled(k); });
    }
    return {};
  }

 private:
  struct Attempt {
    size_t kernel = 0;
    size_t number = 0;
    std::string ttir;
    bool is_ranked = false;
  };

  std::vector<Attempt> attempts_of(const std::vector<size_t>& open, bool is_first) {
    std::vector<Attempt> out;
    for (const size_t k : open) {
      Tried& state = tried_[k];
      const size_t all = state.tiled.choices.size();
      const bool is_ranked = is_first && options_.ranked_share.has_value();
      const double share = is_ranked ? std::ceil(static_cast<double>(all) * *options_.ranked_share) : 1;
      const size_t count = std::clamp<size_t>(static_cast<size_t>(share), 1, all - state.next);
      for (size_t c = 0; c < count; ++c, ++state.next)
        out.push_back(
            {k, state.next, ttir_of(program_, out_.kernels[k], state.tiled.choices[state.next]), is_ranked});
    }
    return out;
  }

  Result<std::vector<KernelCheck>> checked(const std::vector<Attempt>& attempts,
                                           const toolchain::ToolchainFlavor& flavor, size_t done_before,
                                           size_t total) const {
    // Kernels that differ in their names only are compiled once, under a name of no kernel.
    std::vector<toolchain::TtirKernel> batch;
    std::map<std::string, size_t> known;
    std::vector<size_t> place;
    for (const Attempt& attempt : attempts) {
      std::string text = renamed(attempt.ttir, out_.kernels[attempt.kernel].function, kNoKernel);
      const auto [it, is_new] = known.try_emplace(std::move(text), batch.size());
      if (is_new) batch.push_back({std::string(kNoKernel), it->first});
      place.push_back(it->second);
    }
    toolchain::CheckOptions check;
    check.threads = options_.toolchain_threads;
    check.store = options_.store;
    if (options_.progress) {
      check.progress = [&](const KernelCheck&, size_t done, size_t count) {
        options_.progress(done_before + done * (total - done_before) / count, total);
      };
    }
    JUMAR_ASSIGN(const std::vector<KernelCheck> made, toolchain::check_kernels(batch, tools_, flavor, check));
    std::vector<KernelCheck> out;
    for (size_t a = 0; a < attempts.size(); ++a)
      out.push_back(named(made[place[a]], out_.kernels[attempts[a].kernel].function));
    return out;
  }

  void learn(const Attempt& attempt, KernelCheck check) {
    NpuKernel& kernel = out_.kernels[attempt.kernel];
    tile::npu::Choice& choice = tried_[attempt.kernel].tiled.choices[attempt.number];
    if (!check.is_ok()) kernel.rejected.push_back(check.failure()->text());
    RankedChoice row{attempt.number, choice.us, 0, choice.buffer_bytes, false};
    if (check.is_ok() && attempt.is_ranked) {
      const std::optional<double> us = hivm_us(choice, check);
      row.is_counted = us.has_value();
      row.hivm_us = us.value_or(0);
    }
    if (attempt.is_ranked) kernel.ranking.push_back(row);
    if (kernel.is_checked && !(check.is_ok() && is_better(kernel, row))) return;
    kernel.is_checked = check.is_ok();
    kernel.check = std::move(check);
    kernel.choice = std::move(choice);
    kernel.choice_number = attempt.number;
    kernel.ttir = attempt.ttir;
  }

  // Than the choice of the kernel that stands. Of those that can't be counted, the first stands.
  static bool is_better(const NpuKernel& kernel, const RankedChoice& row) {
    const auto now = std::ranges::find(kernel.ranking, kernel.choice_number, &RankedChoice::number);
    return row.is_counted && now != kernel.ranking.end() && (!now->is_counted || row.hivm_us < now->hivm_us);
  }

  std::optional<double> hivm_us(const tile::npu::Choice& choice, const KernelCheck& check) const {
    const target::CoreLimit cores = target::all_cores(target_);
    const Result<LaunchNumbers> numbers = launch_numbers(program_, choice.kernel, cores.vector_cores, sizes_);
    if (!numbers.ok()) return std::nullopt;
    const Result<toolchain::HivmTraffic> traffic = counted(check, *numbers, cores);
    if (!traffic.ok()) return std::nullopt;
    return toolchain::estimated_time(*traffic, costs_).seconds * 1e6;
  }

  bool is_settled(size_t k) {
    NpuKernel& kernel = out_.kernels[k];
    if (kernel.is_checked) return true;
    Tried& state = tried_[k];
    if (!state.has_all) {
      state.tiled = tile::npu::tile_npu(program_, *state.loops, npu_model(target_), options_.most_choices);
      state.has_all = true;
    }
    if (state.next < state.tiled.choices.size()) return false;
    out_.refused[kernel.name] = std::string(kToolchainRefuses) + kernel.rejected.front();
    return true;
  }

  loop::Program& program_;
  const target::Target& target_;
  const toolchain::Toolchain& tools_;
  const NpuOptions& options_;
  std::vector<Tried>& tried_;
  NpuKernels& out_;
  SizeValues sizes_;
  toolchain::HivmCosts costs_;
};

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
    const double begin = cpu_seconds();
    state.loops = kernel;
    state.has_all = options.ranked_share.has_value() || options.most_choices <= 1;
    state.tiled = tile::npu::tile_npu(program, *kernel, model, state.has_all ? options.most_choices : 1);
    if (state.tiled.choices.empty())
      out.refused[kernel->name] = state.tiled.refusal;
    else
      made.ttir = ttir_of(program, made, state.tiled.choices.front());
    made.tile_seconds = cpu_seconds() - begin;
  }
  out.tile_seconds = seconds_since(start);
  if (tools == nullptr) {
    for (size_t k = 0; k < tried.size(); ++k)
      if (!tried[k].tiled.choices.empty()) out.kernels[k].choice = std::move(tried[k].tiled.choices.front());
    return out;
  }
  const auto compiled = std::chrono::steady_clock::now();
  JUMAR_RETURN_IF_ERROR(Checker(program, target, *tools, options, tried, out).run());
  out.toolchain_seconds = seconds_since(compiled);
  return out;
}

}  // namespace jumar::driver
