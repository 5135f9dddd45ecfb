#include "driver/sim_report.h"

#include <algorithm>
#include <unordered_map>

#include "driver/npu_kernels.h"
#include "import/json.h"

namespace jumar::driver {
namespace {

using import::JsonDocument;
using import::JsonValue;
using sym::Expr;

// The plan's symbols as far as they follow from the inputs and the device.
class Sizes {
 public:
  Sizes(const plan::Plan& plan, const Device& device, std::span<const runtime::InputValue> inputs)
      : plan_(plan) {
    for (const plan::IntInput& input : plan.int_inputs) bind(input.expr, inputs[input.index].integer);
    for (const plan::Step& step : plan.steps)
      if (const auto* found = std::get_if<plan::BindStep>(&step.data)) bind(*found, device.limit, inputs);
  }

  std::optional<int64_t> value(Expr e) const {
    const Result<int64_t> found = sym::evaluate(e, [&](Expr symbol) -> std::optional<int64_t> {
      const auto row = values_.find(symbol);
      return row == values_.end() ? std::nullopt : std::optional(row->second);
    });
    return found.ok() ? std::optional(*found) : std::nullopt;
  }

 private:
  void bind(const plan::BindStep& step, const target::CoreLimit& limit,
            std::span<const runtime::InputValue> inputs) {
    using Source = plan::BindStep::Source;
    if (step.source == Source::kVectorCores) bind(step.symbol, limit.vector_cores);
    if (step.source == Source::kCubeCores) bind(step.symbol, limit.cube_cores);
    if (step.source != Source::kSize && step.source != Source::kStride) return;
    const plan::Tensor& tensor = plan_.tensors[step.tensor];
    if (tensor.storage != plan::Storage::kInput && tensor.storage != plan::Storage::kParameter) return;
    // Constants of a package are not among the inputs, and their sizes are no symbols.
    if (tensor.index >= inputs.size()) return;
    const runtime::TensorView& view = inputs[tensor.index].tensor;
    bind(step.symbol, (step.source == Source::kSize ? view.sizes : view.strides)[step.dim]);
  }

  // `e` is linear in at most one symbol that is not known yet.
  void bind(Expr e, int64_t value) {
    for (const Expr symbol : sym::symbols_of(e)) {
      if (values_.contains(symbol)) continue;
      const std::optional<sym::Linear> linear = sym::linear_in(plan_.cx(), e, symbol);
      if (!linear) return;
      const std::optional<int64_t> coefficient = this->value(linear->coefficient);
      const std::optional<int64_t> rest = this->value(linear->rest);
      if (coefficient && rest && *coefficient != 0) values_[symbol] = (value - *rest) / *coefficient;
      return;
    }
  }

  const plan::Plan& plan_;
  std::unordered_map<Expr, int64_t> values_;
};

std::string launch_line(const plan::LaunchStep& launch, const Sizes& sizes, int64_t cores) {
  std::string out = fmt::format("  {}: ", launch.kernel);
  const plan::LaunchPhase& phase = launch.phases.front();
  const std::optional<int64_t> grid = sizes.value(phase.units);
  if (!grid) return out + fmt::format("grid {}, which only the call finds out\n", sym::text(phase.units));
  out += fmt::format("grid {}, {} cores", *grid, std::min(*grid, cores));
  const bool in_turn = !phase.grain.is_const(1) && *grid > 1;
  return out + (in_turn ? ", one block after the other\n" : "\n");
}

struct Launches {
  std::string text;
  size_t count = 0;
};

Launches launches_of(const plan::Plan& plan, const Device& device,
                     std::span<const runtime::InputValue> inputs) {
  const Sizes sizes(plan, device, inputs);
  Launches out;
  for (const plan::Step& step : plan.steps) {
    const auto* launch = std::get_if<plan::LaunchStep>(&step.data);
    if (launch == nullptr) continue;
    out.text += launch_line(*launch, sizes, device.limit.vector_cores);
    ++out.count;
  }
  return out;
}

struct Calls {
  std::string called;
  std::string refused;
};

// Of the compilation's report.
Result<Calls> calls_of(std::string_view report) {
  JUMAR_ASSIGN(const JsonDocument document, JsonDocument::parse(report, "report"));
  JUMAR_ASSIGN(const JsonValue list, document.root().get("calls"));
  JUMAR_ASSIGN(const std::vector<JsonValue> rows, list.array());
  Calls out;
  for (const JsonValue& row : rows) {
    JUMAR_ASSIGN(const JsonValue op_value, row.get("op"));
    JUMAR_ASSIGN(const std::string op, op_value.string());
    JUMAR_ASSIGN(const JsonValue reason_value, row.get("reason"));
    JUMAR_ASSIGN(const std::string reason, reason_value.string());
    JUMAR_ASSIGN(const JsonValue count_value, row.get("count"));
    JUMAR_ASSIGN(const int64_t count, count_value.integer());
    const bool is_refused = reason.starts_with(kToolchainRefuses);
    (is_refused ? out.refused : out.called) += fmt::format("  {}x {}: {}\n", count, op, reason);
  }
  return out;
}

std::string part(std::string_view title, const std::string& lines) {
  return fmt::format("{}:{}\n{}", title, lines.empty() ? " none" : "", lines);
}

}  // namespace

Result<std::string> sim_report(const CompiledGraph& graph, const Device& device,
                               std::span<const runtime::InputValue> inputs) {
  const Launches launches = launches_of(graph.plan().plan(), device, inputs);
  JUMAR_ASSIGN(const Calls calls, calls_of(graph.report()));
  std::string out = fmt::format("simulated for {}, on at most {} vector cores: {} launches\n{}",
                                device.target.name, device.limit.vector_cores, launches.count, launches.text);
  if (graph.model() != nullptr && graph.model()->folding_plan() != nullptr) {
    const Launches at_load = launches_of(graph.model()->folding_plan()->plan(), device, {});
    out += fmt::format("computed of the weights, when the package was loaded: {} launches\n{}", at_load.count,
                       at_load.text);
  }
  return out + part("called operators", calls.called) +
         part("kernels that the toolchain refused, called instead", calls.refused);
}

}  // namespace jumar::driver
