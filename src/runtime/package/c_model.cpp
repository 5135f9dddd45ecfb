// The functions of include/jumar/model.h.
#include "jumar/model.h"

#include <limits>

#include "runtime/memory.h"
#include "runtime/native/onednn.h"
#include "runtime/package/model.h"
#include "runtime/threads.h"
#include "runtime/torch/c_api.h"

namespace jumar::runtime::native {
// Packages whose plans call libtorch are linked without it.
__attribute__((weak)) Result<std::shared_ptr<const Provider>> load_onednn(const OneDnnOptions& options);
}  // namespace jumar::runtime::native

namespace {

namespace runtime = jumar::runtime;
namespace package = jumar::runtime::package;
namespace torch = jumar::runtime::torch;
using jumar::runtime::InputValue;
using jumar::runtime::Output;
using package::Model;

constexpr std::string_view kOneDnn = "onednn";  // the word of Manifest::provider
constexpr int64_t kPoolBytes = int64_t{1} << 30;

// A value's description, with the texts that jumar_model_value points to.
struct Described {
  std::string name;
  jumar_kind kind = JUMAR_TENSOR;
  DLDataType dtype{};
  std::vector<std::string> texts;  // sizes, then strides
  std::vector<const char*> pointers;
  size_t rank = 0;

  void fill(jumar_model_value* value) const {
    *value = {
        name.c_str(),          kind, dtype.code, dtype.bits, static_cast<int32_t>(rank), pointers.data(),
        pointers.data() + rank};
  }
};

Described described(const std::string& name, const jumar::ir::TensorType& type) {
  Described out;
  out.name = name;
  out.dtype = runtime::dl_dtype(type.dtype);
  out.rank = type.rank();
  for (const jumar::sym::Expr size : type.sizes) out.texts.push_back(jumar::sym::text(size));
  for (const jumar::sym::Expr stride : type.strides) out.texts.push_back(jumar::sym::text(stride));
  return out;
}

Described described(const package::Constant& constant) {
  Described out;
  out.name = constant.fqn;
  out.dtype = runtime::dl_dtype(constant.dtype);
  out.rank = constant.sizes.size();
  for (const int64_t size : constant.sizes) out.texts.push_back(std::to_string(size));
  for (const int64_t stride : constant.strides) out.texts.push_back(std::to_string(stride));
  return out;
}

DLManagedTensorVersioned* managed_of(const torch::Api& api, torch::Tensor tensor) {
  runtime::TensorView view;
  if (!runtime::handle_layout(api, tensor.get(), view)) return nullptr;
  const auto release = [](void* object) { delete static_cast<torch::Tensor*>(object); };
  return runtime::managed_tensor({new torch::Tensor(std::move(tensor)), release}, view);
}

}  // namespace

struct jumar_model_error {
  std::string code;
  std::string message;
};

struct jumar_model {
  std::unique_ptr<const torch::Api> torch;
  std::unique_ptr<Model> model;
  std::vector<Described> inputs;
  std::vector<Described> results;
  std::vector<Described> constants;
  std::vector<std::pair<std::string, jumar::sym::Range>> symbols;
};

namespace {

jumar_model_error* error_of(std::string code, std::string message) {
  return new jumar_model_error{std::move(code), std::move(message)};
}

const char* code_of(runtime::RunError::Kind kind) {
  using Kind = runtime::RunError::Kind;
  switch (kind) {
    case Kind::kInput:
      return "input";
    case Kind::kIndex:
      return "index";
    case Kind::kCheck:
      return "check";
    case Kind::kNumber:
      return "number";
    case Kind::kMemory:
      return "memory";
    default:
      return "operator";
  }
}

void point_to_texts(std::vector<Described>& rows) {
  for (Described& row : rows) {
    for (const std::string& text : row.texts) row.pointers.push_back(text.c_str());
  }
}

jumar_kind kind_of(jumar::plan::NumberKind kind) {
  return kind == jumar::plan::NumberKind::kBool ? JUMAR_BOOL : JUMAR_FLOAT;
}

Described number(const std::string& name, jumar_kind kind) {
  Described out;
  out.name = name;
  out.kind = kind;
  return out;
}

void describe_inputs(jumar_model& out) {
  const jumar::plan::Plan& plan = out.model->plan().plan();
  out.inputs.resize(out.model->argument_count());
  const auto put = [&](uint32_t index, Described value) {
    if (index < out.inputs.size()) out.inputs[index] = std::move(value);
  };
  for (const jumar::plan::Tensor& tensor : plan.tensors) {
    const bool is_input =
        tensor.storage == jumar::plan::Storage::kInput || tensor.storage == jumar::plan::Storage::kParameter;
    if (is_input) put(tensor.index, described(tensor.name, tensor.type));
  }
  for (const jumar::plan::IntInput& input : plan.int_inputs) put(input.index, number(input.name, JUMAR_INT));
  for (const jumar::plan::Number& input : plan.numbers) {
    if (input.input) put(*input.input, number(input.name, kind_of(input.kind)));
  }
  // The call's own names, where the plan has made others of them.
  size_t next = 0;
  for (const package::Argument& argument : out.model->manifest().arguments) {
    if (!argument.is_constant) out.inputs[next++].name = argument.name;
  }
}

void describe(jumar_model& out) {
  const jumar::plan::Plan& plan = out.model->plan().plan();
  const package::Manifest& manifest = out.model->manifest();
  describe_inputs(out);
  for (size_t k = 0; k < manifest.results.size(); ++k) {
    if (manifest.results[k].role != package::CallResult::Role::kUser) continue;
    const std::string name = fmt::format("result{}", out.results.size());
    const jumar::plan::Arg& arg = plan.outputs[k];
    if (const auto* tensor = std::get_if<jumar::plan::TensorId>(&arg.data)) {
      out.results.push_back(described(name, plan.tensors[*tensor].type));
    } else if (const auto* value = std::get_if<jumar::plan::NumberId>(&arg.data)) {
      out.results.push_back(number(name, kind_of(plan.numbers[*value].kind)));
    } else {
      out.results.push_back(
          number(name, std::holds_alternative<jumar::sym::Expr>(arg.data) ? JUMAR_INT : JUMAR_NONE));
    }
  }
  for (const package::Constant& constant : manifest.constants) out.constants.push_back(described(constant));
  for (const jumar::plan::SymbolInfo& symbol : plan.symbols)
    out.symbols.emplace_back(jumar::sym::text(symbol.symbol), symbol.range);
  for (auto* rows : {&out.inputs, &out.results, &out.constants}) point_to_texts(*rows);
}

jumar::Result<std::shared_ptr<package::Weights>> weights_of(const jumar_model_options& options,
                                                            const package::Manifest& manifest) {
  if (manifest.weights_bytes == 0) return package::Weights::borrowed({});
  if (options.weights != nullptr) {
    return package::Weights::borrowed({static_cast<uint8_t*>(options.weights), options.weights_bytes});
  }
  if (options.path != nullptr) {
    return package::Weights::open(options.path, options.weights_offset, options.weights_bytes,
                                  manifest.weights_id);
  }
  return package::Weights::open_own(manifest.weights_id);
}

// libtorch where the plan was made for it and the process has one; what is missing is told when the plan is
// prepared, because a plan that calls nothing needs neither.
jumar::Result<runtime::Engine> engine_of(const jumar_model_options& options,
                                         const package::Manifest& manifest,
                                         std::unique_ptr<const torch::Api>& torch) {
  runtime::Engine engine;
  engine.has_host_calls = false;
  engine.pool = runtime::Pool::create(options.pool_bytes > 0 ? options.pool_bytes : kPoolBytes);
  if (manifest.provider == kOneDnn) {
    runtime::native::OneDnnOptions onednn;
    onednn.threads = options.threads;
    CHECK(runtime::native::load_onednn != nullptr, "the package was linked without what calls oneDNN");
    JUMAR_ASSIGN(engine.native, runtime::native::load_onednn(onednn));
    return engine;
  }
  auto loaded = torch::Api::load(options.torch_library != nullptr ? options.torch_library : "");
  if (loaded.ok()) {
    torch = std::move(*loaded);
    engine.torch = torch.get();
  } else if (options.torch_library != nullptr) {
    return std::move(loaded.error());
  } else {
    engine.threads = runtime::ThreadPool::create(options.threads);
  }
  return engine;
}

jumar::Result<std::unique_ptr<jumar_model>> created(const jumar_model_options& options) {
  auto out = std::make_unique<jumar_model>();
  JUMAR_ASSIGN(
      out->model,
      Model::create(
          jumar_package, [&](const package::Manifest& manifest) { return weights_of(options, manifest); },
          [&](const package::Manifest& manifest) { return engine_of(options, manifest, out->torch); }));
  describe(*out);
  return out;
}

bool read_tensor(const jumar_tensor& from, runtime::TensorView& to, std::vector<int64_t>& strides) {
  const auto dtype = runtime::dtype_from_dl({from.dtype_code, from.dtype_bits, 1});
  if (!dtype) return false;
  to = {from.data, *dtype, from.rank, from.sizes, from.strides, from.device_type};
  if (from.strides == nullptr) {
    strides = runtime::contiguous_strides(to);
    to.strides = strides.data();
  }
  return true;
}

jumar_model_error* read_inputs(const jumar_model& model, const jumar_value* inputs, size_t count,
                               std::vector<InputValue>& values, std::vector<std::vector<int64_t>>& strides) {
  for (size_t k = 0; k < count; ++k) {
    InputValue& value = values[k];
    switch (inputs[k].kind) {
      case JUMAR_TENSOR:
        if (read_tensor(inputs[k].tensor, value.tensor, strides[k])) break;
        return error_of("input", fmt::format("input {} ({}) has an element type that Jumar does not have", k,
                                             k < model.inputs.size() ? model.inputs[k].name : "?"));
      case JUMAR_INT:
        value.kind = InputValue::Kind::kInt;
        value.integer = inputs[k].integer;
        break;
      case JUMAR_FLOAT:
        value.kind = InputValue::Kind::kFloat;
        value.number = inputs[k].number;
        break;
      case JUMAR_BOOL:
        value.kind = InputValue::Kind::kBool;
        value.integer = inputs[k].integer;
        break;
      default:
        return error_of("input", fmt::format("input {} is neither a tensor nor a number", k));
    }
  }
  return nullptr;
}

// What the caller owns: an alias of an argument becomes a copy, because the argument is only lent.
DLManagedTensorVersioned* tensor_of(const jumar_model& model, std::span<const InputValue> inputs,
                                    Output& output) {
  if (output.kind == Output::Kind::kAlias) {
    Output copy;
    if (!runtime::copied_output(model.model->engine(), output, inputs, copy)) return nullptr;
    output = std::move(copy);
  }
  if (output.kind == Output::Kind::kManaged) return std::exchange(output.managed, nullptr);
  return managed_of(*model.torch, std::move(output.tensor));
}

jumar_model_error* give_results(const jumar_model& model, std::span<const InputValue> inputs,
                                std::span<Output> outputs, jumar_model_result* results) {
  std::vector<jumar_model_result> made(outputs.size());
  for (size_t k = 0; k < outputs.size(); ++k) {
    Output& output = outputs[k];
    made[k] = {model.results[k].kind, output.integer, output.number, nullptr};
    if (made[k].kind != JUMAR_TENSOR) continue;
    made[k].tensor = tensor_of(model, inputs, output);
    if (made[k].tensor != nullptr) continue;
    for (size_t done = 0; done < k; ++done) {
      if (made[done].tensor != nullptr) made[done].tensor->deleter(made[done].tensor);
    }
    return error_of("memory", fmt::format("no memory for result {}", k));
  }
  std::copy(made.begin(), made.end(), results);
  return nullptr;
}

jumar_model_error* run(jumar_model* model, const jumar_value* inputs, size_t count,
                       jumar_model_result* results) {
  std::vector<InputValue> values(count);
  std::vector<std::vector<int64_t>> strides(count);
  if (jumar_model_error* error = read_inputs(*model, inputs, count, values, strides)) return error;
  std::vector<Output> outputs(model->results.size());
  if (std::optional<runtime::RunError> error = model->model->run(values, outputs)) {
    return error_of(code_of(error->kind), std::move(error->message));
  }
  return give_results(*model, values, outputs, results);
}

jumar_model_error* update_constants(jumar_model* model, const char* const* names, const jumar_tensor* tensors,
                                    size_t count) {
  std::vector<package::ConstantUpdate> updates(count);
  std::vector<std::vector<int64_t>> strides(count);
  for (size_t k = 0; k < count; ++k) {
    const auto& constants = model->constants;
    const auto it = std::find_if(constants.begin(), constants.end(),
                                 [&](const Described& row) { return row.name == names[k]; });
    if (it == constants.end()) return error_of("input", fmt::format("there is no constant '{}'", names[k]));
    updates[k].index = static_cast<size_t>(it - constants.begin());
    if (!read_tensor(tensors[k], updates[k].view, strides[k])) {
      return error_of("input",
                      fmt::format("the new value of constant '{}' has an element type that Jumar does "
                                  "not have",
                                  names[k]));
    }
  }
  const jumar::Status status = model->model->update(Model::Bank::kActive, updates);
  return status.ok() ? nullptr : error_of(status.error().code, status.error().message);
}

jumar_model_error* create(const jumar_model_options* options, jumar_model** model) {
  auto made = created(*options);
  if (!made.ok()) return error_of(made.error().code, package::full_message(made.error()));
  *model = made->release();
  return nullptr;
}

const jumar_model_api kApi = {
    create,
    [](jumar_model* model) { delete model; },
    [](const jumar_model_error* error) { return error->code.c_str(); },
    [](const jumar_model_error* error) { return error->message.c_str(); },
    [](jumar_model_error* error) { delete error; },
    [](const jumar_model* model) { return model->inputs.size(); },
    [](const jumar_model* model) { return model->results.size(); },
    [](const jumar_model* model) { return model->symbols.size(); },
    [](const jumar_model* model, size_t index, jumar_model_value* value) {
      model->inputs[index].fill(value);
    },
    [](const jumar_model* model, size_t index, jumar_model_value* value) {
      model->results[index].fill(value);
    },
    [](const jumar_model* model, size_t index, jumar_model_symbol* symbol) {
      const auto& [name, range] = model->symbols[index];
      *symbol = {name.c_str(), range.lo, range.hi};
    },
    run,
    [](const jumar_model* model) { return model->constants.size(); },
    [](const jumar_model* model, size_t index, jumar_model_value* value) {
      model->constants[index].fill(value);
    },
    update_constants,
};

}  // namespace

extern "C" __attribute__((visibility("default"))) const jumar_model_api* jumar_model_get_api(
    uint32_t version) {
  return version == JUMAR_MODEL_ABI_VERSION ? &kApi : nullptr;
}
