// The C functions that torch's loader of ahead-of-time packages looks up in a model's library: torch 2.11's
// torch/csrc/inductor/aoti_runtime/interface.h. Handles are libtorch's AtenTensorHandle.
//
// A function that fails raises libtorch's exception with the message, by way of aoti_torch_check, because a
// status of 1 would tell the caller nothing. Inputs are given to us, results to the caller.
#include <dlfcn.h>

#include <cstdio>
#include <string>
#include <unordered_map>

#include "runtime/memory.h"
#include "runtime/package/model.h"
#include "runtime/package/proxy.h"
#include "runtime/torch/c_api.h"

#define JUMAR_AOTI extern "C" __attribute__((visibility("default"))) int32_t

namespace {

namespace runtime = jumar::runtime;
namespace package = jumar::runtime::package;
namespace torch = jumar::runtime::torch;
using jumar::runtime::torch::Handle;
using package::Model;

constexpr int64_t kPoolBytes = int64_t{1} << 30;
constexpr int32_t kFailed = 1;

// Constants by internal name, as the loader passes them: part of torch's interface.
using ConstantMap = std::unordered_map<std::string, Handle>;

struct Container {
  std::unique_ptr<const torch::Api> api;
  std::unique_ptr<Model> model;
  std::vector<torch::Tensor> extracted;  // what the last extraction lent
};

using Check = int32_t (*)(bool condition, const char* function, const char* file, uint32_t line,
                          const char* message);

// Raises through libtorch where there is one. No frame of ours that is left this way owns anything.
int32_t raise(const torch::Api* api, const std::string& message) {
  static const char kNothing[] = "";
  if (api != nullptr) {
    if (auto* check = reinterpret_cast<Check>(api->symbol("aoti_torch_check"))) {
      return check(false, "jumar", kNothing, 0, message.c_str());
    }
  }
  std::fprintf(stderr, "jumar: %s\n", message.c_str());
  return kFailed;
}

// Runs `body`, which gives a message when it fails, and raises that.
template <class Body>
int32_t guarded(const Container& container, Body&& body) {
  const std::string message = body();
  return message.empty() ? 0 : raise(container.api.get(), message);
}

std::string text_of(const jumar::Status& status) {
  return status.ok() ? "" : package::full_message(status.error());
}

// From now on this library stays in the process, whoever closes it.
void stay_loaded() {
  Dl_info info{};
  if (::dladdr(&jumar_package, &info) != 0 && info.dli_fname != nullptr) {
    ::dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
  }
}

jumar::Result<std::unique_ptr<Container>> created(const char* device) {
  // A package for another device is refused by the model, which says more.
  if (jumar_package.device == nullptr && std::string_view(device) != "cpu") {
    return jumar::diagnostic("unsupported", "the package is for device 'cpu', not '{}'", device);
  }
  auto container = std::make_unique<Container>();
  JUMAR_ASSIGN(container->api, torch::Api::load());
  // Whatever the package was made for, libtorch is here and makes its calls.
  runtime::Engine engine;
  engine.pool = runtime::Pool::create(kPoolBytes);
  engine.torch = container->api.get();
  JUMAR_ASSIGN(container->model,
               Model::create(
                   jumar_package,
                   [](const package::Manifest& manifest) -> jumar::Result<std::shared_ptr<package::Weights>> {
                     if (manifest.weights_bytes == 0) return package::Weights::borrowed({});
                     return package::Weights::open_own(manifest.weights_id);
                   },
                   [&](const package::Manifest&) -> jumar::Result<runtime::Engine> { return engine; }));
  return container;
}

// ---- Calls ----

// The caller's tensor itself, or a view of it; empty when libtorch can't make the view.
torch::Tensor alias_of(const torch::Api& api, Handle input, const runtime::Output& output) {
  Handle handle = nullptr;
  if (output.whole) {
    if (api.aoti_torch_new_tensor_handle(input, &handle) != 0) return {};
    return torch::Tensor(api, handle);
  }
  int32_t code = 0;
  if (api.aoti_torch_get_dtype(input, &code) != 0 || code != jumar::ir::c10_code(output.dtype)) return {};
  if (api.aoti_torch__reinterpret_tensor(input, static_cast<int64_t>(output.sizes.size()),
                                         output.sizes.data(), output.strides.data(), output.offset,
                                         &handle) != 0) {
    return {};
  }
  return torch::Tensor(api, handle);
}

// A number as torch's own packages return it: a tensor without dimensions.
torch::Tensor number_of(const torch::Api& api, const runtime::Output& output) {
  Handle handle = nullptr;
  if (output.kind == runtime::Output::Kind::kInt && api.aoti_torch_scalar_to_tensor_int64 != nullptr) {
    api.aoti_torch_scalar_to_tensor_int64(output.integer, &handle);
  } else if (output.kind == runtime::Output::Kind::kFloat &&
             api.aoti_torch_scalar_to_tensor_float64 != nullptr) {
    api.aoti_torch_scalar_to_tensor_float64(output.number, &handle);
  } else if (output.kind == runtime::Output::Kind::kBool && api.aoti_torch_scalar_to_tensor_bool != nullptr) {
    api.aoti_torch_scalar_to_tensor_bool(output.integer != 0, &handle);
  }
  return torch::Tensor(api, handle);
}

std::string read_inputs(const Container& container, std::span<const torch::Tensor> tensors,
                        std::vector<runtime::InputValue>& inputs) {
  size_t next = 0;
  for (const package::Argument& argument : container.model->manifest().arguments) {
    if (argument.is_constant && !argument.is_tensor) continue;
    if (!argument.is_tensor) {
      return fmt::format(
          "argument '{}' is a number, which torch's loader cannot pass: run the package through "
          "Jumar's own interface",
          argument.name);
    }
    if (next >= tensors.size()) break;
    const torch::Tensor& tensor = tensors[next++];
    if (argument.is_constant) continue;
    runtime::InputValue& input = inputs.emplace_back();
    if (!runtime::handle_layout(*container.api, tensor.get(), input.tensor)) {
      return fmt::format("argument '{}' is no strided tensor on the CPU", argument.name);
    }
    input.host = tensor.get();
  }
  return next == tensors.size() ? ""
                                : fmt::format("{} tensors given, the program takes {}", tensors.size(), next);
}

std::string run(Container& container, std::span<const torch::Tensor> tensors, std::span<Handle> results,
                void* executor) {
  std::vector<runtime::InputValue> inputs;
  if (std::string problem = read_inputs(container, tensors, inputs); !problem.empty()) return problem;
  Model& model = *container.model;
  if (results.size() != model.result_count()) {
    return fmt::format("{} results asked for, the program has {}", results.size(), model.result_count());
  }
  std::vector<runtime::Output> outputs(results.size());
  package::ProxyCalls calls(*container.api, model.manifest(), executor);
  const bool needs_calls = !model.manifest().proxied_steps.empty();
  if (const std::optional<runtime::RunError> error =
          model.run(inputs, outputs, needs_calls ? &calls : nullptr)) {
    return calls.problem().empty() ? error->message : calls.problem();
  }
  const torch::Api& api = *container.api;
  std::vector<torch::Tensor> made;
  for (runtime::Output& output : outputs) {
    if (output.kind == runtime::Output::Kind::kAlias && output.input) {
      output.tensor = alias_of(api, static_cast<Handle>(inputs[*output.input].host), output);
      // libtorch's C functions make no view that sees the elements as another type.
      runtime::Output copy;
      if (!output.tensor && runtime::copied_output(model.engine(), output, inputs, copy))
        output = std::move(copy);
    }
    // Nothing is a null handle, which the loader gives as None.
    if (!output.tensor && output.kind != runtime::Output::Kind::kNone) output.tensor = number_of(api, output);
    if (!output.tensor && output.kind != runtime::Output::Kind::kNone)
      return fmt::format("result {} is nothing that libtorch has", made.size());
    made.push_back(std::move(output.tensor));
  }
  for (size_t k = 0; k < made.size(); ++k) results[k] = made[k].release();
  return "";
}

int32_t run_call(Container* container, Handle* inputs, size_t input_count, Handle* outputs,
                 size_t output_count, void* executor) {
  return guarded(*container, [&] {
    std::vector<torch::Tensor> tensors;
    tensors.reserve(input_count);
    for (size_t k = 0; k < input_count; ++k) tensors.emplace_back(*container->api, inputs[k]);
    return run(*container, tensors, {outputs, output_count}, executor);
  });
}

// ---- Constants ----

std::string update(Container& container, const ConstantMap& map, bool inactive, bool full, bool borrows) {
  const package::Manifest& manifest = container.model->manifest();
  std::vector<package::ConstantUpdate> updates;
  for (size_t k = 0; k < manifest.constants.size(); ++k) {
    const package::Constant& constant = manifest.constants[k];
    const auto it = map.find(constant.name);
    if (it == map.end()) {
      if (full && constant.kind != package::Constant::Kind::kLifted) {
        return fmt::format("constant '{}' is missing from a full update", constant.fqn);
      }
      continue;
    }
    package::ConstantUpdate& row = updates.emplace_back();
    row.index = k;
    if (!runtime::handle_layout(*container.api, it->second, row.view)) {
      return fmt::format("the new value of constant '{}' is no strided tensor on the CPU", constant.fqn);
    }
    if (borrows) {
      Handle handle = nullptr;
      if (container.api->aoti_torch_new_tensor_handle(it->second, &handle) != 0) return "no memory";
      row.owner = std::make_shared<torch::Tensor>(*container.api, handle);
    }
  }
  for (const auto& [name, handle] : map) {
    if (!container.model->constant_index(name)) return fmt::format("there is no constant '{}'", name);
  }
  return text_of(container.model->update(inactive ? Model::Bank::kInactive : Model::Bank::kActive, updates));
}

std::string extract(Container& container, ConstantMap& map, bool inactive) {
  const auto values = container.model->constants(inactive ? Model::Bank::kInactive : Model::Bank::kActive);
  const package::Manifest& manifest = container.model->manifest();
  container.extracted.clear();
  for (size_t k = 0; k < values.size(); ++k) {
    const runtime::TensorView& view = values[k]->view;
    torch::Tensor tensor =
        container.api->borrowed_blob(view.data, view.dtype, view.rank, view.sizes, view.strides);
    if (!tensor) return "no memory";
    map[manifest.constants[k].fqn] = tensor.get();
    container.extracted.push_back(std::move(tensor));
  }
  return "";
}

const package::Constant* constant_at(const Container* container, size_t index) {
  const auto& constants = container->model->manifest().constants;
  return index < constants.size() ? &constants[index] : nullptr;
}

}  // namespace

JUMAR_AOTI AOTInductorModelContainerCreateWithDevice(Container** result, size_t, const char* device,
                                                     const char*) {
  std::unique_ptr<const torch::Api> api;
  std::string message;
  {
    jumar::Result<std::unique_ptr<Container>> container = created(device);
    if (container.ok()) {
      *result = container->release();
      return 0;
    }
    message = package::full_message(container.error());
    auto loaded = torch::Api::load();
    if (loaded.ok()) api = std::move(*loaded);
  }
  return raise(api.get(), message);
}

JUMAR_AOTI AOTInductorModelContainerCreate(Container** result, size_t models, bool is_cpu,
                                           const char* directory) {
  return AOTInductorModelContainerCreateWithDevice(result, models, is_cpu ? "cpu" : "cuda", directory);
}

JUMAR_AOTI AOTInductorModelContainerDelete(Container* container) {
  const std::shared_ptr<runtime::Pool> pool = container->model->engine().pool;
  delete container;
  // Results that are still in use lie in the pool's blocks, and the code that gives them back is ours.
  if (pool.use_count() > 1) stay_loaded();
  return 0;
}

JUMAR_AOTI AOTInductorModelContainerRun(Container* container, Handle* inputs, size_t input_count,
                                        Handle* outputs, size_t output_count, void*, void* executor) {
  return run_call(container, inputs, input_count, outputs, output_count, executor);
}

JUMAR_AOTI AOTInductorModelContainerRunSingleThreaded(Container* container, Handle* inputs,
                                                      size_t input_count, Handle* outputs,
                                                      size_t output_count, void*, void* executor) {
  return run_call(container, inputs, input_count, outputs, output_count, executor);
}

JUMAR_AOTI AOTInductorModelContainerGetNumInputs(Container* container, size_t* count) {
  *count = 0;
  for (const package::Argument& argument : container->model->manifest().arguments)
    *count += argument.is_tensor;
  return 0;
}

JUMAR_AOTI AOTInductorModelContainerGetInputName(Container* container, size_t index, const char** name) {
  for (const package::Argument& argument : container->model->manifest().arguments) {
    if (!argument.is_tensor) continue;
    *name = argument.name.c_str();
    if (index-- == 0) return 0;
  }
  return kFailed;
}

JUMAR_AOTI AOTInductorModelContainerGetNumOutputs(Container* container, size_t* count) {
  *count = container->model->result_count();
  return 0;
}

JUMAR_AOTI AOTInductorModelContainerGetNumConstants(Container* container, size_t* count) {
  *count = container->model->manifest().constants.size();
  return 0;
}

JUMAR_AOTI AOTInductorModelContainerGetConstantName(Container* container, size_t index, const char** name) {
  const package::Constant* constant = constant_at(container, index);
  if (constant != nullptr) *name = constant->name.c_str();
  return constant != nullptr ? 0 : kFailed;
}

JUMAR_AOTI AOTInductorModelContainerGetConstantOriginalFQN(Container* container, size_t index,
                                                           const char** name) {
  const package::Constant* constant = constant_at(container, index);
  if (constant != nullptr) *name = constant->fqn.c_str();
  return constant != nullptr ? 0 : kFailed;
}

JUMAR_AOTI AOTInductorModelContainerGetConstantFromFolded(Container* container, size_t index, bool* result) {
  *result = false;
  return constant_at(container, index) != nullptr ? 0 : kFailed;
}

JUMAR_AOTI AOTInductorModelContainerGetConstantType(Container* container, size_t index, int32_t* type) {
  // torch's ConstantType: Parameter 1, Buffer 2, TensorConstant 3.
  const package::Constant* constant = constant_at(container, index);
  if (constant != nullptr) *type = static_cast<int32_t>(constant->kind) + 1;
  return constant != nullptr ? 0 : kFailed;
}

JUMAR_AOTI AOTInductorModelContainerGetConstantDtype(Container* container, size_t index, int32_t* code) {
  const package::Constant* constant = constant_at(container, index);
  if (constant != nullptr) *code = jumar::ir::c10_code(constant->dtype);
  return constant != nullptr ? 0 : kFailed;
}

JUMAR_AOTI AOTInductorModelContainerGetConstantDataSize(Container* container, size_t index, size_t* bytes) {
  const auto values = container->model->constants(Model::Bank::kActive);
  if (index >= values.size()) return kFailed;
  *bytes = static_cast<size_t>(runtime::extent_bytes(values[index]->view));
  return 0;
}

JUMAR_AOTI AOTInductorModelContainerExtractConstantsMap(Container* container, ConstantMap* map,
                                                        bool inactive) {
  return guarded(*container, [&] { return extract(*container, *map, inactive); });
}

JUMAR_AOTI AOTInductorModelContainerUpdateConstantBuffer(Container* container, ConstantMap* map,
                                                         bool inactive, bool full) {
  return guarded(*container, [&] { return update(*container, *map, inactive, full, false); });
}

JUMAR_AOTI AOTInductorModelContainerUpdateUserManagedConstantBuffer(Container* container, ConstantMap* map,
                                                                    bool inactive, bool full) {
  return guarded(*container, [&] { return update(*container, *map, inactive, full, true); });
}

JUMAR_AOTI AOTInductorModelContainerUpdateInactiveConstantBuffer(Container* container, ConstantMap* map) {
  return guarded(*container, [&] { return update(*container, *map, true, false, false); });
}

JUMAR_AOTI AOTInductorModelContainerFreeInactiveConstantBuffer(Container* container) {
  container->model->free_inactive();
  return 0;
}

// Every update computes at once what follows from it, so there is nothing left to do.
JUMAR_AOTI AOTInductorModelContainerRunConstantFolding(Container*, bool, void*, void*) { return 0; }

JUMAR_AOTI AOTInductorModelContainerSwapConstantBuffer(Container* container) {
  return guarded(*container, [&] { return text_of(container->model->swap()); });
}

JUMAR_AOTI AOTInductorModelContainerGetCallSpec(Container* container, const char** in, const char** out) {
  *in = container->model->manifest().in_spec.c_str();
  *out = container->model->manifest().out_spec.c_str();
  return 0;
}

// Weights never travel in a record of their own: they are part of the library's file.
JUMAR_AOTI AOTInductorModelContainerGetConstantsBlobSize(Container*, uint64_t* bytes) {
  *bytes = 0;
  return 0;
}

JUMAR_AOTI AOTInductorModelUpdateConstantsFromBlob(Container* container, const uint8_t*) {
  return raise(container->api.get(), "the package holds its own weights");
}
