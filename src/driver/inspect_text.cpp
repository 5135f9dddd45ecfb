#include "driver/inspect_text.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "driver/size_text.h"

namespace jumar::driver {
namespace {

constexpr std::string_view kUsualOverload = ".default";

std::string counted(size_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string size_text(int64_t bytes) { return driver::size_text(static_cast<uint64_t>(bytes)); }

std::string constant_lines(const Inspection& rows) {
  std::string out;
  for (const ConstantsRow& row : rows.constants)
    out += fmt::format("  {}: {}, {}\n", kind_name(row.kind), row.count, driver::size_text(row.bytes));
  return out;
}

std::string ops_text(const std::vector<CountedOp>& ops) {
  std::string out;
  for (const CountedOp& row : ops) {
    std::string_view op = row.op;
    if (op.ends_with(kUsualOverload)) op.remove_suffix(kUsualOverload.size());
    if (!out.empty()) out += ", ";
    out += row.count == 1 ? std::string(op) : fmt::format("{}x {}", row.count, op);
  }
  return out;
}

std::string kernel_lines(const std::vector<KernelRow>& rows) {
  std::string out;
  for (const KernelRow& row : rows) {
    out += fmt::format("  {}: {}, {}{}, {}, {}{}\n", row.name,
                       counted(row.kernels.size(), "launch", "launches"), counted(row.nests, "nest", "nests"),
                       row.is_phased ? " in phases" : "", counted(row.stages, "stage", "stages"),
                       counted(row.lines, "line", "lines"), row.checks_indices ? ", checks indices" : "");
    if (!row.ops.empty()) out += fmt::format("    {}\n", ops_text(row.ops));
  }
  return out;
}

std::string call_lines(const std::vector<CallRow>& rows) {
  std::string out;
  for (const CallRow& row : rows) out += fmt::format("  {}x {}: {}\n", row.count, row.op, row.reason);
  return out;
}

size_t call_count(const PlanRows& rows) {
  size_t count = 0;
  for (const CallRow& row : rows.calls) count += row.count;
  return count;
}

// " at s0 = 2, s1 = 128", or nothing.
std::string at_sizes(const MemoryRows& memory) {
  std::vector<std::string> parts;
  for (const auto& [name, size] : memory.sizes) {
    const bool is_guessed = std::ranges::find(memory.guessed, name) != memory.guessed.end();
    parts.push_back(fmt::format("{} = {}{}", name, size, is_guessed ? " (a guess)" : ""));
  }
  return parts.empty() ? "" : fmt::format(" at {}", fmt::join(parts, ", "));
}

std::string memory_summary(const MemoryRows& memory) {
  const MemoryMap& map = memory.map;
  std::string out = fmt::format("memory of a call{}: peak {} at step {} ({})\n", at_sizes(memory),
                                size_text(map.peak_bytes), map.peak_step, memory.peak_at);
  out += fmt::format("  arena: {}, of which at most {} in use at once\n", size_text(map.arena_bytes),
                     size_text(map.arena_used_bytes));
  out += fmt::format("  inputs: {}\n", size_text(map.input_bytes));
  if (!memory.unknown.empty())
    out += fmt::format("  known only in the call: {}\n", counted(memory.unknown.size(), "buffer", "buffers"));
  return out;
}

std::string load_lines(const Inspection& rows) {
  if (!rows.folding) return "computed at load: nothing\n";
  std::string out =
      fmt::format("computed at load: {}, {}, by {} and {}\n", counted(rows.folded.size(), "value", "values"),
                  driver::size_text(rows.folded_bytes), counted(rows.folding->launches, "launch", "launches"),
                  counted(call_count(*rows.folding), "call", "calls"));
  return out + value_lines(rows.folded);
}

std::string libtorch_lines(const LibtorchRows& rows) {
  const std::string out =
      fmt::format("runs without libtorch: {}, {}\n", rows.is_needed ? "no" : "yes", rows.why);
  return rows.is_needed ? out + call_lines(rows.obstacles) : out;
}

std::string head_lines(const PackageView& view) {
  std::string out = fmt::format("{}: a package of jumar compile\n", view.file);
  out += fmt::format("jumar: {}, build {}\n", fact(view, "jumar"), fact(view, "build"));
  out += fmt::format("exported by: torch {}\n", fact(view, "torch"));
  out += fmt::format("compiled for: {}\n", view.target);
  if (!view.manifest.cpu_features.empty())
    out += fmt::format("needs: {}\n", fmt::join(view.manifest.cpu_features, " "));
  out += fmt::format("provider: {}\n", view.manifest.provider);
  out += fmt::format("checks arguments: {}\n", view.manifest.checks_arguments ? "yes" : "no");
  if (view.device) {
    const auto linked = std::ranges::count_if(
        view.device->kernels, [](const DeviceKernel& kernel) { return !kernel.binary.empty(); });
    out += fmt::format("kernels of the device: {}, of which {} are linked\n", view.device->kernels.size(),
                       linked);
  }
  return out + fmt::format("size: {}; library {}, weights {}\n", driver::size_text(view.file_bytes),
                           driver::size_text(view.library_bytes),
                           driver::size_text(view.manifest.weights_bytes));
}

}  // namespace

std::string value_lines(const std::vector<ValueRow>& rows) {
  std::string out;
  for (const ValueRow& row : rows)
    out += fmt::format("  {}: {}{}\n", row.name, row.type,
                       row.note.empty() ? "" : fmt::format(" ({})", row.note));
  return out;
}

std::string symbol_lines(const std::vector<SymbolRow>& rows) {
  std::string out;
  for (const SymbolRow& row : rows) {
    const bool has_end = row.range.hi != sym::Range::kMax;
    out += fmt::format("  {} in [{}, {}]{}\n", row.name, row.range.lo,
                       has_end ? std::to_string(row.range.hi) : "inf",
                       row.hint ? fmt::format(", hint {}", *row.hint) : "");
  }
  return out;
}

std::string overview_text(const PackageView& view, const Inspection& rows) {
  std::string out = head_lines(view) + "\n";
  out += fmt::format("inputs: {}\n", rows.inputs.size()) + value_lines(rows.inputs);
  if (!rows.symbols.empty())
    out += fmt::format("sizes: {}\n", rows.symbols.size()) + symbol_lines(rows.symbols);
  out += fmt::format("results: {}\n", rows.results.size()) + value_lines(rows.results);
  if (!rows.changes.empty()) out += fmt::format("changed by calls: {}\n", fmt::join(rows.changes, ", "));
  out += fmt::format("constants: {}\n", view.manifest.constants.size()) + constant_lines(rows) + "\n";
  out += fmt::format("kernels: {}, launched {}\n", rows.main.kernels.size(),
                     counted(rows.main.launches, "time", "times"));
  out += kernel_lines(rows.main.kernels);
  out += fmt::format("called operators: {}\n", call_count(rows.main)) + call_lines(rows.main.calls);
  out += load_lines(rows) + memory_summary(rows.main.memory);
  const Report& report = view.report;
  out += fmt::format("fusions: {} inlined, {} merged, {} siblings, {} joined\n", report.inlined,
                     report.merged, report.siblings, report.joined);
  out += fmt::format("refused fusions: {}\n", report.refusals.size());
  out += libtorch_lines(rows.libtorch);
  if (!rows.proxied.empty()) out += fmt::format("runs in torch's loader only:\n{}", call_lines(rows.proxied));
  return out;
}

Result<std::string> kernels_text(const ProgramView& view, const PlanRows& rows,
                                 const std::vector<std::string>& names) {
  std::vector<const KernelRow*> wanted;
  for (const KernelRow& row : rows.kernels)
    if (names.empty()) wanted.push_back(&row);
  for (const std::string& name : names) {
    const auto found = std::ranges::find_if(rows.kernels, [&](const KernelRow& row) {
      return row.name == name || std::ranges::find(row.kernels, name) != row.kernels.end();
    });
    if (found == rows.kernels.end()) {
      std::vector<std::string> known;
      for (const KernelRow& row : rows.kernels) known.push_back(row.name);
      return diagnostic("input", "there is no kernel '{}'; there are {}", name, fmt::join(known, ", "));
    }
    wanted.push_back(&*found);
  }
  std::string out;
  for (const KernelRow* row : wanted) {
    std::set<std::string> others(row->kernels.begin(), row->kernels.end());
    others.erase(row->name);
    out += fmt::format("# {}", counted(row->kernels.size(), "launch", "launches"));
    if (!others.empty()) out += fmt::format("; the code of {} too", fmt::join(others, ", "));
    out += '\n';
    out += loop::write_kernel(view.program, *row->first);
  }
  return out;
}

std::string memory_text(const MemoryRows& memory) {
  std::string out = memory_summary(memory);
  out +=
      fmt::format("{:>14} {:>14} {:>6} {:>6}  {:<6}  buffer\n", "bytes", "offset", "first", "last", "where");
  for (const BufferRow& row : memory.buffers) {
    const bool in_arena = row.block.place == MemoryBlock::Place::kArena;
    out += fmt::format("{:>14} {:>14} {:>6} {:>6}  {:<6}  %{}: {}\n", row.block.bytes,
                       in_arena ? std::to_string(row.block.offset) : "-", row.block.first, row.block.last,
                       place_name(row.block.place), row.name, row.type);
  }
  for (const BufferRow& row : memory.unknown)
    out += fmt::format("{:>14} {:>14} {:>6} {:>6}  {:<6}  %{}: {}\n", "?", "-", "?", "?", "?", row.name,
                       row.type);
  return out;
}

std::string refusals_text(const Report& report) {
  std::string out;
  for (const Report::Refusal& refusal : report.refusals)
    out += fmt::format("not fused: {} into {}: {}\n", refusal.producer, refusal.consumer, refusal.reason);
  return out;
}

std::string fact(const PackageView& view, std::string_view key) {
  for (const auto& [name, value] : view.manifest.facts)
    if (name == key) return value;
  return "";
}

std::string_view kind_name(runtime::package::Constant::Kind kind) {
  switch (kind) {
    case runtime::package::Constant::Kind::kParameter:
      return "parameter";
    case runtime::package::Constant::Kind::kBuffer:
      return "buffer";
    case runtime::package::Constant::Kind::kLifted:
      return "lifted constant";
  }
  return "constant";
}

std::string_view place_name(MemoryBlock::Place place) {
  switch (place) {
    case MemoryBlock::Place::kArena:
      return "arena";
    case MemoryBlock::Place::kOutput:
      return "output";
    case MemoryBlock::Place::kResult:
      return "result";
  }
  return "?";
}

}  // namespace jumar::driver
