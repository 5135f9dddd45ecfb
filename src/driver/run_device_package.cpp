#include "driver/run_device_package.h"

#include <fmt/ranges.h>

#include <cstdio>

#include "driver/context.h"
#include "driver/run_arrays.h"
#include "driver/sim_report.h"

namespace jumar::driver {
namespace {

using runtime::InputValue;
using runtime::Output;

// The number that argument `index` of the plan is; nothing for a tensor.
std::optional<HostKind> number_kind(const plan::Plan& plan, size_t index) {
  for (const plan::IntInput& input : plan.int_inputs)
    if (input.index == index) return HostKind::kInt;
  for (const plan::Number& number : plan.numbers)
    if (number.input && *number.input == index)
      return number.kind == plan::NumberKind::kBool ? HostKind::kBool : HostKind::kFloat;
  return std::nullopt;
}

Result<std::vector<InputValue>> inputs_of(std::span<FileArray> arrays, const plan::Plan& plan) {
  std::vector<InputValue> inputs;
  for (size_t k = 0; k < arrays.size(); ++k) {
    JUMAR_ASSIGN(const InputValue value, input_of(arrays[k], number_kind(plan, k)));
    inputs.push_back(value);
  }
  return inputs;
}

Status write_outputs(const RunArguments& arguments, const CompiledGraph& graph,
                     std::span<const Output> outputs, std::span<const InputValue> inputs) {
  for (size_t k = 0; k < outputs.size(); ++k) {
    if (outputs[k].kind == Output::Kind::kNone) continue;
    JUMAR_ASSIGN(const NpyArray array, array_of(graph.torch(), outputs[k], inputs));
    JUMAR_RETURN_IF_ERROR(write_result(arguments.output, k, array));
  }
  return {};
}

Result<Options> options_of(const RunArguments& arguments, const Options& base) {
  JUMAR_ASSIGN(Options options,
               base.with(arguments.torch_library.empty() ? "provider=onednn" : "provider=torch"));
  std::vector<std::string> given = arguments.options;
  if (!arguments.device_limit.empty()) given.push_back("device_limit=" + arguments.device_limit);
  return options.with(fmt::format("{}", fmt::join(given, "\n")));
}

}  // namespace

Status run_device_package(const RunArguments& arguments, const Options& base) {
  JUMAR_ASSIGN(const Options options, options_of(arguments, base));
  JUMAR_ASSIGN(const std::shared_ptr<Context> context, Context::create(process_environment()));
  Running running;
  running.torch_library = arguments.torch_library;
  running.without_libtorch = arguments.torch_library.empty();
  running.threads = arguments.threads;
  auto loaded = context->simulate_package(arguments.program, options, running);
  if (!loaded.ok()) {
    if (running.without_libtorch && loaded.error().code == "unsupported")
      loaded.error().notes.emplace_back(
          "--torch=<torch>/lib/libtorch_cpu.so makes the calls that oneDNN "
          "does not have");
    return std::move(loaded.error());
  }
  const CompiledGraph& graph = **loaded;
  if (arguments.inputs.size() != graph.input_count())
    return diagnostic("input", "the program has {} inputs, {} are given; without any they are listed",
                      graph.input_count(), arguments.inputs.size());
  std::vector<FileArray> arrays;
  for (const std::string& path : arguments.inputs) {
    JUMAR_ASSIGN(FileArray array, FileArray::read(path));
    arrays.push_back(std::move(array));
  }
  JUMAR_ASSIGN(const std::vector<InputValue> inputs, inputs_of(arrays, graph.plan().plan()));
  std::vector<Output> outputs(graph.output_count());
  const auto call = [&]() -> Status {
    const std::optional<runtime::RunError> error = graph.run(inputs, outputs, nullptr);
    if (error) return diagnostic("run", "{}", error->message);
    return {};
  };
  JUMAR_RETURN_IF_ERROR(call());
  JUMAR_RETURN_IF_ERROR(measure(arguments.repeat, call));
  JUMAR_RETURN_IF_ERROR(write_outputs(arguments, graph, outputs, inputs));
  JUMAR_ASSIGN(const std::string text, sim_report(graph, *graph.device(), inputs));
  std::fwrite(text.data(), 1, text.size(), stderr);
  return {};
}

}  // namespace jumar::driver
