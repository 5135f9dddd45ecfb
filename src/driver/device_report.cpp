#include "driver/device_report.h"

#include <algorithm>

#include "tile/npu/walk.h"

namespace jumar::driver {
namespace {

void write_texts(JsonWriter& json, std::string_view key, const std::vector<std::string>& texts) {
  json.key(key).list();
  for (const std::string& text : texts) json.text(text);
  json.end();
}

void write_ranking(JsonWriter& json, const NpuKernel& kernel) {
  json.key("ranking").list();
  for (const RankedChoice& row : kernel.ranking) {
    json.object().key("choice").count(row.number).key("modelled_us").real(row.modelled_us);
    json.key("ub_modelled_bytes").number(row.buffer_bytes);
    if (row.is_counted) json.key("hivm_us").real(row.hivm_us);
    json.end();
  }
  json.end();
}

// Whether a task goes along an axis that it folds in several blocks.
bool loops_fold(const NpuKernel& kernel) {
  return std::ranges::any_of(kernel.choice.tilings, [](const tile::npu::NestTiling& nest) {
    return std::ranges::any_of(nest.axes, [](const tile::npu::AxisTiling& axis) {
      return axis.is_inner && !axis.extent.is_const(axis.size);
    });
  });
}

// Whether an access goes by an index: a gather or a scatter.
bool finds(const NpuKernel& kernel) {
  bool found = false;
  for (const tile::npu::BlockNest& nest : kernel.choice.kernel.nests)
    tile::npu::for_each_inst(
        nest.body, [&](const tile::npu::BlockInst& inst) { found = found || inst.access.index.valid(); });
  return found;
}

void write_made(JsonWriter& json, const NpuKernel& kernel) {
  const toolchain::CompileReport& compiled = kernel.check.compiled;
  json.key("stage").text(kernel.is_checked ? toolchain::stage_text(compiled.stage) : "not checked");
  json.key("choice").count(kernel.choice_number);
  write_texts(json, "rejected", kernel.rejected);
  json.key("grid").text(sym::text(kernel.choice.kernel.grid)).key("tiling").text(tiling_text(kernel));
  json.key("loops_fold").boolean(loops_fold(kernel)).key("finds").boolean(finds(kernel));
  json.key("ub_modelled_bytes").number(kernel.choice.buffer_bytes);
  json.key("ub_unshared_bytes").number(kernel.choice.unshared_bytes);
  json.key("ub_bytes").number(compiled.ub_bytes);
  json.key("modelled_us").real(kernel.choice.us).key("tile_ms").real(kernel.tile_seconds * 1e3);
  json.key("toolchain_ms").real((kernel.check.adapted.seconds + compiled.seconds) * 1e3);
  json.key("dropped_code_motion").boolean(compiled.dropped_code_motion);
  json.key("dropped_multi_buffer").boolean(compiled.dropped_multi_buffer);
}

void write_counts(JsonWriter& json, const DeviceLaunch& launch) {
  json.key("counts").object();
  json.key("least_bytes")
      .number(launch.least.bytes())
      .key("broadcast_bytes")
      .number(launch.least.broadcast_bytes);
  if (launch.traffic) {
    const toolchain::HivmWork& total = launch.traffic->total;
    json.key("gm_bytes").number(launch.bytes()).key("programs").number(launch.grid[0]);
    json.key("cores_used").number(launch.cores_used());
    json.key("least_bytes_on_cores").number(launch.least_bytes_on_cores());
    json.key("vector_calls").number(total.vector_calls).key("scalar_elements").number(total.scalar_elements);
    json.key("local_scalar_accesses").number(total.local_scalar_accesses);
    json.key("gm_scalar_accesses").number(total.gm_scalar_accesses);
    write_texts(json, "scalar_reasons", launch.scalar_reasons);
    json.key("hivm_us").real(launch.time.seconds * 1e6).key("bound").text(launch.time.bound);
  } else {
    json.key("not_counted").text(launch.not_counted);
  }
  json.end();
}

}  // namespace

void note_refused(const NpuKernels& made, Report& report) {
  for (const auto& [name, reason] : made.refused) {
    JsonWriter json;
    json.object().key("name").text(name).key("stage").text("refused").key("reason").text(reason).end();
    report.device_kernels.push_back(json.take());
  }
}

Status note_device_kernels(const NpuParts& parts, const target::Target& target, const Options& options,
                           Report& report) {
  std::map<std::string_view, DeviceLaunch> launches;
  if (options.count_kernels()) {
    const StageTimer timer(report, "count");
    const Device device{target, target::all_cores(target), {}};
    JUMAR_ASSIGN(std::vector<DeviceLaunch> made, device_launches(parts, device, hinted_sizes(parts.program)));
    for (DeviceLaunch& launch : made) launches.emplace(launch.kernel->name, std::move(launch));
  }
  for (const NpuKernel& kernel : parts.kernels.kernels) {
    JsonWriter json;
    json.object().key("name").text(kernel.name);
    write_made(json, kernel);
    write_ranking(json, kernel);
    if (const auto launch = launches.find(kernel.name); launch != launches.end())
      write_counts(json, launch->second);
    json.end();
    report.device_kernels.push_back(json.take());
  }
  return {};
}

}  // namespace jumar::driver
