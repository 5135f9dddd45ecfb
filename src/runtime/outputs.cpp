#include "runtime/run.h"
#include "runtime/torch/c_api.h"

namespace jumar::runtime {
namespace {

// A DLPack tensor: one allocation with its sizes and strides.
struct ManagedTensor {
  DLManagedTensorVersioned managed;
  HostObject owner;
  std::vector<int64_t> dims;
};

void delete_managed(DLManagedTensorVersioned* managed) {
  ManagedTensor* tensor = static_cast<ManagedTensor*>(managed->manager_ctx);
  tensor->owner.release(tensor->owner.object);
  delete tensor;
}

// The caller's reference to a block as an owner.
HostObject owner_of(SharedBlock* block) {
  return {block, [](void* object) { release(static_cast<SharedBlock*>(object)); }};
}

}  // namespace

DLManagedTensorVersioned* managed_tensor(HostObject owner, const TensorView& view) {
  auto* tensor = new ManagedTensor{{}, owner, {view.sizes, view.sizes + view.rank}};
  tensor->dims.insert(tensor->dims.end(), view.strides, view.strides + view.rank);
  DLManagedTensorVersioned& managed = tensor->managed;
  managed.version = {1, 0};
  managed.manager_ctx = tensor;
  managed.deleter = delete_managed;
  managed.dl_tensor = {view.data,
                       {kDlCpu, 0},
                       view.rank,
                       dl_dtype(view.dtype),
                       tensor->dims.data(),
                       tensor->dims.data() + view.rank,
                       0};
  return &managed;
}

TensorView output_view(const torch::Api* api, const Output& output, std::span<const InputValue> inputs) {
  TensorView view;
  if (output.kind == Output::Kind::kTensor) {
    const bool known = handle_layout(*api, output.tensor.get(), view);
    CHECK(known, "a result is no strided tensor on the CPU");
  } else if (output.kind == Output::Kind::kManaged) {
    const DLTensor& t = output.managed->dl_tensor;
    view = {static_cast<char*>(t.data) + t.byte_offset, output.dtype, t.ndim, t.shape, t.strides, kDlCpu};
  } else {
    CHECK(output.kind == Output::Kind::kAlias && output.input, "a result is no tensor");
    auto* base = static_cast<char*>(inputs[*output.input].tensor.data);
    view = {base + output.offset * ir::dtype_bytes(output.dtype),
            output.dtype,
            static_cast<int32_t>(output.sizes.size()),
            output.sizes.data(),
            output.strides.data(),
            kDlCpu};
  }
  return view;
}

bool copied_output(const Engine& engine, const Output& output, std::span<const InputValue> inputs,
                   Output& copy) {
  TensorView to;
  if (!fresh_output(engine, output.dtype, output.sizes, output.strides, copy, to)) return false;
  copy_elements(output_view(engine.torch, output, inputs), to);
  return true;
}

bool fresh_output(const Engine& engine, ir::DType dtype, const std::vector<int64_t>& sizes,
                  const std::vector<int64_t>& strides, Output& output, TensorView& view) {
  output.drop();
  view = {nullptr, dtype, static_cast<int32_t>(sizes.size()), sizes.data(), strides.data(), kDlCpu};
  const int64_t bytes = extent_bytes(view);
  output.dtype = dtype;
  if (engine.torch != nullptr) {
    output.tensor = fresh_tensor(engine, dtype, view.rank, view.sizes, view.strides, bytes);
    if (!output.tensor) return false;
    output.kind = Output::Kind::kTensor;
    return engine.torch->aoti_torch_get_data_ptr(output.tensor.get(), &view.data) == 0;
  }
  Block block = engine.pool->take(bytes);
  if (!block) return false;
  view.data = block.data();
  output.managed = managed_tensor(owner_of(new SharedBlock{std::move(block), 1}), view);
  output.kind = Output::Kind::kManaged;
  return true;
}

Output& Output::operator=(Output&& other) noexcept {
  if (this == &other) return *this;
  drop();
  kind = std::exchange(other.kind, Kind::kNone);
  integer = other.integer;
  number = other.number;
  tensor = std::move(other.tensor);
  managed = std::exchange(other.managed, nullptr);
  input = std::exchange(other.input, std::nullopt);
  host = std::exchange(other.host, HostReference{});
  whole = other.whole;
  dtype = other.dtype;
  offset = other.offset;
  sizes = std::move(other.sizes);
  strides = std::move(other.strides);
  return *this;
}

void Output::drop() {
  tensor.reset();
  if (managed) managed->deleter(std::exchange(managed, nullptr));
  host = {};
  input.reset();
  sizes.clear();
  strides.clear();
  kind = Kind::kNone;
}

bool Run::give_outputs(std::span<Output> outputs) {
  for (size_t k = 0; k < code_.outputs.size(); ++k) {
    const OutputCode& code = code_.outputs[k];
    Output& output = outputs[k];
    if (code.kind == Output::Kind::kTensor) {
      if (!give_tensor(code.source.index, code.is_last, output)) return false;
      continue;
    }
    output.kind = code.kind;
    switch (code.source.kind) {
      case NumberOperand::Kind::kSlot:
        output.integer = frame_.values[code.source.index];
        break;
      case NumberOperand::Kind::kNumber:
        output.number = frame_.numbers[code.source.index];
        break;
      case NumberOperand::Kind::kConstant:
        output.number = code.source.constant;
        break;
      case NumberOperand::Kind::kTensor:
        break;
    }
    if (code.kind == Output::Kind::kBool) output.integer = output.number != 0;
  }
  return true;
}

bool Run::give_tensor(uint32_t tensor, bool is_last, Output& output) {
  const TensorCode& t = code_.tensors[tensor];
  const TensorCode& root = code_.tensors[t.root];
  TensorState& state = frame_.tensors[t.root];
  if (root.place != Place::kInput && !state.host.object)
    return torch_ ? give_handle(tensor, is_last, output) : give_managed(tensor, output);
  output.kind = Output::Kind::kAlias;
  if (root.place == Place::kInput) {
    output.input = root.input;
  } else {
    output.host = state.host;
  }
  output.whole = t.base == kNoIndex;
  output.dtype = t.dtype;
  output.offset = frame_.view_bytes[tensor] / t.element_bytes;
  output.sizes.assign(sizes(tensor), sizes(tensor) + t.rank);
  output.strides.assign(strides(tensor), strides(tensor) + t.rank);
  return true;
}

// The call's own reference is given away with the last output that needs it.
bool Run::give_handle(uint32_t tensor, bool is_last, Output& output) {
  const TensorCode& t = code_.tensors[tensor];
  output.kind = Output::Kind::kTensor;
  output.dtype = t.dtype;
  if (is_last && t.base == kNoIndex && !is_lent(tensor)) {
    output.tensor = std::move(frame_.tensors[tensor].handle);
    return true;
  }
  torch::Handle handle = handle_of(tensor);
  torch::Handle given = nullptr;
  // A view with another element type can't be made of a handle, so its elements are copied.
  bool ok = handle && (is_lent(tensor) ? torch_->aoti_torch_clone_preserve_strides(handle, &given)
                                       : torch_->aoti_torch_new_tensor_handle(handle, &given)) == 0;
  if (!ok) return fail(RunError::Kind::kMemory, fmt::format("no memory for %{}", name_of(tensor)));
  output.tensor = torch::Tensor(*torch_, given);
  return true;
}

bool Run::give_managed(uint32_t tensor, Output& output) {
  const TensorCode& t = code_.tensors[tensor];
  SharedBlock* block = frame_.tensors[t.root].block;
  CHECK(block != nullptr, "%{} has no memory", name_of(tensor));
  block->references.fetch_add(1, std::memory_order_relaxed);
  output.kind = Output::Kind::kManaged;
  output.dtype = t.dtype;
  output.managed = managed_tensor(owner_of(block), view_of(tensor));
  return true;
}

}  // namespace jumar::runtime
