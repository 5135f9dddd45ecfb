#include "driver/run_command.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>

#include "driver/context.h"
#include "import/pt2.h"
#include "runtime/memory.h"
#include "support/npy.h"

namespace jumar::driver {
namespace {

using ir::DType;
using runtime::InputValue;
using runtime::Output;
using runtime::TensorView;

constexpr std::string_view kNumberPlace = "{}";

struct NpyRow {
  DType dtype;
  std::string_view type;
};
constexpr std::array<NpyRow, 13> kNpyTypes = {{{DType::kF32, "<f4"},
                                               {DType::kF64, "<f8"},
                                               {DType::kF16, "<f2"},
                                               {DType::kBF16, "<V2"},
                                               {DType::kI64, "<i8"},
                                               {DType::kI32, "<i4"},
                                               {DType::kI16, "<i2"},
                                               {DType::kI8, "|i1"},
                                               {DType::kU64, "<u8"},
                                               {DType::kU32, "<u4"},
                                               {DType::kU16, "<u2"},
                                               {DType::kU8, "|u1"},
                                               {DType::kBool, "|b1"}}};

std::optional<DType> dtype_of(std::string_view type) {
  if (type == "|V2") return DType::kBF16;
  const auto* row = std::ranges::find(kNpyTypes, type, &NpyRow::type);
  return row == kNpyTypes.end() ? std::nullopt : std::optional(row->dtype);
}

// An array of a file, as an input.
struct Argument {
  NpyArray array;
  std::vector<int64_t> strides;
  InputValue value;
};

std::vector<int64_t> array_strides(const NpyArray& array) {
  std::vector<int64_t> strides(array.sizes.size());
  int64_t next = 1;
  for (size_t n = 0; n < strides.size(); ++n) {
    const size_t k = array.is_column_major ? n : strides.size() - 1 - n;
    strides[k] = next;
    next *= std::max<int64_t>(array.sizes[k], 1);
  }
  return strides;
}

// A program takes row-major tensors: the elements of others are moved.
void make_row_major(NpyArray& array, DType dtype) {
  if (!std::exchange(array.is_column_major, false)) return;
  NpyArray before = array;
  before.is_column_major = true;
  const std::vector<int64_t> from = array_strides(before);
  const std::vector<int64_t> to = array_strides(array);
  const int32_t rank = static_cast<int32_t>(array.sizes.size());
  runtime::copy_elements({before.elements.data(), dtype, rank, array.sizes.data(), from.data()},
                         {array.elements.data(), dtype, rank, array.sizes.data(), to.data()});
}

// The only element of an array as a host number, for an input that is no tensor.
Status set_number(Argument& argument, DType dtype, graph::ValueKind kind, const std::string& path) {
  InputValue& value = argument.value;
  const std::vector<uint8_t>& bytes = argument.array.elements;
  if (kind == graph::ValueKind::kInt && dtype == DType::kI64 && bytes.size() == sizeof value.integer) {
    value.kind = InputValue::Kind::kInt;
    std::memcpy(&value.integer, bytes.data(), bytes.size());
  } else if (kind == graph::ValueKind::kFloat && dtype == DType::kF64 &&
             bytes.size() == sizeof value.number) {
    value.kind = InputValue::Kind::kFloat;
    std::memcpy(&value.number, bytes.data(), bytes.size());
  } else if (kind == graph::ValueKind::kBool && dtype == DType::kBool && bytes.size() == 1) {
    value.kind = InputValue::Kind::kBool;
    value.integer = bytes[0] != 0;
  } else {
    return diagnostic("input", "{} must hold one element of {}", path,
                      kind == graph::ValueKind::kInt     ? "<i8"
                      : kind == graph::ValueKind::kFloat ? "<f8"
                                                         : "|b1");
  }
  return {};
}

Status read_argument(const std::string& path, const graph::Value& wanted, Argument& argument) {
  JUMAR_ASSIGN(argument.array, read_npy(path));
  const DType dtype = *dtype_of(argument.array.type);
  if (wanted.kind != graph::ValueKind::kTensor) return set_number(argument, dtype, wanted.kind, path);
  make_row_major(argument.array, dtype);
  argument.strides = array_strides(argument.array);
  argument.value.tensor = {argument.array.elements.data(), dtype,
                           static_cast<int32_t>(argument.array.sizes.size()), argument.array.sizes.data(),
                           argument.strides.data()};
  return {};
}

std::string kind_text(const import::Imported& model, const graph::Value& value) {
  switch (value.kind) {
    case graph::ValueKind::kTensor:
      return ir::text(model.graph.cx(), value.type);
    case graph::ValueKind::kInt:
      return fmt::format("int({})", sym::text(value.expr));
    case graph::ValueKind::kFloat:
      return "float";
    case graph::ValueKind::kBool:
      return "bool";
    case graph::ValueKind::kNone:
      break;
  }
  return "none";
}

// "%tokens: i64[s0, 128]" for each input, then the ranges of the sizes.
std::string input_list(const import::Imported& model) {
  std::string out;
  for (const import::CallInput& input : model.inputs) {
    if (!input.graph_input) continue;
    const graph::Value& value = model.graph.values[model.graph.inputs[*input.graph_input].value];
    out += fmt::format("{}: {}\n", input.name, kind_text(model, value));
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

// The tensor of a result; without memory where it is none.
TensorView result_view(const Output& output, std::span<const InputValue> inputs) {
  if (output.kind == Output::Kind::kManaged) {
    const DLTensor& t = output.managed->dl_tensor;
    return {static_cast<char*>(t.data) + t.byte_offset, output.dtype, t.ndim, t.shape, t.strides};
  }
  CHECK(output.input.has_value(), "a result of another kind");
  void* data = inputs[*output.input].tensor.data;
  return {static_cast<char*>(data) + output.offset * ir::dtype_bytes(output.dtype), output.dtype,
          static_cast<int32_t>(output.sizes.size()), output.sizes.data(), output.strides.data()};
}

template <class T>
NpyArray number_array(std::string_view type, T value) {
  NpyArray array{std::string(type), {}, false, std::vector<uint8_t>(sizeof value)};
  std::memcpy(array.elements.data(), &value, sizeof value);
  return array;
}

Result<NpyArray> result_array(const Output& output, std::span<const InputValue> inputs) {
  if (output.kind == Output::Kind::kInt) return number_array("<i8", output.integer);
  if (output.kind == Output::Kind::kFloat) return number_array("<f8", output.number);
  if (output.kind == Output::Kind::kBool) return number_array("|b1", output.integer != 0);
  const TensorView view = result_view(output, inputs);
  const auto* row = std::ranges::find(kNpyTypes, view.dtype, &NpyRow::dtype);
  if (row == kNpyTypes.end())
    return diagnostic("unsupported", "a result has elements of type {}, which .npy files have not",
                      ir::dtype_name(view.dtype));
  NpyArray array{std::string(row->type), {view.sizes, view.sizes + view.rank}, false, {}};
  int64_t bytes = ir::dtype_bytes(view.dtype);
  for (int64_t size : array.sizes) bytes *= size;
  array.elements.resize(static_cast<size_t>(bytes));
  const std::vector<int64_t> strides = array_strides(array);
  runtime::copy_elements(view, {array.elements.data(), view.dtype, view.rank, view.sizes, strides.data()});
  return array;
}

class Command {
 public:
  Command(const RunArguments& arguments, import::Imported model)
      : arguments_(arguments), model_(std::move(model)) {}

  Status run(const Options& options) {
    JUMAR_RETURN_IF_ERROR(read_inputs());
    JUMAR_ASSIGN(const std::shared_ptr<Context> context, Context::create(process_environment()));
    const Running running{true, true, arguments_.threads};
    JUMAR_ASSIGN(graph_, context->compile(graph::write_graph(model_.graph), options, running));
    outputs_.resize(graph_->plan().output_count());
    JUMAR_RETURN_IF_ERROR(call());
    JUMAR_RETURN_IF_ERROR(measure());
    return write_outputs();
  }

 private:
  Status read_inputs() {
    inputs_.resize(model_.graph.inputs.size());
    std::vector<std::pair<std::string, size_t>> wanted;
    for (const import::CallInput& input : model_.inputs)
      if (input.graph_input) wanted.emplace_back(input.name, *input.graph_input);
    if (wanted.size() != arguments_.inputs.size())
      return diagnostic("input", "the program has {} inputs, {} are given; without any they are listed",
                        wanted.size(), arguments_.inputs.size());
    arguments_read_.resize(wanted.size());
    for (size_t k = 0; k < wanted.size(); ++k) {
      const graph::Value& value = model_.graph.values[model_.graph.inputs[wanted[k].second].value];
      JUMAR_RETURN_IF_ERROR(read_argument(arguments_.inputs[k], value, arguments_read_[k]));
      inputs_[wanted[k].second] = arguments_read_[k].value;
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

  Status measure() {
    std::vector<double> times;
    for (int k = 0; k < arguments_.repeat; ++k) {
      const auto start = std::chrono::steady_clock::now();
      JUMAR_RETURN_IF_ERROR(call());
      times.push_back(
          std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
    }
    if (times.empty()) return {};
    std::ranges::sort(times);
    const std::string line = fmt::format("{} calls, median {:.3f} ms, fastest {:.3f} ms\n", times.size(),
                                         times[times.size() / 2], times.front());
    std::fwrite(line.data(), 1, line.size(), stderr);
    return {};
  }

  // New values of the program's own state are not kept.
  Status write_outputs() {
    size_t number = 0;
    for (size_t k = 0; k < outputs_.size(); ++k) {
      if (model_.outputs[k].role != import::OutputRole::kUser) continue;
      const size_t mine = number++;
      if (outputs_[k].kind == Output::Kind::kNone) continue;
      JUMAR_ASSIGN(const NpyArray array, result_array(outputs_[k], inputs_));
      std::string path = arguments_.output;
      if (const size_t place = path.find(kNumberPlace); place != std::string::npos)
        path.replace(place, kNumberPlace.size(), fmt::format("{}", mine));
      JUMAR_RETURN_IF_ERROR(write_npy(path, array));
      const std::string line = fmt::format("{}: {}[{}]\n", path, array.type, fmt::join(array.sizes, ", "));
      std::fwrite(line.data(), 1, line.size(), stdout);
    }
    return {};
  }

  const RunArguments& arguments_;
  import::Imported model_;
  std::shared_ptr<const CompiledGraph> graph_;
  std::vector<Argument> arguments_read_;
  std::vector<WeightLayout> weights_;
  std::vector<InputValue> inputs_;
  std::vector<Output> outputs_;
};

}  // namespace

Status run_command(const RunArguments& arguments, const Options& base) {
  JUMAR_ASSIGN(Options options, base.with("provider=onednn"));
  JUMAR_ASSIGN(options, options.with(fmt::format("{}", fmt::join(arguments.options, "\n"))));
  import::ImportOptions import_options;
  import_options.model = arguments.model;
  JUMAR_ASSIGN(import::Imported model, import::import_pt2(arguments.program, import_options));
  if (arguments.inputs.empty() && std::ranges::any_of(model.inputs, [](const import::CallInput& input) {
        return input.graph_input.has_value();
      })) {
    const std::string list = input_list(model);
    std::fwrite(list.data(), 1, list.size(), stdout);
    return {};
  }
  return Command(arguments, std::move(model)).run(options);
}

}  // namespace jumar::driver
