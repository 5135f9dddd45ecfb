#include "driver/html_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "driver/html_assets.h"
#include "driver/html_memory.h"
#include "driver/html_program.h"
#include "driver/html_text.h"
#include "driver/program_rows.h"

namespace jumar::driver {
namespace {

using html::bytes_text;
using html::count_text;
using html::counted;
using html::escaped;

class Page {
 public:
  explicit Page(const ReportInputs& in)
      : in_(in), rows_(program_rows(in.graph, in.program, in.plan)), map_(memory_map(in.plan, in.sizes)) {}

  std::string run() {
    head();
    overview();
    memory();
    program();
    calls();
    refusals();
    parameters();
    compilation();
    put("</main>\n<script>{}</script>\n</body></html>\n", html::script());
    return std::move(out_);
  }

 private:
  template <class... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    out_ += fmt::format(format, std::forward<Args>(args)...);
  }

  void section(std::string_view id, std::string_view title) {
    put("<section id=\"{}\"><h2>{}</h2>\n", id, title);
  }

  void head() {
    const std::string title = escaped(in_.title);
    put("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
        "'unsafe-inline'; script-src 'unsafe-inline'\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<title>{} · Jumar</title>\n<style>{}</style></head>\n<body>\n",
        title, html::style());
    put("<header><div><h1>{}</h1><p>{}<span class=\"sep\"></span>{}</p></div>\n"
        "<nav><a href=\"#overview\">Overview</a><a href=\"#memory\">Memory</a><a "
        "href=\"#program\">Program</a><a href=\"#calls\">Calls</a><a href=\"#refusals\">Not fused</a><a "
        "href=\"#parameters\">Parameters</a><a href=\"#compilation\">Compilation</a>"
        "<button id=\"theme\" type=\"button\" title=\"Light or dark\">◐</button></nav></header>\n<main>\n",
        title, escaped(in_.build), escaped(in_.target));
  }

  void tile(std::string_view value, std::string_view name, const std::string& note) {
    put("<div class=\"tile\"><b>{}</b><span>{}</span><small>{}</small></div>\n", value, name, note);
  }

  size_t call_count() const {
    size_t count = in_.report.python_calls.size();
    for (const Report::Call& call : in_.report.calls) count += call.count;
    return count;
  }

  void overview() {
    section("overview", "Overview");
    out_ += "<div class=\"tiles\">\n";
    const std::vector<Report::Kernel>& kernels = in_.report.kernels;
    const auto shared = static_cast<size_t>(
        std::ranges::count_if(kernels, [](const Report::Kernel& k) { return !k.shared_with.empty(); }));
    tile(count_text(in_.graph.order.size()), "operators", "in the optimized graph");
    tile(count_text(kernels.size()), kernels.size() == 1 ? "kernel" : "kernels",
         shared == 0 ? "all different"
                     : fmt::format("of {} different codes", count_text(kernels.size() - shared)));
    tile(count_text(call_count()), "called operators",
         call_count() == 0 ? "everything is compiled" : "left to libtorch or Python");
    tile(bytes_text(map_.peak_bytes), "peak memory",
         fmt::format("beside {} of parameters", bytes_text(map_.parameter_bytes)));
    double ms = 0;
    for (const Report::Stage& stage : in_.report.stages) ms += stage.ms;
    tile(fmt::format("{:.1f} ms", ms), "to compile", counted(in_.report.stages.size(), "stage"));
    out_ += "</div>\n";
    const Report& r = in_.report;
    put("<p>{} of loops into others: {} inlined, {} merged, {} as siblings, {} joined.{}</p>\n",
        counted(size_t{r.inlined} + r.merged + r.siblings + r.joined, "fusion"), r.inlined, r.merged,
        r.siblings, r.joined, sizes_text());
    if (!r.notes.empty()) {
      out_ += "<ul class=\"notes\">";
      for (const std::string& note : r.notes) put("<li>{}</li>\n", escaped(note));
      out_ += "</ul>";
    }
    out_ += "</section>\n";
  }

  std::string sizes_text() const {
    if (in_.program.symbols.empty()) return " All sizes are constant.";
    std::string out = " Pictures and sums are for ";
    bool first = true;
    for (const loop::SymbolInfo& info : in_.program.symbols) {
      const std::string& name = info.symbol.symbol_name();
      const auto value = in_.sizes.find(name);
      out += fmt::format("{}<code>{} = {}</code>", first ? "" : ", ", escaped(name),
                         value == in_.sizes.end() ? "?" : fmt::format("{}", value->second));
      first = false;
    }
    return out + "; the compiled code takes every value in range.";
  }

  void memory() {
    section("memory", "Memory of a call");
    size_t arena = 0;
    for (const MemoryBlock& block : map_.blocks) arena += block.place == MemoryBlock::Place::kArena;
    put("<p>The arena is one block for {}: {}, of which at most {} are in use at once. Above it are results "
        "and "
        "what operators return. Inputs are {}. Boxes can be clicked.</p>\n",
        counted(arena, "buffer"), bytes_text(map_.arena_bytes), bytes_text(map_.arena_used_bytes),
        bytes_text(map_.input_bytes));
    out_ += html::memory_chart(in_.plan, map_);
    if (!map_.unknown.empty())
      put("<p class=\"note\">{} not in the picture: only the call finds out how large.</p>\n",
          counted(map_.unknown.size(), "buffer"));
    put("<details class=\"plain\"><summary>All buffers</summary>\n{}</details>\n</section>\n",
        html::memory_table(in_.plan, map_));
  }

  void program() {
    section("program", "Program");
    out_ +=
        "<p>Kernels and called operators in the order in which they run. Lines follow buffers from where "
        "they "
        "are written to where they are last read. A row opens to show the operators of the graph that it "
        "covers and its loops.</p>\n"
        "<div class=\"tools\"><input id=\"filter\" type=\"search\" placeholder=\"Filter by operator, module, "
        "file, buffer …\" aria-label=\"Filter\"><span id=\"shown\"></span>"
        "<button id=\"open\" type=\"button\">Open all</button>"
        "<button id=\"close\" type=\"button\">Close all</button></div>\n";
    out_ += html::program_list({in_.graph, in_.program, in_.plan, in_.report, rows_});
    out_ += "</section>\n";
  }

  void calls() {
    section("calls", "Called operators");
    if (call_count() == 0) {
      out_ += "<p>None: all of the graph is in kernels.</p></section>\n";
      return;
    }
    out_ +=
        "<table><thead><tr><th class=\"n\">calls</th><th>operator</th><th>why it is called and not "
        "compiled</th></tr></thead><tbody>\n";
    for (const Report::Call& call : in_.report.calls)
      put("<tr><td class=\"n\">{}</td><td><code>{}</code></td><td>{}</td></tr>\n", call.count,
          escaped(call.op), escaped(call.reason));
    for (const Report::PythonCall& call : in_.report.python_calls)
      put("<tr><td class=\"n\">1</td><td>Python function {}</td><td>{}</td></tr>\n", escaped(call.callable),
          escaped(call.reason));
    out_ += "</tbody></table></section>\n";
  }

  void refusals() {
    section("refusals", "Not fused");
    std::map<std::string, std::vector<const Report::Refusal*>> by_reason;
    for (const Report::Refusal& refusal : in_.report.refusals) by_reason[refusal.reason].push_back(&refusal);
    if (by_reason.empty()) out_ += "<p>Nothing was refused.</p>\n";
    std::vector<std::pair<std::string, std::vector<const Report::Refusal*>>> reasons(by_reason.begin(),
                                                                                     by_reason.end());
    std::ranges::stable_sort(reasons,
                             [](const auto& a, const auto& b) { return a.second.size() > b.second.size(); });
    for (const auto& [reason, refusals] : reasons) {
      put("<details class=\"plain\"><summary><span class=\"count\">{}</span>{}</summary><p class=\"pairs\">",
          refusals.size(), escaped(reason));
      for (const Report::Refusal* refusal : refusals)
        put("<span><code>@{}</code> → <code>@{}</code></span> ", escaped(refusal->producer),
            escaped(refusal->consumer));
      out_ += "</p></details>\n";
    }
    out_ += "</section>\n";
  }

  struct Parameter {
    const graph::Input* input;
    int64_t bytes;
  };

  void parameters() {
    section("parameters", "Parameters");
    std::vector<Parameter> found;
    for (const graph::Input& input : in_.graph.inputs) {
      const graph::Value& value = in_.graph.values[input.value];
      if (input.kind != graph::InputKind::kParameter || value.kind != graph::ValueKind::kTensor) continue;
      found.push_back({&input, tensor_bytes(in_.graph.cx(), value.type, in_.sizes).value_or(0)});
    }
    put("<p>{}, {} in all.</p>\n", counted(found.size(), "parameter"), bytes_text(map_.parameter_bytes));
    std::ranges::stable_sort(found, [](const Parameter& a, const Parameter& b) { return a.bytes > b.bytes; });
    if (!found.empty()) {
      out_ +=
          "<details class=\"plain\"><summary>All, by size</summary>\n<table><thead><tr><th>name</th>"
          "<th>type</th><th class=\"n\">size</th><th></th></tr></thead><tbody>\n";
      for (const Parameter& row : found) parameter(row, found.front().bytes);
      out_ += "</tbody></table></details>\n";
    }
    out_ += "</section>\n";
  }

  void parameter(const Parameter& row, int64_t largest) {
    const graph::Value& value = in_.graph.values[row.input->value];
    const std::string name = row.input->origin.empty() ? fmt::format("%{}", value.name) : row.input->origin;
    put("<tr><td><code>{}</code></td><td><code>{}</code></td><td class=\"n\">{}</td><td>{}</td></tr>\n",
        escaped(name), escaped(ir::text(in_.graph.cx(), value.type)), bytes_text(row.bytes),
        bar(static_cast<double>(row.bytes), static_cast<double>(largest)));
  }

  static std::string bar(double value, double largest) {
    const double part = largest > 0 ? 100 * value / largest : 0;
    return fmt::format("<span class=\"bar\" style=\"width:{:.1f}%\"></span>", part);
  }

  void compilation() {
    section("compilation", "Compilation");
    double largest = 0;
    for (const Report::Stage& stage : in_.report.stages) largest = std::max(largest, stage.ms);
    out_ += "<table class=\"stages\"><tbody>\n";
    for (const Report::Stage& stage : in_.report.stages)
      put("<tr><td>{}</td><td class=\"n\">{:.2f} ms</td><td>{}</td></tr>\n", escaped(stage.name), stage.ms,
          bar(stage.ms, largest));
    out_ += "</tbody></table>\n</section>\n";
  }

  const ReportInputs& in_;
  const std::vector<ProgramRow> rows_;
  const MemoryMap map_;
  std::string out_;
};

}  // namespace

std::string html_report(const ReportInputs& inputs) { return Page(inputs).run(); }

}  // namespace jumar::driver
