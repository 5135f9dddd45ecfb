#include "driver/ladder.h"

#include <algorithm>
#include <deque>

#include "driver/context.h"
#include "driver/stages.h"
#include "runtime/memory.h"

namespace jumar::driver {
namespace {

using loop::HostTensor;
using loop::Program;
using loop::RunArg;

// Named as `jumar opt --to` names them.
struct Level {
  std::string name;
  Program program;
};

bool has_unknown_numbers(const Program& program) {
  return std::ranges::any_of(program.items, [](const loop::Item& item) {
    const auto* call = std::get_if<loop::Call>(&item);
    return call != nullptr && !call->defines.empty();
  });
}

// Sizes and strides that views point to stay where they are.
runtime::TensorView view_of(const loop::TensorView& view) {
  return {view.data, view.dtype, static_cast<int32_t>(view.sizes.size()), view.sizes.data(),
          view.strides.data()};
}

// Answers calls of a plan as the interpreter's are answered, one after another.
class ImitatedCalls : public runtime::HostCalls {
 public:
  ImitatedCalls(const Program& program, loop::CallHandler handler) : handler_(std::move(handler)) {
    for (const loop::Item& item : program.items)
      if (const auto* call = std::get_if<loop::Call>(&item)) calls_.push_back(call);
  }

  bool call_python(uint32_t, std::span<const runtime::HostArg> args, runtime::HostResults& results) override {
    return answer(args, results);
  }
  bool call_op(const std::string&, const plan::Schema&, std::span<const runtime::HostArg> args,
               runtime::HostResults& results) override {
    return answer(args, results);
  }

 private:
  static RunArg converted(const runtime::HostArg& arg) {
    using Kind = runtime::HostArg::Kind;
    switch (arg.kind) {
      case Kind::kTensor: {
        const runtime::TensorView& t = arg.tensor;
        return {
            loop::TensorView{t.data, t.dtype, {t.sizes, t.sizes + t.rank}, {t.strides, t.strides + t.rank}}};
      }
      case Kind::kInt:
        return {arg.integer};
      case Kind::kFloat:
        return {arg.number};
      case Kind::kBool:
        return {arg.integer != 0};
      case Kind::kList: {
        RunArg::List items;
        for (const runtime::HostArg& item : arg.items) items.push_back(converted(item));
        return {std::move(items)};
      }
      default:
        return {ir::NoneArg()};  // words and texts change nothing in an imitation
    }
  }

  bool answer(std::span<const runtime::HostArg> args, runtime::HostResults& results) {
    CHECK(next_ < calls_.size(), "a plan makes more calls than its program has");
    RunArg::List list;
    for (const runtime::HostArg& arg : args) list.push_back(converted(arg));
    Result<loop::CallResult> result = handler_(*calls_[next_++], list);
    if (!result.ok()) return false;
    for (HostTensor& tensor : result->tensors) {
      runtime::HostTensor& out = results.tensors.emplace_back();
      if (tensor.sizes.empty() && tensor.bytes.empty()) continue;  // nobody wants it
      kept_.push_back(std::move(tensor));
      views_.push_back(kept_.back().view());
      out.host = {&kept_.back(), [](void*) {}};
      out.view = view_of(views_.back());
    }
    return true;
  }

  std::vector<const loop::Call*> calls_;
  size_t next_ = 0;
  loop::CallHandler handler_;
  std::deque<HostTensor> kept_;
  std::deque<loop::TensorView> views_;
};

// The code with which interpreter and runtime tell of what a right program may raise.
std::string code_of(const runtime::RunError& error) {
  using Kind = runtime::RunError::Kind;
  switch (error.kind) {
    case Kind::kIndex:
      return "index";
    case Kind::kCheck:
      return "check";
    case Kind::kInput:
      return "input";
    case Kind::kNumber:
      return "overflow";
    default:
      return "run";
  }
}

std::vector<runtime::InputValue> plan_inputs(loop::ProgramInputs& inputs,
                                             std::deque<loop::TensorView>& views) {
  std::vector<runtime::InputValue> out;
  for (const RunArg& arg : inputs.args) {
    runtime::InputValue value;
    if (const auto* view = std::get_if<loop::TensorView>(&arg.data)) {
      views.push_back(*view);
      value.tensor = view_of(views.back());
    } else if (const auto* integer = std::get_if<int64_t>(&arg.data)) {
      value.kind = runtime::InputValue::Kind::kInt;
      value.integer = *integer;
    } else if (const auto* number = std::get_if<double>(&arg.data)) {
      value.kind = runtime::InputValue::Kind::kFloat;
      value.number = *number;
    } else {
      value.kind = runtime::InputValue::Kind::kBool;
      value.integer = std::get<bool>(arg.data) ? 1 : 0;
    }
    out.push_back(value);
  }
  return out;
}

// What a call gave is returned as that object, or as a view of it.
loop::TensorView given_by_a_call(const runtime::Output& output) {
  HostTensor& tensor = *static_cast<HostTensor*>(output.host.object);
  if (output.whole) return tensor.view();
  std::byte* const first = tensor.bytes.data() + output.offset * ir::dtype_bytes(output.dtype);
  return {first, output.dtype, output.sizes, output.strides};
}

loop::OutputValue result_of(const runtime::Output& output, std::span<const runtime::InputValue> inputs) {
  using Kind = runtime::Output::Kind;
  switch (output.kind) {
    case Kind::kNone:
      return {};
    case Kind::kInt:
      return {output.integer};
    case Kind::kFloat:
      return {output.number};
    case Kind::kBool:
      return {output.integer != 0};
    default:
      break;
  }
  if (output.kind == Kind::kAlias && !output.input) return {loop::copy_of(given_by_a_call(output))};
  const runtime::TensorView view = runtime::output_view(nullptr, output, inputs);
  const loop::TensorView elements{
      view.data, view.dtype, {view.sizes, view.sizes + view.rank}, {view.strides, view.strides + view.rank}};
  return {loop::copy_of(elements)};
}

Result<loop::ProgramResult> run_plan(const CompiledGraph& graph, const Program& program,
                                     loop::ProgramInputs& inputs) {
  std::deque<loop::TensorView> views;
  const std::vector<runtime::InputValue> values = plan_inputs(inputs, views);
  std::vector<runtime::Output> outputs(graph.output_count());
  ImitatedCalls calls(program, loop::imitated_calls(program, inputs.args));
  if (const std::optional<runtime::RunError> error = graph.run(values, outputs, &calls))
    return diagnostic(code_of(*error), "{}", error->message);
  loop::ProgramResult result;
  for (const runtime::Output& output : outputs) result.outputs.push_back(result_of(output, values));
  return result;
}

Status same(const std::string& level, const Result<loop::ProgramResult>& before,
            const Result<loop::ProgramResult>& after, const loop::Tolerance& tolerance) {
  if (!before.ok() && !after.ok()) {
    if (before.error().code == after.error().code) return {};
    return diagnostic("different", "{}: {} in place of: {}", level, after.error().text(),
                      before.error().text());
  }
  if (!after.ok()) return diagnostic("different", "{}: {}", level, after.error().text());
  if (!before.ok())
    return diagnostic("different", "{}: nothing is raised in place of: {}", level, before.error().text());
  const Status status = loop::compare_outputs(*after, *before, tolerance);
  if (status.ok()) return {};
  return diagnostic("different", "{}: {}", level, status.error().message);
}

class Climb {
 public:
  Climb(const graph::Graph& graph, const Options& options, const LadderRequest& request)
      : graph_(graph), options_(options), request_(request) {}

  Status run() {
    JUMAR_RETURN_IF_ERROR(make_levels());
    for (int round = 0; round < request_.rounds; ++round) JUMAR_RETURN_IF_ERROR(compare(round));
    return {};
  }

 private:
  Status make_levels() {
    Report report;
    JUMAR_ASSIGN(Dumps dumps, Dumps::create({}, [](std::string_view, const std::string&) {}));
    Stages stages(options_, report, dumps);
    graph::Graph graph = graph_;
    JUMAR_RETURN_IF_ERROR(stages.optimize(graph));
    JUMAR_ASSIGN(const jit::CpuTarget target, target_of(options_, true));
    JUMAR_ASSIGN(Program program, stages.lower(graph));
    levels_.push_back({"loop", program});
    stages.fuse(program);
    levels_.push_back({"fused", program});
    stages.tile(program, target);
    levels_.push_back({"tiled", std::move(program)});
    JUMAR_ASSIGN(const std::shared_ptr<Context> context, Context::create(process_environment()));
    JUMAR_ASSIGN(const Options uncached, options_.with("cache=false"));
    JUMAR_ASSIGN(compiled_, context->compile(graph::write_graph(graph_), uncached));
    return {};
  }

  Status compare(int round) {
    loop::CheckOptions options;
    options.seed = request_.seed + static_cast<uint64_t>(round);
    options.special_share = request_.special_share;
    for (const graph::SymbolInfo& symbol : graph_.symbols)
      if (round == 0 && symbol.hint) options.symbols[symbol.symbol.symbol_name()] = *symbol.hint;
    JUMAR_ASSIGN(loop::ProgramInputs inputs, loop::random_inputs(levels_.front().program, options));
    const auto interpreted = [&](const Program& program) {
      return loop::run_program(program, inputs, loop::imitated_calls(program, inputs.args));
    };
    loop::Tolerance tolerance;
    tolerance.relative = request_.tolerance;
    tolerance.absolute = request_.tolerance / 10;
    const Result<loop::ProgramResult> first = interpreted(levels_.front().program);
    if (!first.ok() && !is_raised(first.error())) return first.error();
    for (size_t k = 1; k < levels_.size(); ++k)
      JUMAR_RETURN_IF_ERROR(same(levels_[k].name, first, interpreted(levels_[k].program), tolerance));
    const Program& tiled = levels_.back().program;
    if (has_unknown_numbers(tiled)) return {};
    return same("kernels", first, run_plan(*compiled_, tiled, inputs), tolerance);
  }

  // What a right program may raise for its inputs; the rest is a promise that the lowered program breaks.
  static bool is_raised(const Diagnostic& error) {
    return error.code == "index" || error.code == "check" || error.code == "input" ||
           error.code == "overflow";
  }

  const graph::Graph& graph_;
  const Options& options_;
  const LadderRequest& request_;
  std::vector<Level> levels_;
  std::shared_ptr<const CompiledGraph> compiled_;
};

}  // namespace

Status climb(const graph::Graph& graph, const Options& options, const LadderRequest& request) {
  return Climb(graph, options, request).run();
}

}  // namespace jumar::driver
