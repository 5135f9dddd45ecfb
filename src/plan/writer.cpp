#include "ir/arg_text.h"
#include "plan/bind_sources.h"
#include "plan/plan.h"

namespace jumar::plan {
namespace {

std::string bound_text(int64_t bound) {
  if (bound == sym::Range::kMin) return "-inf";
  if (bound == sym::Range::kMax) return "inf";
  return fmt::format("{}", bound);
}

class Writer {
 public:
  explicit Writer(const Plan& plan) : plan_(plan) {}

  std::string run() {
    out_ = fmt::format("plan @{}{} {{\n", plan_.name, symbols());
    for (const auto& [op, schema] : plan_.schemas) line(ir::schema_text(op, schema));
    for (const IntInput& input : plan_.int_inputs)
      line(fmt::format("%{}: int({}) = input {}", int_name(input), sym::text(input.expr), input.index));
    for (const Tensor& tensor : plan_.tensors) line(tensor_text(tensor));
    for (const Number& number : plan_.numbers) line(number_text(number));
    for (const Step& step : plan_.steps) {
      std::string text = std::visit([this](const auto& data) { return step_text(data); }, step.data);
      if (!step.origin.empty()) text += " origin " + quoted(step.origin);
      line(text);
    }
    line(plan_.outputs.empty() ? "return" : "return " + list(plan_.outputs));
    return out_ + "}\n";
  }

 private:
  void line(const std::string& text) { out_ += "  " + text + "\n"; }

  static std::string int_name(const IntInput& input) {
    return input.name.empty() ? fmt::format("n{}", input.index) : input.name;
  }

  std::string symbols() const {
    if (plan_.symbols.empty()) return "";
    std::string out = " symbols(";
    for (const SymbolInfo& info : plan_.symbols) {
      if (&info != &plan_.symbols.front()) out += ", ";
      out += fmt::format("{} in [{}, {}]", sym::text(info.symbol), bound_text(info.range.lo),
                         bound_text(info.range.hi));
    }
    return out + ")";
  }

  std::string tensor_text(const Tensor& tensor) const {
    std::string source;
    switch (tensor.storage) {
      case Storage::kInput:
        source = fmt::format("input {}", tensor.index);
        break;
      case Storage::kParameter:
        source = fmt::format("parameter {}", tensor.index);
        break;
      case Storage::kArena:
        source = "arena";
        break;
      case Storage::kOutput:
        source = "output";
        break;
      case Storage::kResult:
        source = "result";
        break;
      case Storage::kView:
        source = fmt::format("view {} offset {}", name(tensor.base), sym::text(tensor.offset));
    }
    return fmt::format("%{}: {} = {}", tensor.name, ir::text(plan_.cx(), tensor.type), source);
  }

  static std::string number_text(const Number& number) {
    std::string source = number.input ? fmt::format("input {}", *number.input) : "number";
    return fmt::format("%{}: {} = {}", number.name, number.kind == NumberKind::kFloat ? "float" : "bool",
                       source);
  }

  std::string name(TensorId id) const { return id ? "%" + plan_.tensors[id].name : "_"; }
  std::string name(NumberId id) const { return "%" + plan_.numbers[id].name; }

  template <class Items, class Text>
  static std::string join(const Items& items, Text text) {
    std::string out;
    for (const auto& item : items) {
      if (&item != &items.front()) out += ", ";
      out += text(item);
    }
    return out;
  }

  std::string list(const ArgList& args) const {
    return ir::write_args(args, [this](auto id) { return name(id); });
  }

  std::string names(const std::vector<TensorId>& ids) const {
    return join(ids, [this](TensorId id) { return name(id); });
  }
  static std::string exprs(const std::vector<sym::Expr>& items) {
    return join(items, [](sym::Expr e) { return sym::text(e); });
  }

  std::string step_text(const BindStep& step) const {
    for (const auto& [kind, word] : kCoreKinds)
      if (kind == step.source) return fmt::format("bind {} = cores({})", sym::text(step.symbol), word);
    std::string_view source;
    for (const auto& [kind, word] : kBindSources)
      if (kind == step.source) source = word;
    std::string dim = step.source == BindStep::Source::kSize || step.source == BindStep::Source::kStride
                          ? fmt::format(", {}", step.dim)
                          : "";
    return fmt::format("bind {} = {}({}{})", sym::text(step.symbol), source,
                       step.of_tensor() ? name(step.tensor) : name(step.number), dim);
  }

  std::string step_text(const LaunchStep& step) const {
    std::string out = fmt::format("launch @{}({}", step.kernel, names(step.tensors));
    if (!step.ints.empty() || !step.floats.empty()) out += "; " + exprs(step.ints);
    if (!step.floats.empty()) out += "; " + join(step.floats, [this](NumberId id) { return name(id); });
    out += ")";
    if (step.checks_indices) out += " checks_indices";
    for (const LaunchPhase& phase : step.phases)
      out += fmt::format("{} units {} grain {}", &phase == &step.phases.front() ? "" : " then",
                         sym::text(phase.units), sym::text(phase.grain));
    return out;
  }

  std::string step_text(const CallStep& step) const {
    std::string out = fmt::format("call {}({})", step.op, list(step.args));
    if (!step.results.empty()) out += (step.into ? " into " : " -> ") + names(step.results);
    if (!step.result_ints.empty()) out += " defines(" + exprs(step.result_ints) + ")";
    return out;
  }

  std::string step_text(const PythonStep& step) const {
    std::string out = fmt::format("python {}({})", step.callable, list(step.args));
    if (!step.results.empty()) out += " -> " + names(step.results);
    return out;
  }

  std::string step_text(const NumberStep& step) const {
    return fmt::format("number {} = {}({})", name(step.result), step.op, list(step.args));
  }

  std::string step_text(const CheckStep& step) const {
    return fmt::format("check {} message {}", sym::text(step.predicate), quoted(step.message));
  }

  const Plan& plan_;
  std::string out_;
};

}  // namespace

std::string write_plan(const Plan& plan) { return Writer(plan).run(); }

}  // namespace jumar::plan
