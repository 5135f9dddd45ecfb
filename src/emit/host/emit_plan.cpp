#include "emit/host/emit_plan.h"

#include <algorithm>
#include <charconv>
#include <unordered_set>

#include "emit/host/bind_symbols.h"
#include "plan/bind_sources.h"
#include "tile/npu/block.h"

namespace jumar::emit::host {
namespace {

constexpr std::string_view kPythonPrefix = "python.";
constexpr std::string_view kScalarPrefix = "scalar.";
constexpr std::string_view kItemOp = "aten._local_scalar_dense.default";

plan::Storage plan_storage(loop::Storage storage) {
  switch (storage) {
    case loop::Storage::kInput:
      return plan::Storage::kInput;
    case loop::Storage::kParameter:
      return plan::Storage::kParameter;
    case loop::Storage::kTemp:
      return plan::Storage::kArena;
    case loop::Storage::kOutput:
      return plan::Storage::kOutput;
    case loop::Storage::kResult:
      return plan::Storage::kResult;
    case loop::Storage::kView:
      return plan::Storage::kView;
  }
  CHECK(false, "storage {}", static_cast<int>(storage));
}

bool is_input(const loop::Buffer& buffer) {
  return buffer.storage == loop::Storage::kInput || buffer.storage == loop::Storage::kParameter;
}

class Emitter {
 public:
  Emitter(const loop::Program& program, std::span<const KernelLaunch> launches)
      : program_(program), launches_(launches), plan_(program.shared_cx()) {}

  plan::Plan run() {
    plan_.name = program_.name;
    plan_.input_count = program_.input_count;
    plan_.schemas = program_.schemas;
    for (const loop::SymbolInfo& info : program_.symbols) plan_.symbols.push_back({info.symbol, info.range});
    mark_used();
    tensors_.resize(program_.buffers.size());
    for (size_t k = 0; k < program_.buffers.size(); ++k) {
      const loop::BufferId id = program_.buffers.id_at(k);
      if (used_.contains(id)) add_tensor(id);
    }
    add_numbers();
    add_int_inputs();
    bind_inputs(plan_);
    bind_cores();
    size_t launch = 0;
    for (const loop::Item& item : program_.items) {
      if (const auto* kernel = std::get_if<loop::Kernel>(&item)) {
        CHECK(launch < launches_.size(), "kernel @{} has no launch data", kernel->name);
        add_launch(*kernel, launches_[launch++]);
      } else if (const auto* call = std::get_if<loop::Call>(&item)) {
        add_call(*call);
      } else if (const auto* host = std::get_if<loop::HostOp>(&item)) {
        add_host_op(*host);
      } else {
        const auto& check = std::get<loop::Check>(item);
        add_step(plan::CheckStep{check.predicate, check.message}, "");
      }
    }
    CHECK(launch == launches_.size(), "{} kernels, launch data of {}", launch, launches_.size());
    plan_.outputs = converted(program_.outputs);
    return std::move(plan_);
  }

 private:
  void use(loop::BufferId id) {
    used_.insert(id);
    const loop::Buffer& buffer = program_.buffers[id];
    if (buffer.storage == loop::Storage::kView) used_.insert(buffer.base);
  }

  void use(const loop::ArgList& args) {
    for (const loop::Arg& arg : args) {
      ir::for_each_ref(arg, [this](auto ref) {
        if constexpr (std::is_same_v<decltype(ref), loop::BufferId>) use(ref);
      });
    }
  }

  // A result that nobody uses is not looked at: operators leave things there that no graph promised.
  void use_results(const loop::Call& call) {
    for (const loop::BufferId id : call.results) {
      if (!id) continue;
      const loop::Buffer& buffer = program_.buffers[id];
      if (buffer.storage != loop::Storage::kResult || mentions_any(buffer.type, call.defines)) use(id);
    }
  }

  static bool mentions_any(const ir::TensorType& type, const std::vector<sym::Expr>& symbols) {
    return std::any_of(symbols.begin(), symbols.end(), [&](sym::Expr symbol) {
      const auto mentions = [&](sym::Expr e) { return sym::mentions(e, symbol); };
      return std::any_of(type.sizes.begin(), type.sizes.end(), mentions) ||
             std::any_of(type.strides.begin(), type.strides.end(), mentions);
    });
  }

  void mark_used() {
    for (size_t k = 0; k < program_.buffers.size(); ++k) {
      const loop::BufferId id = program_.buffers.id_at(k);
      if (is_input(program_.buffers[id])) use(id);
    }
    for (const KernelLaunch& launch : launches_) {
      for (const loop::BufferId id : launch.buffers) use(id);
    }
    for (const loop::Item& item : program_.items) {
      if (const auto* call = std::get_if<loop::Call>(&item)) {
        use(call->args);
        use_results(*call);
      } else if (const auto* host = std::get_if<loop::HostOp>(&item)) {
        use(host->args);
      }
    }
    use(program_.outputs);
  }

  // A view's base is declared before it.
  void add_tensor(loop::BufferId id) {
    if (tensors_[id]) return;
    const loop::Buffer& buffer = program_.buffers[id];
    plan::Tensor tensor{buffer.name,  buffer.type, plan_storage(buffer.storage),
                        buffer.index, {},          buffer.offset};
    if (buffer.storage == loop::Storage::kView) {
      add_tensor(buffer.base);
      tensor.base = tensors_[buffer.base];
    }
    names_.insert(buffer.name);
    tensors_[id] = plan_.tensors.add(std::move(tensor));
  }

  void add_numbers() {
    for (const loop::Number& number : program_.numbers) {
      const auto kind =
          number.kind == loop::NumberKind::kBool ? plan::NumberKind::kBool : plan::NumberKind::kFloat;
      names_.insert(number.name);
      plan_.numbers.add({number.name, kind, number.input});
    }
  }

  void add_int_inputs() {
    for (const loop::IntInput& input : program_.int_inputs) {
      std::string name = fmt::format("n{}", input.index);
      while (!names_.insert(name).second) name += "_";
      plan_.int_inputs.push_back({input.index, input.expr, name});
    }
  }

  template <class Data>
  void add_step(Data data, const std::string& origin) {
    plan::Step& step = plan_.steps.emplace_back();
    step.data.emplace<Data>(std::move(data));
    step.origin = origin;
  }

  // Of a call; invalid where nobody uses it.
  plan::TensorId result(loop::BufferId id) const {
    return id && used_.contains(id) ? tensor(id) : plan::TensorId();
  }

  plan::TensorId tensor(loop::BufferId id) const {
    CHECK(tensors_[id].valid(), "buffer %{} was not declared", program_.buffers[id].name);
    return tensors_[id];
  }

  plan::ArgList converted(const loop::ArgList& args) const {
    plan::ArgList out;
    for (const loop::Arg& arg : args) {
      out.push_back(ir::converted_arg<plan::Arg>(arg, [this](auto ref) {
        if constexpr (std::is_same_v<decltype(ref), loop::BufferId>) {
          return tensor(ref);
        } else {
          return plan::NumberId(ref.index());
        }
      }));
    }
    return out;
  }

  void add_launch(const loop::Kernel& kernel, const KernelLaunch& launch) {
    plan::LaunchStep step;
    step.kernel = launch.symbol;
    for (const loop::BufferId id : launch.buffers) step.tensors.push_back(tensor(id));
    step.ints = launch.ints;
    for (const loop::NumberId id : launch.numbers) step.floats.push_back(plan::NumberId(id.index()));
    step.phases = launch.phases;
    step.checks_indices = launch.checks_indices;
    add_step(std::move(step), kernel.origin);
  }

  // How many cores launches may use is known when a call begins.
  void bind_cores() {
    const sym::Expr cores = tile::npu::vector_cores(program_.cx());
    const auto mentions = [&](sym::Expr e) { return sym::mentions(e, cores); };
    const bool is_used = std::ranges::any_of(launches_, [&](const KernelLaunch& launch) {
      return std::ranges::any_of(launch.ints, mentions) ||
             std::ranges::any_of(launch.phases,
                                 [&](const plan::LaunchPhase& phase) { return mentions(phase.units); });
    });
    if (!is_used) return;
    plan_.symbols.push_back({cores, {1, INT32_MAX}});
    plan::BindStep step;
    step.source = plan::BindStep::Source::kVectorCores;
    step.symbol = cores;
    add_step(std::move(step), "");
  }

  // A called op whose result is an integer that the host needs has no tensor result: it reads one element, or
  // rounds a number.
  bool add_integer(const loop::Call& call) {
    const bool is_item = call.op == kItemOp;
    if ((!is_item && !call.op.starts_with(kScalarPrefix)) || call.defines.size() != 1) return false;
    plan::BindStep step;
    step.symbol = call.defines[0];
    if (is_item) {
      const loop::BufferId* source = call.args.empty() ? nullptr : call.args[0].as<loop::BufferId>();
      CHECK(source != nullptr, "{} without a tensor", call.op);
      step.source = plan::BindStep::Source::kItem;
      step.tensor = tensor(*source);
    } else {
      step.source = rounding(std::string_view(call.op).substr(kScalarPrefix.size()));
      step.number = rounded_number(call);
    }
    add_step(std::move(step), call.reason);
    return true;
  }

  static plan::BindStep::Source rounding(std::string_view name) {
    for (const auto& [source, word] : plan::kBindSources) {
      if (word == name && plan::BindStep{source, {}, {}, 0, {}}.of_number()) return source;
    }
    CHECK(false, "{} makes no integer", name);
  }

  // The operand; a constant gets a number of its own.
  plan::NumberId rounded_number(const loop::Call& call) {
    CHECK(call.args.size() == 1, "{} of {} operands", call.op, call.args.size());
    if (const auto* id = call.args[0].as<loop::NumberId>()) return plan::NumberId(id->index());
    std::string name = "rounded";
    while (!names_.insert(name).second) name += "_";
    const plan::NumberId number = plan_.numbers.add({name, plan::NumberKind::kFloat, std::nullopt});
    add_step(plan::NumberStep{"to_float", converted(call.args), number}, "");
    return number;
  }

  void add_call(const loop::Call& call) {
    if (add_integer(call)) return;
    if (call.op.starts_with(kPythonPrefix)) return add_python(call);
    plan::CallStep step;
    step.op = call.op;
    step.args = converted(call.args);
    size_t fresh = 0;
    size_t planned = 0;
    for (const loop::BufferId id : call.results) {
      step.results.push_back(result(id));
      if (id) ++(program_.buffers[id].storage == loop::Storage::kResult ? fresh : planned);
    }
    CHECK(fresh == 0 || planned == 0, "{} has planned and returned results", call.op);
    step.into = planned > 0;
    const std::vector<plan::TensorId> results = step.results;
    const bool returns_ints = has_int_results(call.op);
    if (returns_ints) step.result_ints = call.defines;
    add_step(std::move(step), call.reason);
    if (!returns_ints) bind_results(plan_, results, call.defines);
  }

  void add_python(const loop::Call& call) {
    plan::PythonStep step;
    const std::string_view digits = std::string_view(call.op).substr(kPythonPrefix.size());
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), step.callable);
    CHECK(error == std::errc() && end == digits.data() + digits.size(), "no callable in '{}'", call.op);
    step.args = converted(call.args);
    for (const loop::BufferId id : call.results) step.results.push_back(result(id));
    const std::vector<plan::TensorId> results = step.results;
    add_step(std::move(step), call.reason);
    bind_results(plan_, results, call.defines);
  }

  bool has_int_results(const std::string& op) const {
    for (const auto& [name, schema] : program_.schemas) {
      if (name != op) continue;
      return std::any_of(schema.returns.begin(), schema.returns.end(),
                         [](const std::string& type) { return type == "int" || type == "SymInt"; });
    }
    return false;
  }

  void add_host_op(const loop::HostOp& host) {
    std::string_view op = host.op;
    if (op.starts_with(kScalarPrefix)) op.remove_prefix(kScalarPrefix.size());
    if (op == kItemOp) op = "item";
    add_step(plan::NumberStep{std::string(op), converted(host.args), plan::NumberId(host.result.index())},
             "");
  }

  const loop::Program& program_;
  std::span<const KernelLaunch> launches_;
  plan::Plan plan_;
  std::unordered_set<loop::BufferId> used_;
  IdTable<loop::BufferId, plan::TensorId> tensors_;
  std::unordered_set<std::string> names_;
};

}  // namespace

plan::Plan emit_plan(const loop::Program& program, std::span<const KernelLaunch> launches) {
  return Emitter(program, launches).run();
}

}  // namespace jumar::emit::host
