#include "driver/inspection.h"

#include <algorithm>
#include <limits>

#include "loop/walk.h"
#include "runtime/native/call_site.h"

namespace jumar::driver {
namespace {

namespace package = runtime::package;
using plan::Storage;
using plan::TensorId;

constexpr std::string_view kOneDnn = "onednn";  // a word of Manifest::provider
constexpr std::string_view kAttention = "aten._scaled_dot_product";

std::string number_text(plan::NumberKind kind) { return kind == plan::NumberKind::kBool ? "bool" : "float"; }

void count_call(std::vector<CallRow>& rows, const std::string& op, const std::string& reason) {
  const auto found =
      std::ranges::find_if(rows, [&](const CallRow& row) { return row.op == op && row.reason == reason; });
  if (found == rows.end()) {
    rows.push_back({op, reason, 1});
  } else {
    ++found->count;
  }
}

// ---- Arguments and results ----

class Signature {
 public:
  explicit Signature(const PackageView& view) : view_(view), plan_(view.main.plan) {
    for (const package::Argument& argument : view.manifest.arguments)
      if (!argument.is_constant) names_.push_back(argument.name);
  }

  std::vector<ValueRow> inputs() const {
    std::vector<std::string> types(names_.size(), "not used");
    const auto put = [&](uint32_t index, std::string type) {
      if (index < types.size()) types[index] = std::move(type);
    };
    for (const plan::Tensor& tensor : plan_.tensors)
      if (is_input(tensor)) put(tensor.index, ir::text(plan_.cx(), tensor.type));
    for (const plan::IntInput& input : plan_.int_inputs)
      put(input.index, fmt::format("int({})", sym::text(input.expr)));
    for (const plan::Number& number : plan_.numbers)
      if (number.input) put(*number.input, number_text(number.kind));
    std::vector<ValueRow> rows;
    size_t next = 0;
    for (const package::Argument& argument : view_.manifest.arguments) {
      if (argument.is_constant) {
        rows.push_back({argument.name, argument.is_tensor ? "tensor" : "constant", "fixed by the export"});
      } else {
        rows.push_back({argument.name, types[next++], ""});
      }
    }
    return rows;
  }

  std::vector<ValueRow> results() const {
    std::vector<ValueRow> rows;
    for (size_t k = 0; k < plan_.outputs.size(); ++k) {
      if (view_.manifest.results[k].role != package::CallResult::Role::kUser) continue;
      ValueRow& row = rows.emplace_back(value(plan_, plan_.outputs[k]));
      row.name = fmt::format("result{}", rows.size() - 1);
      if (const TensorId* id = plan_.outputs[k].as<TensorId>()) row.note = alias(*id);
    }
    return rows;
  }

  std::vector<std::string> changes() const {
    std::vector<std::string> out;
    for (const package::CallResult& result : view_.manifest.results) {
      using Role = package::CallResult::Role;
      if (result.role == Role::kArgumentMutation)
        out.push_back(fmt::format("argument '{}'", names_[result.index]));
      if (result.role == Role::kConstantMutation)
        out.push_back(fmt::format("constant '{}'", view_.manifest.constants[result.index].fqn));
    }
    return out;
  }

  static ValueRow value(const plan::Plan& plan, const plan::Arg& arg) {
    if (const TensorId* id = arg.as<TensorId>())
      return {plan.tensors[*id].name, ir::text(plan.cx(), plan.tensors[*id].type), ""};
    if (const plan::NumberId* id = arg.as<plan::NumberId>())
      return {plan.numbers[*id].name, number_text(plan.numbers[*id].kind), ""};
    if (const sym::Expr* expr = arg.as<sym::Expr>())
      return {"", fmt::format("int({})", sym::text(*expr)), ""};
    return {"", arg.is_none() ? "none" : "constant", ""};
  }

 private:
  static bool is_input(const plan::Tensor& tensor) {
    return tensor.storage == Storage::kInput || tensor.storage == Storage::kParameter;
  }

  // What memory a result is that exists before the call.
  std::string alias(TensorId id) const {
    const bool is_view = plan_.tensors[id].storage == Storage::kView;
    while (plan_.tensors[id].storage == Storage::kView) id = plan_.tensors[id].base;
    const plan::Tensor& base = plan_.tensors[id];
    if (!is_input(base)) return "";
    if (base.index < names_.size())
      return fmt::format("{} argument '{}'", is_view ? "a view of" : "is", names_[base.index]);
    const package::PlanConstant& which = view_.manifest.plan_constants[base.index - names_.size()];
    if (which.is_folded) return "computed at load";
    return fmt::format("a copy of constant '{}'", view_.manifest.constants[which.index].fqn);
  }

  const PackageView& view_;
  const plan::Plan& plan_;
  std::vector<std::string> names_;  // of the arguments that the plan takes
};

// Whether a symbol is a count of a device's cores, which no call chooses.
bool counts_cores(const plan::Plan& plan, sym::Expr symbol) {
  return std::ranges::any_of(plan.steps, [&](const plan::Step& step) {
    const auto* bind = std::get_if<plan::BindStep>(&step.data);
    return bind != nullptr && bind->of_cores() && bind->symbol == symbol;
  });
}

std::vector<SymbolRow> symbol_rows(const ProgramView& view) {
  std::vector<SymbolRow> rows;
  for (const plan::SymbolInfo& info : view.plan.symbols) {
    if (counts_cores(view.plan, info.symbol)) continue;
    SymbolRow& row = rows.emplace_back();
    row.name = sym::text(info.symbol);
    row.range = info.range;
    for (const loop::SymbolInfo& other : view.program.symbols)
      if (sym::text(other.symbol) == row.name) row.hint = other.hint;
  }
  return rows;
}

std::vector<ConstantsRow> constants_rows(const package::Manifest& manifest) {
  std::vector<ConstantsRow> rows;
  for (const package::Constant& constant : manifest.constants) {
    auto row = std::ranges::find(rows, constant.kind, &ConstantsRow::kind);
    if (row == rows.end()) row = rows.insert(row, ConstantsRow{constant.kind, 0, 0});
    ++row->count;
    if (__builtin_add_overflow(row->bytes, constant_bytes(constant), &row->bytes))
      row->bytes = std::numeric_limits<uint64_t>::max();
  }
  std::ranges::sort(rows, {}, &ConstantsRow::kind);
  return rows;
}

// ---- Programs ----

void add_kernel(std::vector<KernelRow>& rows, const loop::Kernel& kernel, const plan::LaunchStep& launch) {
  auto row = std::ranges::find(rows, launch.kernel, &KernelRow::name);
  if (row == rows.end()) {
    row = rows.insert(row, KernelRow{launch.kernel,
                                     {},
                                     kernel.nests.size(),
                                     0,
                                     loop::line_count(kernel),
                                     kernel.is_phased,
                                     launch.checks_indices,
                                     counted_ops(kernel.origin),
                                     &kernel});
    for (const loop::Nest& nest : kernel.nests) row->stages += nest.stages.size();
  }
  row->kernels.push_back(kernel.name);
}

std::string step_text(const plan::Plan& plan, uint32_t step) {
  if (step >= plan.steps.size()) return "return";
  const plan::StepData& data = plan.steps[step].data;
  if (const auto* launch = std::get_if<plan::LaunchStep>(&data))
    return fmt::format("launch of {}", launch->kernel);
  if (const auto* call = std::get_if<plan::CallStep>(&data)) return fmt::format("call of {}", call->op);
  if (const auto* python = std::get_if<plan::PythonStep>(&data))
    return fmt::format("call of python {}", python->callable);
  if (const auto* number = std::get_if<plan::NumberStep>(&data)) return number->op;
  return std::holds_alternative<plan::CheckStep>(data) ? "check" : "bind";
}

MemoryRows memory_rows(const ProgramView& view, const SizeValues& sizes) {
  MemoryRows rows;
  rows.sizes = hinted_sizes(view.program);
  for (const loop::SymbolInfo& info : view.program.symbols) {
    const std::string name(info.symbol.symbol_name());
    if (const auto given = sizes.find(name); given != sizes.end()) {
      rows.sizes[name] = given->second;
    } else if (!info.hint && rows.sizes.contains(name)) {
      rows.guessed.push_back(name);
    }
  }
  rows.map = memory_map(view.plan, rows.sizes);
  rows.peak_at = step_text(view.plan, rows.map.peak_step);
  const auto row_of = [&](TensorId id) {
    const plan::Tensor& tensor = view.plan.tensors[id];
    return BufferRow{tensor.name, ir::text(view.plan.cx(), tensor.type), {}};
  };
  for (const MemoryBlock& block : rows.map.blocks) {
    rows.buffers.push_back(row_of(block.tensor));
    rows.buffers.back().block = block;
  }
  for (const TensorId id : rows.map.unknown) rows.unknown.push_back(row_of(id));
  return rows;
}

PlanRows plan_rows(const ProgramView& view, const SizeValues& sizes) {
  PlanRows rows;
  rows.steps = view.plan.steps.size();
  std::vector<const plan::LaunchStep*> launches;
  for (const plan::Step& step : view.plan.steps)
    if (const auto* launch = std::get_if<plan::LaunchStep>(&step.data)) launches.push_back(launch);
  for (const loop::Item& item : view.program.items) {
    if (const auto* kernel = std::get_if<loop::Kernel>(&item))
      add_kernel(rows.kernels, *kernel, *launches[rows.launches++]);
    if (const auto* call = std::get_if<loop::Call>(&item)) count_call(rows.calls, call->op, call->reason);
  }
  rows.memory = memory_rows(view, sizes);
  return rows;
}

// ---- libtorch ----

LibtorchRows libtorch_rows(const PackageView& view) {
  LibtorchRows rows;
  bool calls = false;
  for (const ProgramView* part : {&view.main, view.folding ? &*view.folding : nullptr}) {
    if (part == nullptr) continue;
    for (const plan::Step& step : part->plan.steps)
      calls = calls || std::holds_alternative<plan::CallStep>(step.data) ||
              std::holds_alternative<plan::PythonStep>(step.data);
    for (const runtime::native::Obstacle& obstacle : runtime::native::obstacles(part->plan))
      count_call(rows.obstacles, obstacle.op, obstacle.reason);
  }
  // The simulator takes oneDNN where it is given no libtorch.
  const bool has_onednn = view.device.has_value() || view.manifest.provider == kOneDnn;
  rows.is_needed = has_onednn ? !rows.obstacles.empty() : calls;
  if (!rows.is_needed) {
    rows.why = has_onednn ? "with oneDNN (libdnnl.so.2)" : "it calls no operators";
  } else if (has_onednn) {
    rows.why = "it calls what oneDNN does not have";
  } else {
    const bool helps = std::ranges::all_of(rows.obstacles,
                                           [](const CallRow& row) { return row.op.starts_with(kAttention); });
    rows.why = helps ? "it was compiled with --provider=torch; with --provider=onednn it would"
                     : "it was compiled with --provider=torch and calls what oneDNN does not have";
  }
  return rows;
}

std::vector<CallRow> proxied_rows(const PackageView& view) {
  std::vector<CallRow> rows;
  for (const uint32_t step : view.manifest.proxied_steps) {
    const auto& call = std::get<plan::CallStep>(view.main.plan.steps[step].data);
    count_call(rows, call.op, "made by the proxy executor of torch's loader");
  }
  return rows;
}

Status check_sizes(const std::vector<SymbolRow>& symbols, const SizeValues& sizes) {
  for (const auto& [name, size] : sizes) {
    const auto row = std::ranges::find(symbols, name, &SymbolRow::name);
    if (row == symbols.end()) return diagnostic("input", "the package has no size '{}'", name);
    if (size < row->range.lo || size > row->range.hi) {
      return diagnostic("input", "{} = {} is not in [{}, {}]", name, size, row->range.lo, row->range.hi);
    }
  }
  return {};
}

}  // namespace

std::vector<CountedOp> counted_ops(std::string_view origin) {
  std::vector<CountedOp> ops;
  while (!origin.empty()) {
    const size_t end = std::min(origin.find(' '), origin.size());
    const std::string_view op = origin.substr(0, end);
    origin.remove_prefix(std::min(end + 1, origin.size()));
    if (op.empty()) continue;
    const auto found = std::ranges::find(ops, op, &CountedOp::op);
    if (found == ops.end()) {
      ops.push_back({std::string(op), 1});
    } else {
      ++found->count;
    }
  }
  return ops;
}

uint64_t constant_bytes(const package::Constant& constant) {
  auto bytes = static_cast<uint64_t>(ir::dtype_bytes(constant.dtype));
  for (const int64_t size : constant.sizes) {
    if (size <= 0) return 0;
    if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(size), &bytes))
      return std::numeric_limits<uint64_t>::max();
  }
  return bytes;
}

Result<Inspection> inspection(const PackageView& view, const SizeValues& sizes) {
  const Signature signature(view);
  Inspection out;
  out.symbols = symbol_rows(view.main);
  JUMAR_RETURN_IF_ERROR(check_sizes(out.symbols, sizes));
  out.inputs = signature.inputs();
  out.results = signature.results();
  out.changes = signature.changes();
  out.constants = constants_rows(view.manifest);
  out.main = plan_rows(view.main, sizes);
  out.libtorch = libtorch_rows(view);
  out.proxied = proxied_rows(view);
  if (!view.folding) return out;
  const plan::Plan& plan = view.folding->plan;
  out.folding = plan_rows(*view.folding, {});
  for (const plan::Arg& arg : plan.outputs) {
    out.folded.push_back(Signature::value(plan, arg));
    const TensorId* id = arg.as<TensorId>();
    const auto bytes = id == nullptr ? 0 : tensor_bytes(plan.cx(), plan.tensors[*id].type, {}).value_or(0);
    if (__builtin_add_overflow(out.folded_bytes, static_cast<uint64_t>(bytes), &out.folded_bytes))
      out.folded_bytes = std::numeric_limits<uint64_t>::max();
  }
  return out;
}

}  // namespace jumar::driver
