#include "driver/html_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "driver/html_lanes.h"
#include "driver/html_text.h"
#include "ir/arg_text.h"

namespace jumar::driver::html {
namespace {

using Kind = ProgramRow::Kind;

// "encoder.layer.0.attention.self" -> "encoder.layer.0": the block of a model that a module belongs to ends
// with the last number of its path; without one it is the first name.
std::string block_of(const std::string& module) {
  size_t end = 0;
  for (size_t begin = 0; begin < module.size();) {
    const size_t dot = std::min(module.find('.', begin), module.size());
    const std::string_view part = std::string_view(module).substr(begin, dot - begin);
    const bool is_number =
        !part.empty() && std::ranges::all_of(part, [](char c) { return c >= '0' && c <= '9'; });
    if (end == 0 || is_number) end = dot;
    begin = dot + 1;
  }
  return module.substr(0, end);
}

// aten.native_layer_norm.default -> native_layer_norm
std::string short_op(const std::string& op) {
  std::string_view name = op;
  if (name.starts_with("aten.")) name.remove_prefix(5);
  return std::string(name.substr(0, std::min(name.rfind('.'), name.size())));
}

class List {
 public:
  List(const ProgramView& view, const Lanes& lanes) : view_(view), lanes_(lanes) {
    for (size_t row = 0; row < view.rows.size(); ++row)
      for (const loop::BufferId id : view.rows[row].writes) writer_.try_emplace(id, view.rows[row].step);
  }

  std::string run() {
    std::string block;
    for (size_t k = 0; k < view_.rows.size(); ++k) {
      const ProgramRow& row = view_.rows[k];
      const std::string now = row.modules.empty() ? block : block_of(row.modules.front());
      if (now != block || (k == 0 && !now.empty()))
        put("<h3 class=\"block\">{}{}</h3>\n", lanes_.svg_before(k), escaped(now));
      block = now;
      std::visit([&](const auto& item) { entry(k, row, item); }, view_.program.items[row.item]);
    }
    return std::move(out_);
  }

 private:
  template <class... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    out_ += fmt::format(format, std::forward<Args>(args)...);
  }

  void entry(size_t k, const ProgramRow& row, const loop::Kernel& kernel) {
    const Report::Kernel& facts = view_.report.kernels[kernel_++];
    head(k, row, "kernel", fmt::format("@{}", kernel.name));
    ops(row);
    tail(row);
    put("<p>{}, {}, {} of code{}.", counted(facts.nests, "loop nest"), counted(facts.stages, "stage"),
        counted(facts.lines, "line"), facts.is_phased ? ", in phases" : "");
    if (!facts.shared_with.empty())
      put(" Runs the code of <code>@{}</code>, which differs in names only.", escaped(facts.shared_with));
    launch(row);
    out_ += "</p>\n";
    buffers(row);
    nodes(row);
    put("<h4>Loops, as they are compiled</h4>\n<pre>{}</pre>\n",
        loop_text(loop::write_kernel(view_.program, kernel)));
    out_ += "</div></details>\n";
  }

  void entry(size_t k, const ProgramRow& row, const loop::Call& call) {
    const bool is_python = row.kind == Kind::kPython;
    head(k, row, is_python ? "python" : "call", short_op(call.op));
    put("<span class=\"why\">{}</span>", escaped(call.reason));
    tail(row);
    put("<p><code>{}</code> is called {}: {}.</p>\n", escaped(call.op),
        is_python ? "in Python" : "through libtorch", escaped(call.reason));
    buffers(row);
    nodes(row);
    out_ += "</div></details>\n";
  }

  void entry(size_t k, const ProgramRow& row, const loop::HostOp& host) {
    head(k, row, "host", host.op);
    tail(row);
    put("<p>Gives the number <code>%{}</code> of the host.</p>\n",
        escaped(view_.program.numbers[host.result].name));
    nodes(row);
    out_ += "</div></details>\n";
  }

  void entry(size_t k, const ProgramRow& row, const loop::Check& check) {
    head(k, row, "check", sym::text(check.predicate));
    put("</summary>\n<div class=\"body\"><p>Fails otherwise: {}</p></div></details>\n",
        escaped(check.message));
  }

  // The closed row. What is more than fits is in the body as well.
  void head(size_t k, const ProgramRow& row, std::string_view kind, const std::string& name) {
    put("<details class=\"row {}\" id=\"s{}\"><summary>{}<span class=\"step\">{}</span><span "
        "class=\"kind\">{}</span><code class=\"name\" title=\"{}\">{}</code>",
        kind, row.step, lanes_.svg(k), row.step, kind, escaped(name), escaped(name));
    put("<span class=\"module\">{}</span>", row.modules.empty() ? "" : escaped(row.modules.front()));
  }

  // What it makes, at the end of the closed row.
  void tail(const ProgramRow& row) {
    std::string type;
    if (!row.writes.empty())
      type = ir::text(view_.program.cx(), view_.program.buffers[row.writes.front()].type);
    type = type.substr(0, type.find('{'));  // without strides
    put("<code class=\"type\">{}{}</code></summary>\n<div class=\"body\">", escaped(type),
        row.writes.size() > 1 ? fmt::format(" +{}", row.writes.size() - 1) : "");
  }

  // add, gelu, 3 x mul: what the row covers, by the operators' names.
  void ops(const ProgramRow& row) {
    std::vector<std::pair<std::string, size_t>> counts;
    for (const graph::NodeId id : row.nodes) {
      const std::string op = short_op(view_.graph.nodes[id].op);
      const auto known = std::ranges::find(counts, op, &std::pair<std::string, size_t>::first);
      if (known == counts.end())
        counts.emplace_back(op, 1);
      else
        ++known->second;
    }
    out_ += "<span class=\"ops\">";
    for (const auto& [op, count] : counts)
      put("<i>{}{}</i> ", escaped(op), count > 1 ? fmt::format(" ×{}", count) : "");
    out_ += "</span>";
  }

  void launch(const ProgramRow& row) {
    const auto& step = std::get<plan::LaunchStep>(view_.plan.steps[row.step].data);
    for (const plan::LaunchPhase& phase : step.phases) {
      put(" {} of <code>{}</code> work units, at least <code>{}</code> to a thread.",
          &phase == &step.phases.front() ? "Launched for the range" : "Then", escaped(sym::text(phase.units)),
          escaped(sym::text(phase.grain)));
    }
    if (step.checks_indices) out_ += " Indices are checked.";
  }

  void buffers(const ProgramRow& row) {
    out_ += "<table class=\"io\"><tbody>\n";
    for (const loop::BufferId id : row.reads) buffer("reads", id, row.step);
    for (const loop::BufferId id : row.writes) buffer("writes", id, row.step);
    out_ += "</tbody></table>\n";
  }

  void buffer(std::string_view verb, loop::BufferId id, uint32_t step) {
    const loop::Buffer& buffer = view_.program.buffers[id];
    put("<tr><td>{}</td><td><code>%{}</code></td><td><code>{}</code></td><td>{}</td></tr>\n", verb,
        escaped(buffer.name), escaped(ir::text(view_.program.cx(), buffer.type)), source(id, step));
  }

  std::string source(loop::BufferId id, uint32_t step) const {
    const loop::Buffer& buffer = view_.program.buffers[id];
    if (buffer.storage == loop::Storage::kInput) return fmt::format("input {}", buffer.index);
    if (buffer.storage == loop::Storage::kParameter) {
      const std::string& origin = view_.graph.inputs[buffer.index].origin;
      return fmt::format("parameter {}", origin.empty() ? std::to_string(buffer.index) : escaped(origin));
    }
    const auto writer = writer_.find(id);
    if (writer == writer_.end() || writer->second >= step)
      return buffer.storage == loop::Storage::kOutput ? "a result of the graph" : "";
    return fmt::format("from step <a href=\"#s{0}\">{0}</a>", writer->second);
  }

  void nodes(const ProgramRow& row) {
    if (row.nodes.empty()) return;
    put("<h4>Covers {} of the graph</h4>\n<table class=\"nodes\"><tbody>\n",
        counted(row.nodes.size(), "operator"));
    for (const graph::NodeId id : row.nodes) {
      const graph::Node& node = view_.graph.nodes[id];
      std::string results, type;
      for (const graph::ValueId result : node.results) {
        if (!result) continue;
        const graph::Value& value = view_.graph.values[result];
        if (value.kind == graph::ValueKind::kNone) continue;
        results += fmt::format("{}%{}", results.empty() ? "" : ", ", value.name);
        if (type.empty() && value.kind == graph::ValueKind::kTensor)
          type = ir::text(view_.graph.cx(), value.type);
      }
      put("<tr><td><code>{}</code></td><td><code>{}</code></td><td><code>{}</code></td><td>{}</td></tr>\n",
          escaped(results), escaped(node.op), escaped(type), escaped(node.origin));
    }
    out_ += "</tbody></table>\n";
  }

  const ProgramView& view_;
  const Lanes& lanes_;
  std::map<loop::BufferId, uint32_t> writer_;  // the first step that writes a buffer
  size_t kernel_ = 0;
  std::string out_;
};

}  // namespace

std::string program_list(const ProgramView& view) {
  // The column of lines is as wide as it needs to be, and the rows begin behind it.
  const Lanes lanes(view.rows);
  std::string note;
  if (lanes.left_out() > 0)
    note = fmt::format("<p class=\"note\">{} that live for long have no line.</p>\n",
                       counted(lanes.left_out(), "buffer"));
  return fmt::format("{}<div class=\"program\" style=\"--lanes:{}px\">\n{}</div>\n", note, lanes.width(),
                     List(view, lanes).run());
}

}  // namespace jumar::driver::html
