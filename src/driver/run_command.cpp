#include "driver/run_command.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>

#include "driver/archive_kind.h"
#include "driver/context.h"
#include "driver/device.h"
#include "driver/exported_view.h"
#include "driver/run_arrays.h"
#include "driver/run_package.h"
#include "driver/sim_report.h"
#include "import/pt2.h"
#include "runtime/memory.h"

namespace jumar::driver {
namespace {

using runtime::InputValue;
using runtime::Output;

// The number that an input is, where it is none of tensors.
std::optional<HostKind> number_kind(graph::ValueKind kind) {
  if (kind == graph::ValueKind::kTensor) return std::nullopt;
  return kind == graph::ValueKind::kInt     ? HostKind::kInt
         : kind == graph::ValueKind::kFloat ? HostKind::kFloat
                                            : HostKind::kBool;
}

// "%tokens: i64[s0, 128]" for each input, then the ranges of the sizes.
std::string input_list(const import::Imported& model) {
  std::string out;
  for (const import::CallInput& input : model.inputs) {
    if (!input.graph_input) continue;
    const graph::Value& value = model.graph.values[model.graph.inputs[*input.graph_input].value];
    out += fmt::format("{}: {}\n", input.name, value_text(model.graph, value));
  }
  for (const graph::SymbolInfo& symbol : model.graph.symbols)
    out += fmt::format("{} in [{}, {}]\n", sym::text(symbol.symbol), symbol.range.lo,
                       symbol.range.hi == sym::Range::kMax ? "inf" : fmt::format("{}", symbol.range.hi));
  return out;
}

// A weight's sizes and strides as numbers.
struct WeightLayout {
  std::vector<int64_t> dims;

  InputValue input(const import::Weight& weight) {
    for (sym::Expr size : weight.type.sizes) dims.push_back(size.const_value());
    for (sym::Expr stride : weight.type.strides) dims.push_back(stride.const_value());
    const size_t rank = weight.type.rank();
    InputValue value;
    // Read only: no plan of an import writes to its inputs.
    value.tensor = {const_cast<uint8_t*>(weight.data()), weight.type.dtype, static_cast<int32_t>(rank),
                    dims.data(), dims.data() + rank};
    return value;
  }
};

class Command {
 public:
  Command(const RunArguments& arguments, import::Imported model)
      : arguments_(arguments), model_(std::move(model)) {}

  Status run(const Options& options) {
    JUMAR_RETURN_IF_ERROR(read_inputs());
    JUMAR_ASSIGN(const std::shared_ptr<Context> context, Context::create(process_environment()));
    Running running{true, {}, true, arguments_.threads};
    running.torch_library = arguments_.torch_library;
    running.without_libtorch = arguments_.torch_library.empty();
    JUMAR_ASSIGN(graph_, context->compile(graph::write_graph(model_.graph), options, running));
    outputs_.resize(graph_->plan().output_count());
    JUMAR_RETURN_IF_ERROR(call());
    JUMAR_RETURN_IF_ERROR(measure(arguments_.repeat, [this] { return call(); }));
    JUMAR_RETURN_IF_ERROR(write_outputs());
    return arguments_.sim ? tell_what_ran(options) : Status();
  }

 private:
  Status tell_what_ran(const Options& options) {
    JUMAR_ASSIGN(const std::optional<Device> device, device_of(options));
    JUMAR_ASSIGN(const std::string text, sim_report(*graph_, *device, inputs_));
    std::fwrite(text.data(), 1, text.size(), stderr);
    return {};
  }

  Status read_inputs() {
    inputs_.resize(model_.graph.inputs.size());
    std::vector<std::pair<std::string, size_t>> wanted;
    for (const import::CallInput& input : model_.inputs)
      if (input.graph_input) wanted.emplace_back(input.name, *input.graph_input);
    if (wanted.size() != arguments_.inputs.size())
      return diagnostic("input", "the program has {} inputs, {} are given; without any they are listed",
                        wanted.size(), arguments_.inputs.size());
    arrays_.reserve(wanted.size());  // inputs point into them
    for (size_t k = 0; k < wanted.size(); ++k) {
      const graph::Value& value = model_.graph.values[model_.graph.inputs[wanted[k].second].value];
      JUMAR_ASSIGN(FileArray array, FileArray::read(arguments_.inputs[k]));
      arrays_.push_back(std::move(array));
      JUMAR_ASSIGN(inputs_[wanted[k].second], input_of(arrays_.back(), number_kind(value.kind)));
    }
    weights_.resize(model_.weights.size());
    for (size_t k = 0; k < model_.weights.size(); ++k)
      inputs_[model_.user_input_count + k] = weights_[k].input(model_.weights[k]);
    return {};
  }

  Status call() {
    std::optional<runtime::RunError> error = graph_->plan().run(inputs_, outputs_, nullptr);
    if (error) return diagnostic("run", "{}", error->message);
    return {};
  }

  // New values of the program's own state are not kept.
  Status write_outputs() {
    size_t number = 0;
    for (size_t k = 0; k < outputs_.size(); ++k) {
      if (model_.outputs[k].role != import::OutputRole::kUser) continue;
      const size_t mine = number++;
      if (outputs_[k].kind == Output::Kind::kNone) continue;
      JUMAR_ASSIGN(const NpyArray array, array_of(graph_->torch(), outputs_[k], inputs_));
      JUMAR_RETURN_IF_ERROR(write_result(arguments_.output, mine, array));
    }
    return {};
  }

  const RunArguments& arguments_;
  import::Imported model_;
  std::shared_ptr<const CompiledGraph> graph_;
  std::vector<FileArray> arrays_;
  std::vector<WeightLayout> weights_;
  std::vector<InputValue> inputs_;
  std::vector<Output> outputs_;
};

Status run_archive(const RunArguments& arguments, const Options& base,
                   const std::shared_ptr<const MappedFile>& file) {
  std::vector<std::string> given = arguments.options;
  if (!arguments.target.empty()) given.push_back("target=" + arguments.target);
  if (!arguments.device_limit.empty()) given.push_back("device_limit=" + arguments.device_limit);
  JUMAR_ASSIGN(Options options,
               base.with(arguments.torch_library.empty() ? "provider=onednn" : "provider=torch"));
  JUMAR_ASSIGN(options, options.with(fmt::format("{}", fmt::join(given, "\n"))));
  const bool has_device = options.target() != "cpu";
  if (has_device && !arguments.sim)
    return diagnostic("option", "{} is '{}': kernels for a device run in the simulator, with --sim",
                      options.source("target"), options.target());
  if (!has_device && arguments.sim)
    return diagnostic("option", "--sim runs kernels for a device: name one with --target");
  import::ImportOptions import_options;
  import_options.model = arguments.model;
  JUMAR_ASSIGN(import::Imported model, import::import_pt2(file->bytes(), arguments.program, import_options));
  model.file = file;
  if (arguments.inputs.empty() && std::ranges::any_of(model.inputs, [](const import::CallInput& input) {
        return input.graph_input.has_value();
      })) {
    const std::string list = input_list(model);
    std::fwrite(list.data(), 1, list.size(), stdout);
    return {};
  }
  return Command(arguments, std::move(model)).run(options);
}

}  // namespace

Status run_command(const RunArguments& arguments, const Options& base) {
  JUMAR_ASSIGN(const std::shared_ptr<const MappedFile> file, MappedFile::open(arguments.program));
  JUMAR_ASSIGN(const ArchiveKind kind, [&]() -> Result<ArchiveKind> {
    JUMAR_ASSIGN(const ZipArchive zip,
                 ZipArchive::read(file->bytes(), arguments.program, ZipArchive::Packing::kDeflate));
    return archive_kind(zip);
  }());
  const bool is_package = kind == ArchiveKind::kPackage || kind == ArchiveKind::kForeign;
  return is_package ? run_package(arguments, base, file->bytes()) : run_archive(arguments, base, file);
}

}  // namespace jumar::driver
