#include "driver/device_json.h"

#include <cmath>

#include "driver/build_id.h"
#include "driver/inspect_json.h"

namespace jumar::driver {
namespace {

constexpr toolchain::ToolKind kTools[] = {toolchain::ToolKind::kAdapter, toolchain::ToolKind::kCompiler,
                                          toolchain::ToolKind::kCompilerA5, toolchain::ToolKind::kLinker,
                                          toolchain::ToolKind::kLinkerA5};

void write(JsonWriter& json, std::string_view key, std::span<const std::string> texts) {
  json.key(key).list();
  for (const std::string& text : texts) json.text(text);
  json.end();
}

void write(JsonWriter& json, std::string_view key, std::span<const int64_t> numbers) {
  json.key(key).list();
  for (const int64_t number : numbers) json.number(number);
  json.end();
}

class Writer {
 public:
  explicit Writer(const DeviceJson& facts) : facts_(facts) {}

  std::string write() {
    json_.object().key("format").text(kDeviceProjectFormat);
    json_.key("jumar").text(kVersion).key("build").text(build_id());
    device();
    tools();
    json_.key("sizes").object();
    for (const auto& [name, size] : facts_.sizes) json_.key(name).number(size);
    json_.end();
    driver::write(json_, "emitted", facts_.stages);
    launches("launches", {facts_.parts, facts_.launches, ""});
    if (facts_.at_load) launches("at_load", *facts_.at_load);
    json_.key("calls").list();
    for (const Report::Call& call : facts_.report.calls)
      json_.object()
          .key("op")
          .text(call.op)
          .key("reason")
          .text(call.reason)
          .key("count")
          .count(call.count)
          .end();
    json_.end();
    driver::write(json_, "notes", facts_.report.notes);
    json_.end();
    return json_.take();
  }

 private:
  void device() {
    const target::Target& target = facts_.device.target;
    const target::CoreLimit& limit = facts_.device.limit;
    json_.key("target").object().key("name").text(target.name).key("family").text(target.family);
    json_.key("cube_cores").number(target.cube_cores).key("vector_cores").number(target.vector_cores);
    json_.key("ub_usable_bytes").number(target.ub_usable_bytes).end();
    json_.key("core_limit").object().key("cube").number(limit.cube_cores);
    json_.key("vector").number(limit.vector_cores).end();
  }

  void tools() {
    json_.key("toolchain").list();
    for (const toolchain::ToolKind kind : kTools) {
      const toolchain::Tool* tool = facts_.tools.find(kind);
      if (tool == nullptr) continue;
      json_.object().key("program").text(toolchain::program_of(kind)).key("version").text(tool->version);
      json_.key("origin").text(tool->origin).end();
    }
    json_.end();
  }

  void launches(std::string_view key, const PlanLaunches& of) {
    json_.key(key).list();
    for (const DeviceLaunch& row : of.launches) launch(of, row);
    json_.end();
  }

  void launch(const PlanLaunches& of, const DeviceLaunch& row) {
    const NpuKernel& kernel = *row.kernel;
    json_.object()
        .key("kernel")
        .text(std::string(of.prefix) + kernel.name)
        .key("function")
        .text(kernel.function);
    write_json(json_, "ops", counted_ops(kernel.origin));
    json_.key("files").object();
    for (const std::string& stage : facts_.stages) json_.key(stage).text(stage_file(kernel, stage));
    json_.end();
    driver::write(json_, "grid", row.grid);
    arguments(of.parts.program, row);
    json_.key("tiling").list();
    for (size_t n = 0; n < kernel.choice.tilings.size(); ++n)
      nest(kernel.choice.kernel.nests[n], kernel.choice.tilings[n]);
    json_.end();
    memory(row);
    costs(row);
    toolchain(kernel);
    json_.end();
  }

  void arguments(const loop::Program& program, const DeviceLaunch& row) {
    const tile::npu::BlockKernel& block = row.kernel->choice.kernel;
    json_.key("arguments").list();
    for (const loop::BufferId id : block.buffers) {
      const loop::Buffer& buffer = program.buffers[id];
      json_.object().key("buffer").text(buffer.name).key("dtype").text(ir::dtype_name(buffer.type.dtype));
      json_.key("type").text(ir::text(program.cx(), buffer.type));
      json_.key("use").text(use_of(*row.loops, id)).end();
    }
    json_.end();
    driver::write(json_, "scalars", row.scalars);
    json_.key("scalar_expressions").list();
    for (const tile::npu::IntArgument& argument : block.ints) json_.text(sym::text(argument.value));
    json_.end();
    json_.key("scalar_types").list();
    for (const tile::npu::IntArgument& argument : block.ints) json_.text(argument.is_wide ? "i64" : "i32");
    json_.end();
    json_.key("numbers").list();
    for (const loop::NumberId id : block.numbers) json_.text(program.numbers[id].name);
    json_.end();
    json_.key("atomic").boolean(block.has_atomics);
  }

  void nest(const tile::npu::BlockNest& block, const tile::npu::NestTiling& tiling) {
    json_.object().key("tasks").text(sym::text(block.tasks)).key("axes").list();
    for (const tile::npu::AxisTiling& axis : tiling.axes) {
      json_.object().key("axis").text(axis.symbol.symbol_name()).key("extent").text(sym::text(axis.extent));
      json_.key("block").number(axis.size).key("role").text(role_of(axis));
      json_.key("one_by_one").boolean(axis.is_scalar).end();
    }
    json_.end().end();
  }

  void memory(const DeviceLaunch& row) {
    json_.key("ub_modelled_bytes").number(row.kernel->choice.buffer_bytes);
    json_.key("ub_unshared_bytes").number(row.kernel->choice.unshared_bytes);
    json_.key("ub_bytes").number(row.kernel->check.compiled.ub_bytes);
    json_.key("least_read_bytes").number(row.least.read_bytes);
    json_.key("least_written_bytes").number(row.least.written_bytes);
    json_.key("least_bytes").number(row.least.bytes());
    json_.key("broadcast_bytes").number(row.least.broadcast_bytes);
  }

  void costs(const DeviceLaunch& row) {
    json_.key("tile_modelled_ns").number(std::llround(row.kernel->choice.us * 1e3));
    if (!row.traffic) {
      json_.key("not_counted").text(row.not_counted);
      return;
    }
    const toolchain::HivmWork& total = row.traffic->total;
    json_.key("gm_read_bytes").number(total.read_bytes).key("gm_written_bytes").number(total.written_bytes);
    json_.key("gm_bytes").number(row.bytes());
    ratio("ratio_to_least", row.ratio());
    ratio("ratio_with_broadcast", row.ratio_with_broadcast());
    json_.key("vector_calls").number(total.vector_calls);
    json_.key("scalar_elements").number(total.scalar_elements);
    driver::write(json_, "scalar_reasons", row.scalar_reasons);
    json_.key("cores_used").number(row.cores_used());
    json_.key("modelled_ns").number(std::llround(row.time.seconds * 1e9));
    json_.key("bound").text(row.time.bound);
    json_.key("traffic").object();
    toolchain::write_members(json_, *row.traffic);
    json_.end();
  }

  void ratio(std::string_view key, std::optional<double> value) {
    json_.key(key);
    if (value)
      json_.real(*value);
    else
      json_.null();
  }

  void toolchain(const NpuKernel& kernel) {
    const toolchain::CompileReport& compiled = kernel.check.compiled;
    json_.key("stage").text(kernel.is_checked ? toolchain::stage_text(compiled.stage) : "not checked");
    if (kernel.has_linalg()) json_.key("mix_mode").text(kernel.check.adapted.linalg->mix_mode);
    json_.key("dropped_code_motion").boolean(compiled.dropped_code_motion);
    json_.key("dropped_multi_buffer").boolean(compiled.dropped_multi_buffer);
    json_.key("workspace_bytes").number(compiled.needs.workspace_bytes.value_or(0));
    json_.key("locks").number(compiled.needs.lock_count.value_or(0));
    json_.key("retries").count(kernel.rejected.size());
    driver::write(json_, "rejected", kernel.rejected);
  }

  const DeviceJson& facts_;
  JsonWriter json_;
};

}  // namespace

std::string device_json(const DeviceJson& facts) { return Writer(facts).write() + "\n"; }

std::string stage_file(const NpuKernel& kernel, std::string_view stage) {
  const std::string_view ending = stage == "loop" ? "" : stage == "triton" ? ".py" : ".mlir";
  return fmt::format("{}.{}{}", kernel.function, stage, ending);
}

}  // namespace jumar::driver
