#include "runtime/package/proxy.h"

#include <algorithm>

#include "runtime/torch/c_api.h"

namespace jumar::runtime::package {
namespace {

using torch::Handle;

// What the executor is given for one call, in the order of the schema: tensors and integers, plain numbers
// that are integers included. All else is in the record.
struct Operands {
  std::vector<Handle> tensors;
  std::vector<int64_t> ints;

  void add(const HostArg& arg) {
    if (arg.kind == HostArg::Kind::kTensor) {
      tensors.push_back(arg.host != nullptr ? static_cast<Handle>(arg.host) : arg.handle);
    } else if (arg.kind == HostArg::Kind::kInt) {
      ints.push_back(arg.integer);
    } else if (arg.kind == HostArg::Kind::kList) {
      for (const HostArg& item : arg.items) add(item);
    }
  }
};

}  // namespace

bool ProxyCalls::call_python(uint32_t, std::span<const HostArg>, HostResults&) {
  problem_ = "a package makes no Python calls";
  return false;
}

// Reached when a call has failed that libtorch's C functions make: there is no other way to make it.
bool ProxyCalls::call_op(const std::string& op, const plan::Schema&, std::span<const HostArg>, HostResults&) {
  problem_ = fmt::format("{} failed; libtorch has printed why", op);
  return false;
}

bool ProxyCalls::call_op_at(uint32_t step, const std::string& op, const plan::Schema& schema,
                            std::span<const HostArg> args, HostResults& results) {
  const auto& steps = manifest_.proxied_steps;
  const auto it = std::find(steps.begin(), steps.end(), step);
  if (it == steps.end()) return call_op(op, schema, args, results);
  if (executor_ == nullptr || api_.aoti_torch_proxy_executor_call_function == nullptr) {
    problem_ = fmt::format("{} needs torch's proxy executor, which the loader does not have", op);
    return false;
  }
  Operands operands;
  for (const HostArg& arg : args) operands.add(arg);
  std::vector<torch::Tensor> made;
  for (size_t k = 0; k < schema.returns.size(); ++k) {
    Handle handle = nullptr;
    if (api_.aoti_torch_new_uninitialized_tensor(&handle) != 0) return false;
    made.emplace_back(api_, handle);
    operands.tensors.push_back(handle);
  }
  if (api_.aoti_torch_proxy_executor_call_function(
          executor_, static_cast<int32_t>(it - steps.begin()), static_cast<int32_t>(operands.ints.size()),
          operands.ints.data(), static_cast<int32_t>(operands.tensors.size()),
          operands.tensors.data()) != 0) {
    problem_ = fmt::format("{} failed; libtorch has printed why", op);
    return false;
  }
  for (torch::Tensor& tensor : made) results.tensors.emplace_back().tensor = std::move(tensor);
  return true;
}

}  // namespace jumar::runtime::package
