#include "driver/program_rows.h"

#include <algorithm>
#include <set>
#include <unordered_map>

namespace jumar::driver {
namespace {

using Kind = ProgramRow::Kind;

constexpr std::string_view kPythonPrefix = "python.";

class Rows {
 public:
  Rows(const graph::Graph& graph, const loop::Program& program, const plan::Plan& plan)
      : graph_(graph), program_(program), plan_(plan) {}

  std::vector<ProgramRow> run() {
    for (size_t item = 0; item < program_.items.size(); ++item) {
      ProgramRow& row = rows_.emplace_back();
      row.item = item;
      std::visit([&](const auto& data) { fill(row, data); }, program_.items[item]);
      row.step = next_step(row);
    }
    cover();
    for (ProgramRow& row : rows_) row.modules = modules(row);
    return std::move(rows_);
  }

 private:
  void fill(ProgramRow& row, const loop::Kernel& kernel) {
    row.kind = Kind::kKernel;
    for (const loop::Nest& nest : kernel.nests) {
      for (const loop::Stage& stage : nest.stages) {
        for (const loop::Stage::Line& line : stage.body) {
          if (line.inst.kind == loop::InstKind::kLoad) add(row.reads, line.inst.buffer);
          if (line.inst.kind == loop::InstKind::kStore) write(row, line.inst.buffer);
        }
      }
    }
  }

  void fill(ProgramRow& row, const loop::Call& call) {
    row.kind = call.op.starts_with(kPythonPrefix) ? Kind::kPython : Kind::kCall;
    read(row, call.args);
    for (const loop::BufferId id : call.results)
      if (id) write(row, id);
    for (const sym::Expr symbol : call.defines) defined_by_[symbol.symbol_name()] = row.item;
  }

  void fill(ProgramRow& row, const loop::HostOp& host) {
    row.kind = Kind::kHost;
    read(row, host.args);
    written_by_[program_.numbers[host.result].name] = row.item;
  }

  void fill(ProgramRow& row, const loop::Check& /*check*/) { row.kind = Kind::kCheck; }

  void add(std::vector<loop::BufferId>& ids, loop::BufferId id) const {
    if (program_.buffers[id].storage == loop::Storage::kView) id = program_.buffers[id].base;
    if (std::ranges::find(ids, id) == ids.end()) ids.push_back(id);
  }

  void write(ProgramRow& row, loop::BufferId id) {
    add(row.writes, id);
    written_by_[program_.buffers[id].name] = row.item;
  }

  void read(ProgramRow& row, const loop::ArgList& args) const {
    for (const loop::Arg& arg : args) {
      ir::for_each_ref(arg, [&](auto ref) {
        if constexpr (std::is_same_v<decltype(ref), loop::BufferId>) add(row.reads, ref);
      });
    }
  }

  // Steps are the items in order, with binds of sizes and roundings of constants between them.
  uint32_t next_step(const ProgramRow& row) {
    while (step_ < plan_.steps.size() && !is_step_of(row.kind, plan_.steps[step_].data)) ++step_;
    CHECK(step_ < plan_.steps.size(), "item {} of the program is no step of the plan", row.item);
    return step_++;
  }

  static bool is_step_of(Kind kind, const plan::StepData& step) {
    switch (kind) {
      case Kind::kKernel:
        return std::holds_alternative<plan::LaunchStep>(step);
      case Kind::kCall: {
        const auto* bind = std::get_if<plan::BindStep>(&step);
        return std::holds_alternative<plan::CallStep>(step) ||
               (bind != nullptr && (bind->source == plan::BindStep::Source::kItem || bind->of_number()));
      }
      case Kind::kPython:
        return std::holds_alternative<plan::PythonStep>(step);
      case Kind::kHost:
        return std::holds_alternative<plan::NumberStep>(step);
      case Kind::kCheck:
        return std::holds_alternative<plan::CheckStep>(step);
    }
    return false;
  }

  // From the last operator to the first, so that the users of one are settled before it.
  void cover() {
    std::unordered_map<graph::ValueId, std::set<size_t>> wanted;  // by the items that need the value
    for (auto it = graph_.order.rbegin(); it != graph_.order.rend(); ++it) {
      const graph::Node& node = graph_.nodes[*it];
      std::set<size_t> items = writers(node);
      if (items.empty())
        for (const graph::ValueId result : node.results)
          if (result) items.insert(wanted[result].begin(), wanted[result].end());
      for (const size_t item : items) rows_[item].nodes.push_back(*it);
      for (const graph::Arg& arg : node.args) {
        graph::for_each_value(
            arg, [&](graph::ValueId value) { wanted[value].insert(items.begin(), items.end()); });
      }
    }
    for (ProgramRow& row : rows_) std::ranges::reverse(row.nodes);
  }

  std::set<size_t> writers(const graph::Node& node) const {
    std::set<size_t> items;
    for (const graph::ValueId result : node.results) {
      if (!result) continue;
      const auto row = written_by_.find(graph_.values[result].name);
      if (row != written_by_.end()) items.insert(row->second);
    }
    for (const sym::Expr symbol : node.unbacked) {
      const auto row = defined_by_.find(symbol.symbol_name());
      if (row != defined_by_.end()) items.insert(row->second);
    }
    return items;
  }

  std::vector<std::string> modules(const ProgramRow& row) {
    if (module_of_.empty()) {
      for (const graph::Input& input : graph_.inputs) {
        const size_t dot = input.origin.rfind('.');
        if (input.kind == graph::InputKind::kParameter && dot != std::string::npos)
          module_of_[input.value] = input.origin.substr(0, dot);
      }
    }
    std::vector<std::string> out;
    for (const graph::NodeId node : row.nodes) {
      for (const graph::Arg& arg : graph_.nodes[node].args) {
        graph::for_each_value(arg, [&](graph::ValueId value) {
          const auto found = module_of_.find(value);
          if (found != module_of_.end() && std::ranges::find(out, found->second) == out.end())
            out.push_back(found->second);
        });
      }
    }
    return out;
  }

  const graph::Graph& graph_;
  const loop::Program& program_;
  const plan::Plan& plan_;
  std::vector<ProgramRow> rows_;
  uint32_t step_ = 0;
  std::unordered_map<std::string, size_t> written_by_;  // item by the name of a buffer or number
  std::unordered_map<std::string, size_t> defined_by_;  // item by the name of a symbol
  std::unordered_map<graph::ValueId, std::string> module_of_;
};

}  // namespace

std::vector<ProgramRow> program_rows(const graph::Graph& graph, const loop::Program& program,
                                     const plan::Plan& plan) {
  return Rows(graph, program, plan).run();
}

}  // namespace jumar::driver
