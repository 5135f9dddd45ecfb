// The state of one call of a plan, and the call itself; internal to the runtime.
#pragma once

#include "runtime/arena.h"
#include "runtime/code.h"
#include "runtime/memory.h"

namespace jumar::runtime {

// What a tensor's memory is, during a call.
struct TensorState {
  torch::Tensor handle;               // owns the memory: kOwned and kResult roots
  HostReference host;                 // owns it: kResult roots that the embedder gave
  TensorView host_view;               // with `host`
  std::vector<int64_t> host_strides;  // where the embedder gave none
  SharedBlock* block = nullptr;       // owns it: kOwned roots without libtorch
  torch::Tensor blob;                 // borrows it: made for a call and kept while pointer and layout stay
  void* blob_data = nullptr;
};

struct ArenaPlan {
  std::vector<int64_t> key;  // the values of the entry's symbols
  ArenaLayout layout;
};

struct Frame {
  std::vector<int64_t> values;  // registers
  std::vector<double> numbers;  // host numbers; bools are 0 and 1
  std::vector<int64_t> dims;
  std::vector<int64_t> view_bytes;    // distance from the root's first element
  std::vector<int64_t> extent_bytes;  // from a tensor's first element to the end of its last
  std::vector<void*> data;            // of roots
  std::vector<TensorState> tensors;
  std::vector<int64_t> entry_numbers;  // what the entry's bindings read, as of the last good call
  bool entry_valid = false;
  std::vector<ArenaPlan> arena_plans;  // most recently used first
  Block arena;
  std::vector<uint64_t> words;
  IndexStatus status;
  uint64_t generation = 0;  // of the parameters' elements, when the call began
  uint32_t threads = 0;     // of libtorch, during a call; 0 before it is asked
  // Scratch of calls.
  std::vector<torch::Handle> handles;
  std::vector<torch::Tensor> temporaries;
  std::vector<TensorView> operands;
  torch::CallResults results;
};

// One run of a plan. The methods return false after they have set `error`. The destructor drops what the call
// owns, so that the frame can serve another one.
class Run {
 public:
  Run(const Code& code, Frame& frame, std::span<const InputValue> inputs, HostCalls* host)
      : code_(code), frame_(frame), inputs_(inputs), host_(host), torch_(code.engine.torch) {}

  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  bool enter();                                  // inputs.cpp
  bool execute();                                // steps.cpp
  bool give_outputs(std::span<Output> outputs);  // outputs.cpp

  std::optional<RunError> error;

 private:
  // inputs.cpp
  bool check_kinds();
  bool bind_entry();
  bool solve_entry(const EntryCode& entry, int64_t number);
  int64_t entry_number(const EntryCode& entry) const;
  std::string entry_text(const EntryCode& entry) const;
  bool check_symbols();
  bool check_entries();
  bool check_input(uint32_t index);
  std::string input_text(uint32_t index) const;
  bool run_stage(uint32_t stage, std::optional<uint32_t> step);
  bool refresh_layout(uint32_t tensor);
  bool plan_arena();
  // steps.cpp
  bool launch(const LaunchCode& launch);
  bool run_units(const LaunchCode& launch, int64_t begin, int64_t end, int64_t grain, void** args);
  bool has_threads();
  bool index_failure(const LaunchCode& launch);
  bool bind(const BindCode& bind);
  bool bound_number(const BindCode& bind, int64_t& found);
  bool number(const NumberCode& number);
  bool check(const CheckCode& check);
  bool check_symbol(Slot slot, std::optional<uint32_t> step);
  bool solve(Slot symbol, Slot coefficient, Slot rest, int64_t number);
  bool make(uint32_t tensor);
  void release_root(uint32_t tensor);
  // calls.cpp
  bool call(const CallCode& call);
  bool call_native(const CallCode& call);
  bool call_site(const CallCode& call, bool& done);
  bool add_targets(const CallCode& call);
  bool check_targets(const CallCode& call);
  torch::Handle handle_of(uint32_t tensor);
  torch::Handle target_handle(uint32_t tensor);
  torch::Handle blob_of(uint32_t tensor);
  bool is_lent(uint32_t tensor) const;
  bool take_results(const CallCode& call);
  bool take_result(const CallCode& call, uint32_t tensor, torch::Tensor result);
  bool copy_result(const CallCode& call, uint32_t target, torch::Tensor result);
  bool borrows_operand(const CallCode& call, uint32_t tensor, const torch::Tensor& result) const;
  bool take_ints(const CallCode& call, const std::vector<int64_t>& ints);
  bool result_error(uint32_t step, const std::string& message);
  // results.cpp
  bool real_layout(uint32_t tensor, TensorView& view);
  bool handle_layout(torch::Handle handle, TensorView& view) const;
  bool settle(uint32_t tensor);
  bool restride(uint32_t tensor, const TensorView& view);
  // host.cpp
  bool call_host(const CallCode& call, bool repeats);
  bool host_arg(const plan::Arg& arg, bool repeats, HostArg& out);
  bool host_tensor(uint32_t tensor, bool repeats, HostArg& out);
  bool take_host_results(const CallCode& call, HostResults& results);
  bool take_host_tensor(const CallCode& call, uint32_t tensor, torch::Tensor handle, HostReference host,
                        TensorView view);
  // outputs.cpp
  bool give_tensor(uint32_t tensor, bool is_last, Output& output);
  bool give_handle(uint32_t tensor, bool is_last, Output& output);
  bool give_managed(uint32_t tensor, Output& output);

  bool fail(RunError::Kind kind, std::string message, std::optional<uint32_t> step = std::nullopt) {
    error = RunError{kind, std::move(message), step};
    return false;
  }
  const int64_t* sizes(uint32_t tensor) const { return frame_.dims.data() + code_.tensors[tensor].dims; }
  const int64_t* strides(uint32_t tensor) const { return sizes(tensor) + code_.tensors[tensor].rank; }
  void* data_of(uint32_t tensor) const {
    return static_cast<char*>(frame_.data[code_.tensors[tensor].root]) + frame_.view_bytes[tensor];
  }
  const std::string& name_of(uint32_t tensor) const {
    return code_.plan.tensors[plan::TensorId(tensor)].name;
  }
  TensorView view_of(uint32_t tensor) const {
    const TensorCode& t = code_.tensors[tensor];
    return {data_of(tensor), t.dtype, static_cast<int32_t>(t.rank), sizes(tensor), strides(tensor), kDlCpu};
  }

  const Code& code_;
  Frame& frame_;
  std::span<const InputValue> inputs_;
  HostCalls* host_;
  const torch::Api* torch_;
  CoreCounts cores_;  // as of the call's begin
};

}  // namespace jumar::runtime
