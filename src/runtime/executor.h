// Executes plans: the embedding API that the Python extension and the C API sit on.
//
//   std::shared_ptr<Pool> pool = Pool::create(256 << 20);
//   Result<std::shared_ptr<const PreparedPlan>> plan = PreparedPlan::prepare(plan_ir, kernels, {pool,
//   torch}); std::vector<InputValue> inputs = ...;               // one per plan input, in order
//   std::vector<Output> outputs((*plan)->output_count());
//   if (std::optional<RunError> error = (*plan)->run(inputs, outputs, host)) ...
//
// A PreparedPlan is immutable and may be run by several threads at once: what a call changes lives in a state
// that is checked out of the plan for the duration of the call. A call never reads or writes memory before
// every input has been checked against its type. Errors are values; after one, `outputs` holds nothing.
//
// libtorch is optional. With it (`Engine::torch`), tensors of called operators and outputs are its tensors
// and launches use its thread pool. Without it outputs are DLPack tensors, launches use `Engine::threads`,
// and called operators need a provider (`Engine::native`, docs/native.md) or a HostCalls.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plan/plan.h"
#include "runtime/cores.h"
#include "runtime/dlpack.h"
#include "runtime/pool.h"
#include "runtime/tensor_view.h"
#include "runtime/threads.h"
#include "runtime/torch/tensor.h"

namespace jumar::runtime {

namespace native {
class Provider;
}

// A compiled kernel: works on units [begin, end). `args` holds 8-byte words: the tensors' pointers, the
// address of an IndexStatus where the launch checks indices, the int64 arguments, then the doubles.
using KernelFn = void (*)(int64_t begin, int64_t end, void** args);
using KernelTable = std::function<KernelFn(std::string_view name)>;

// Written by kernels that check indices. A kernel that meets a bad index changes `flag` from 0 to 1 by an
// atomic compare-exchange, writes the index and the size it should have been below if it was the one that
// changed it, and reads no memory through the index.
struct IndexStatus {
  int64_t flag = 0;
  int64_t index = 0;
  int64_t size = 0;
  // What else kernels have to say for which Engine::fault_text makes the message.
  std::array<int64_t, 7> more{};
};

struct InputValue {
  enum class Kind : uint8_t { kTensor, kInt, kFloat, kBool };
  Kind kind = Kind::kTensor;
  TensorView tensor;
  int64_t integer = 0;  // of kInt, and 0 or 1 of kBool
  double number = 0;
  void* host = nullptr;  // the embedder's object for the tensor; only handed back to it
};

// One result of a call. Tensors come in one of three forms:
//   kTensor   a libtorch tensor, owned by `tensor`
//   kManaged  without libtorch: a DLPack tensor; the taker calls its deleter, or releases it by drop()
//   kAlias    a tensor of the embedder: `input` says which input it is, or `host` is what a HostCalls gave,
//   kept
//             by the output. `whole` says that it is that tensor as it is; otherwise it is the view of it
//             with these sizes and strides, `offset` elements of `dtype` after its first.
struct HostReference {
  void* object = nullptr;
  std::shared_ptr<void> owner;
};
struct Output {
  enum class Kind : uint8_t { kNone, kInt, kFloat, kBool, kTensor, kManaged, kAlias };
  Kind kind = Kind::kNone;
  int64_t integer = 0;  // of kInt, and 0 or 1 of kBool
  double number = 0;
  torch::Tensor tensor;
  DLManagedTensorVersioned* managed = nullptr;
  std::optional<uint32_t> input;
  HostReference host;
  bool whole = false;
  ir::DType dtype = ir::DType::kF32;
  int64_t offset = 0;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;

  Output() = default;
  Output(Output&& other) noexcept { *this = std::move(other); }
  Output& operator=(Output&& other) noexcept;
  ~Output() { drop(); }
  // Releases what it owns and becomes kNone.
  void drop();
};

struct RunError {
  enum class Kind : uint8_t {
    kInput,         // an input does not have the type the plan was compiled for
    kIndex,         // a kernel met an index outside its tensor
    kFault,         // a kernel did what it must not, and Engine::fault_text says what
    kCheck,         // a check step's predicate is false
    kNumber,        // arithmetic of sizes or host numbers failed: division by zero, overflow
    kOpFailed,      // a called operator failed, and no HostCalls repeated it
    kOpResult,      // a called operator's result is not what the plan was compiled for
    kPythonRaised,  // HostCalls said so; the embedder has the exception
    kMemory,        // no memory for a buffer
  };
  Kind kind = Kind::kInput;
  std::string message;           // for people, complete
  std::optional<uint32_t> step;  // index into the plan's steps
};

// An argument of a call that the embedder makes.
struct HostArg {
  enum class Kind : uint8_t { kNone, kTensor, kInt, kFloat, kBool, kString, kWord, kList };
  Kind kind = Kind::kNone;
  int64_t integer = 0;
  double number = 0;
  std::string_view text;  // of kString and kWord
  plan::WordArg::Kind word = plan::WordArg::Kind::kDType;
  std::vector<HostArg> items;
  // Of kTensor. `host` is the embedder's object (InputValue::host or HostObject::object) when the tensor is
  // one of its own as it is. Elsewhere it is null and `handle` is libtorch's handle, borrowed, of a tensor
  // that the callee may keep a reference to; null without libtorch.
  TensorView tensor;
  void* host = nullptr;
  torch::Handle handle = nullptr;
};

// An object of the embedder that the runtime owns a reference to. `release` is called once, from any thread
// and without the embedder's locks.
struct HostObject {
  void* object = nullptr;
  void (*release)(void* object) = nullptr;
};

// A tensor that the embedder returns: a libtorch tensor, or an object of its own with a view of its memory,
// which stays valid until `host.release`.
// Without a tensor and an object it is None.
struct HostTensor {
  torch::Tensor tensor;
  HostObject host;
  TensorView view;  // with `host`
};
struct HostResults {
  std::vector<HostTensor> tensors;  // in the step's order, also those the plan does not use
  std::vector<int64_t> ints;        // of a call with int results
};

// What only the embedder can do. The functions return false when they raised (RunError kPythonRaised).
class HostCalls {
 public:
  virtual ~HostCalls() = default;
  // A Python step: plan::PythonStep::callable.
  virtual bool call_python(uint32_t callable, std::span<const HostArg> args, HostResults& results) = 0;
  // An operator by its name "aten.topk.default" with every argument of its schema: one that libtorch's C
  // functions can't take, or one that just failed and is repeated so that the embedder's exception is raised.
  // A list of tensors is returned as its elements.
  virtual bool call_op(const std::string& op, const plan::Schema& schema, std::span<const HostArg> args,
                       HostResults& results) = 0;
  // The same for embedders to whom it matters which step of the plan makes the call.
  virtual bool call_op_at(uint32_t step, const std::string& op, const plan::Schema& schema,
                          std::span<const HostArg> args, HostResults& results) {
    static_cast<void>(step);
    return call_op(op, schema, args, results);
  }
};

// What plans share.
struct Engine {
  std::shared_ptr<Pool> pool;                  // needed
  const torch::Api* torch = nullptr;           // torch::Api::load(), outlives all plans and results; or null
  int64_t torch_output_limit_bytes = 1 << 20;  // outputs below come from libtorch's allocator
  // Makes the calls that it can; or null.
  std::shared_ptr<const native::Provider> native = nullptr;
  // Of launches where there is no libtorch. Null: those of the provider, and none without one.
  std::shared_ptr<Threads> threads = nullptr;
  // Whether run() is given a HostCalls when the plan needs one. Otherwise a plan that needs one is refused.
  bool has_host_calls = true;
  // The plan's inputs from this one on are what it was compiled for, by the embedder's promise: their types
  // are not looked at. A broken promise reads or writes outside of tensors.
  uint32_t checked_inputs = UINT32_MAX;
  // Of the device that plans with cores(cube) or cores(vector) are for. Null: there is none, and such plans
  // are refused.
  std::shared_ptr<const Cores> cores = nullptr;
  // What a status block with flag != 0 means for kernels that report more than indices. Empty: they are as
  // IndexStatus says.
  std::function<std::string(std::string_view kernel, const IndexStatus& status)> fault_text = nullptr;
  // The embedder promises that between two calls of PreparedPlan::parameters_changed() a parameter that is at
  // the same address has the same elements. The provider may then keep them in another layout.
  bool freezes_parameters = false;
  // Of so many of the first results the caller takes the strides as they come: a called operator's result is
  // given as it is, even where its strides are not those that the plan expects.
  uint32_t free_results = 0;
};

class PreparedPlan {
 public:
  // Verifies the plan and resolves kernels. The plan is copied into the result.
  static Result<std::shared_ptr<const PreparedPlan>> prepare(plan::Plan plan, const KernelTable& kernels,
                                                             Engine engine);
  // The same for a plan that plan::verify has taken.
  static Result<std::shared_ptr<const PreparedPlan>> prepare_verified(plan::Plan plan,
                                                                      const KernelTable& kernels,
                                                                      Engine engine);
  ~PreparedPlan();

  size_t input_count() const;
  size_t output_count() const;
  const plan::Plan& plan() const;
  // Called operators that go through HostCalls::call_op, with the reason, in step order.
  struct HostCalledOp {
    uint32_t step;
    std::string op;
    std::string reason;
  };
  const std::vector<HostCalledOp>& host_called_ops() const;

  // `outputs` has output_count() elements. `host` may be null when the plan needs none.
  std::optional<RunError> run(std::span<const InputValue> inputs, std::span<Output> outputs,
                              HostCalls* host) const;

  // Ends what Engine::freezes_parameters promises: called after elements of parameters were written, and
  // before the next call. Calls that run while they are written use the old or the new ones.
  void parameters_changed() const;

  // Whether every call ends within some microseconds: it calls no operators and works on a few kilobytes.
  bool is_brief() const;

  // Bytes of the planned arena of the most recent call that has ended; 0 before.
  int64_t last_arena_bytes() const;

 private:
  PreparedPlan();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace jumar::runtime
