#include "driver/inspect_json.h"

#include "driver/inspect_text.h"

namespace jumar::driver {
namespace {

void write(JsonWriter& json, std::string_view key, const std::vector<std::string>& texts) {
  json.key(key).list();
  for (const std::string& text : texts) json.text(text);
  json.end();
}

void write(JsonWriter& json, std::string_view key, const std::vector<int64_t>& numbers) {
  json.key(key).list();
  for (const int64_t number : numbers) json.number(number);
  json.end();
}

void write(JsonWriter& json, std::string_view key, const std::vector<CallRow>& rows) {
  json.key(key).list();
  for (const CallRow& row : rows) {
    json.object().key("op").text(row.op).key("reason").text(row.reason).key("count").count(row.count).end();
  }
  json.end();
}

void write(JsonWriter& json, const std::vector<runtime::package::Constant>& constants) {
  json.key("constants").list();
  for (const runtime::package::Constant& constant : constants) {
    json.object().key("name").text(constant.fqn).key("kind").text(kind_name(constant.kind));
    json.key("dtype").text(ir::dtype_name(constant.dtype));
    write(json, "sizes", constant.sizes);
    write(json, "strides", constant.strides);
    json.key("bytes").count(constant_bytes(constant)).key("offset").count(constant.offset_bytes).end();
  }
  json.end();
}

void write(JsonWriter& json, const loop::Program& program, const std::vector<KernelRow>& rows) {
  json.key("kernels").list();
  for (const KernelRow& row : rows) {
    json.object().key("name").text(row.name);
    write(json, "kernels", row.kernels);
    json.key("launches").count(row.kernels.size()).key("nests").count(row.nests);
    json.key("stages").count(row.stages).key("lines").count(row.lines);
    json.key("phased").boolean(row.is_phased).key("checks_indices").boolean(row.checks_indices);
    write_json(json, "ops", row.ops);
    json.key("loops").text(loop::write_kernel(program, *row.first)).end();
  }
  json.end();
}

void write(JsonWriter& json, const MemoryRows& memory) {
  json.key("memory").object().key("sizes").object();
  for (const auto& [name, size] : memory.sizes) json.key(name).number(size);
  json.end();
  write(json, "guessed", memory.guessed);
  const MemoryMap& map = memory.map;
  json.key("arena_bytes").number(map.arena_bytes).key("arena_used_bytes").number(map.arena_used_bytes);
  json.key("peak_bytes").number(map.peak_bytes).key("peak_step").count(map.peak_step);
  json.key("peak_at").text(memory.peak_at).key("input_bytes").number(map.input_bytes);
  json.key("buffers").list();
  for (const BufferRow& row : memory.buffers) {
    json.object().key("name").text(row.name).key("type").text(row.type);
    json.key("where").text(place_name(row.block.place)).key("bytes").number(row.block.bytes);
    if (row.block.place == MemoryBlock::Place::kArena) json.key("offset").number(row.block.offset);
    json.key("first_step").count(row.block.first).key("last_step").count(row.block.last).end();
  }
  json.end().key("unknown").list();
  for (const BufferRow& row : memory.unknown)
    json.object().key("name").text(row.name).key("type").text(row.type).end();
  json.end().end();
}

void write(JsonWriter& json, const ProgramView& view, const PlanRows& rows) {
  write(json, view.program, rows.kernels);
  write(json, "calls", rows.calls);
  write(json, rows.memory);
  json.key("steps").count(rows.steps).key("plan").text(plan::write_plan(view.plan));
}

void write(JsonWriter& json, const DeviceView& device) {
  json.key("device").object().key("code").list();
  for (const DeviceKernel& kernel : device.kernels) {
    json.object().key("kernel").text(kernel.name).key("function").text(kernel.function);
    json.key("linalg").text(kernel.linalg).key("binary");
    if (kernel.binary.empty()) {
      json.null();
    } else {
      json.text(kernel.binary);
    }
    json.end();
  }
  std::string_view launches = device.launches;
  while (launches.ends_with('\n')) launches.remove_suffix(1);
  json.end().key("project").value(launches).end();
}

void write_fusions(JsonWriter& json, const Report& report) {
  json.key("fusions").object().key("inlined").count(report.inlined).key("merged").count(report.merged);
  json.key("siblings").count(report.siblings).key("joined").count(report.joined).end();
  json.key("refusals").list();
  for (const Report::Refusal& refusal : report.refusals) {
    json.object().key("producer").text(refusal.producer).key("consumer").text(refusal.consumer);
    json.key("reason").text(refusal.reason).end();
  }
  json.end();
}

}  // namespace

void write_json(JsonWriter& json, std::string_view key, const std::vector<ValueRow>& rows) {
  json.key(key).list();
  for (const ValueRow& row : rows) {
    json.object().key("name").text(row.name).key("type").text(row.type);
    if (!row.note.empty()) json.key("note").text(row.note);
    json.end();
  }
  json.end();
}

void write_json(JsonWriter& json, std::string_view key, const std::vector<SymbolRow>& rows) {
  json.key(key).list();
  for (const SymbolRow& row : rows) {
    json.object().key("name").text(row.name).key("least").number(row.range.lo).key("most");
    if (row.range.hi == sym::Range::kMax) {
      json.null();
    } else {
      json.number(row.range.hi);
    }
    if (row.hint) json.key("hint").number(*row.hint);
    json.end();
  }
  json.end();
}

void write_json(JsonWriter& json, std::string_view key, const std::vector<CountedOp>& rows) {
  json.key(key).list();
  for (const CountedOp& row : rows) json.object().key("op").text(row.op).key("count").count(row.count).end();
  json.end();
}

std::string inspection_json(const PackageView& view, const Inspection& rows) {
  JsonWriter json;
  json.object().key("file").text(view.file).key("kind").text("package");
  for (const char* key : {"jumar", "build", "torch"}) json.key(key).text(fact(view, key));
  json.key("cpu").text(view.manifest.cpu).key("target").text(view.target);
  write(json, "cpu_features", view.manifest.cpu_features);
  json.key("provider").text(view.manifest.provider);
  json.key("checks_arguments").boolean(view.manifest.checks_arguments);
  json.key("bytes").count(view.file_bytes).key("library_bytes").count(view.library_bytes);
  json.key("weights_bytes").count(view.manifest.weights_bytes);
  write_json(json, "inputs", rows.inputs);
  write_json(json, "symbols", rows.symbols);
  write_json(json, "results", rows.results);
  write(json, "changes", rows.changes);
  write(json, view.manifest.constants);
  write(json, view.main, rows.main);
  json.key("at_load");
  if (rows.folding) {
    json.object();
    write_json(json, "values", rows.folded);
    json.key("bytes").count(rows.folded_bytes);
    write(json, *view.folding, *rows.folding);
    json.end();
  } else {
    json.null();
  }
  write_fusions(json, view.report);
  json.key("runs_without_libtorch").object().key("answer").boolean(!rows.libtorch.is_needed);
  json.key("why").text(rows.libtorch.why);
  write(json, "obstacles", rows.libtorch.obstacles);
  json.end();
  write(json, "proxied_calls", rows.proxied);
  if (view.device) write(json, *view.device);
  json.end();
  return json.take() + "\n";
}

}  // namespace jumar::driver
