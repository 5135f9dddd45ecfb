// A plan compiled for execution, and the state of one call; internal to the runtime.
//
// Compiling turns steps into a list of actions: besides the plan's own steps there are the moments when
// memory of a tensor is made, when a called operator's result is compared with its type, and when a reference
// is dropped. All integer expressions are registers of one Program.
#pragma once

#include <array>
#include <atomic>
#include <mutex>

#include "plan/entry.h"
#include "plan/number_op.h"
#include "runtime/arena.h"
#include "runtime/executor.h"
#include "runtime/program.h"
#include "runtime/torch/call_site.h"

namespace jumar::runtime {

constexpr uint32_t kNoIndex = UINT32_MAX;

// Where the memory of a root (a tensor that is no view) comes from.
enum class Place : uint8_t {
  kInput,
  kArena,   // a planned part of the call's arena
  kOwned,   // made by the call when first used: outputs, and buffers whose size or reach the arena can't plan
  kResult,  // what a called operator returned
};

struct TensorCode {
  ir::DType dtype = ir::DType::kF32;
  int64_t element_bytes = 4;
  uint32_t root = 0;
  uint32_t base = kNoIndex;  // of a view
  Slot offset = 0;           // of a view
  uint32_t rank = 0;
  uint32_t dims = 0;  // place of the sizes in Frame::dims; the strides follow them
  std::vector<Slot> sizes;
  std::vector<Slot> strides;
  uint32_t stage = 0;  // when sizes, strides and offset are known, bases included
  // Of roots:
  Place place = Place::kOwned;
  uint32_t input = 0;
  uint32_t arena = kNoIndex;  // place in Frame::arena_layout
  uint32_t first = kNoIndex;  // steps that use it or a view of it
  uint32_t last = 0;
  uint32_t producer = 0;  // step that defines a kResult root
  bool escapes = false;   // the caller or the embedder gets it, or a view of it, and may keep it
};

struct EntryCode {
  plan::EntryBinding::Source source = plan::EntryBinding::Source::kInt;
  uint32_t input = 0;
  uint32_t dim = 0;
  Slot expr = 0;
  uint32_t stage = 0;  // 0: it binds nothing
  Slot symbol = 0;
  Slot coefficient = 0;
  Slot rest = 0;
  plan::EntryBinding binding;
};

struct InputCode {
  InputValue::Kind kind = InputValue::Kind::kTensor;
  uint32_t index = 0;  // of the tensor or number
  std::string name;
  // Of a tensor, for messages: its type as the plan writes it, and the symbols in it.
  std::string type;
  std::vector<std::pair<std::string, Slot>> symbols;
};

struct LaunchCode {
  KernelFn kernel = nullptr;
  std::vector<uint32_t> tensors;
  std::vector<Slot> ints;
  std::vector<uint32_t> floats;
  Slot units = 0;
  Slot grain = 0;
  bool checks_indices = false;
  uint32_t step = 0;
  const plan::LaunchStep* source = nullptr;
};

struct CallCode {
  std::optional<torch::CallSite> site;  // none: the embedder makes the call
  std::vector<uint32_t> operands;       // tensors of the arguments, in the order of CallValues::tensors
  std::vector<uint32_t> results;        // kNoIndex: not used by the plan
  bool into = false;
  uint32_t stage = 0;  // that begins when the ints are known
  std::vector<Slot> result_ints;
  std::optional<uint32_t> callable;  // of a Python step
  const plan::ArgList* args = nullptr;
  const plan::Schema* schema = nullptr;
  std::string name;
  uint32_t step = 0;
};

struct BindCode {
  plan::BindStep::Source source = plan::BindStep::Source::kSize;
  uint32_t tensor = 0;
  uint32_t dim = 0;
  uint32_t stage = 0;
  Slot symbol = 0;
  Slot coefficient = 0;
  Slot rest = 0;
  uint32_t step = 0;
};

struct NumberOperand {
  enum class Kind : uint8_t { kSlot, kNumber, kConstant, kTensor } kind = Kind::kConstant;
  uint32_t index = 0;
  double constant = 0;
};
struct NumberCode {
  plan::NumberOp op = plan::NumberOp::kAdd;
  std::array<NumberOperand, 2> operands;
  uint32_t result = 0;
  uint32_t step = 0;
};

struct OutputCode {
  Output::Kind kind = Output::Kind::kNone;  // kTensor for every form of a tensor
  NumberOperand source;
};

struct CheckCode {
  Slot predicate = 0;
  uint32_t step = 0;
  const plan::CheckStep* source = nullptr;
};

struct Action {
  enum class Kind : uint8_t {
    kMake,  // memory for a kOwned root
    kLaunch,
    kCall,
    kBind,
    kSettle,  // a result's real type against the plan's
    kNumber,
    kCheck,
    kRelease,  // a kOwned or kResult root is not used again
  } kind;
  uint32_t index;  // of the tensor, or into the code table of the kind
};

struct SymbolCode {
  Slot slot = 0;
  sym::Range range;
};

struct Code {
  explicit Code(plan::Plan p) : plan(std::move(p)) {}
  plan::Plan plan;
  Engine engine;
  Program program;
  std::vector<TensorCode> tensors;
  std::vector<uint32_t> planned;  // kArena roots, by TensorCode::arena
  std::vector<uint32_t> owning;   // kOwned and kResult roots
  std::vector<std::vector<uint32_t>> tensors_by_stage;
  std::vector<InputCode> inputs;
  std::vector<EntryCode> entries;
  uint32_t entry_stages = 0;  // stages 1 to this are known before the first step
  std::vector<SymbolCode> symbols;
  std::vector<LaunchCode> launches;
  std::vector<CallCode> calls;
  std::vector<BindCode> binds;
  std::vector<NumberCode> numbers;
  std::vector<CheckCode> checks;
  std::vector<OutputCode> outputs;
  std::vector<Action> actions;
  std::vector<PreparedPlan::HostCalledOp> host_called;
  uint32_t dims_size = 0;
  uint32_t words_size = 0;  // of the longest launch
};

// Memory that several owners share where there is no libtorch.
struct SharedBlock {
  Block block;
  std::atomic<int> references{1};
};
void release(SharedBlock* block);

// Takes over the reference.
HostReference owned(HostObject host);

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
  uint32_t threads = 1;
  // Scratch of calls.
  std::vector<torch::Handle> handles;
  std::vector<torch::Tensor> temporaries;
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
  bool check_symbols();
  bool check_entries();
  bool check_input(uint32_t index);
  std::string input_text(uint32_t index) const;
  bool run_stage(uint32_t stage, std::optional<uint32_t> step);
  bool refresh_layout(uint32_t tensor);
  bool plan_arena();
  // steps.cpp
  bool launch(const LaunchCode& launch);
  bool index_failure(const LaunchCode& launch);
  bool bind(const BindCode& bind);
  bool number(const NumberCode& number);
  bool check(const CheckCode& check);
  bool check_symbol(Slot slot, std::optional<uint32_t> step);
  bool solve(Slot symbol, Slot coefficient, Slot rest, int64_t number);
  bool make(uint32_t tensor);
  void release_root(uint32_t tensor);
  // calls.cpp
  bool call(const CallCode& call);
  bool call_site(const CallCode& call, bool& done);
  bool add_targets(const CallCode& call);
  bool check_targets(const CallCode& call);
  torch::Handle handle_of(uint32_t tensor);
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
  bool give_tensor(uint32_t tensor, Output& output);
  bool give_handle(uint32_t tensor, Output& output);
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
};

// Compiles a verified plan. compile.cpp
Result<std::unique_ptr<Code>> compiled(plan::Plan plan, const KernelTable& kernels, Engine engine);

// memory.cpp
// A tensor of fresh memory; from libtorch's allocator below the engine's limit, else from its pool. Empty
// when there is no memory.
torch::Tensor fresh_tensor(const Engine& engine, ir::DType dtype, int64_t rank, const int64_t* sizes,
                           const int64_t* strides, int64_t bytes);
// Copies the elements of one layout to another; sizes are equal.
void copy_elements(const TensorView& from, const TensorView& to);
// Whether a tensor with these strides has its elements where `wanted` says: strides of dimensions of size 1,
// and all strides of empty tensors, do not matter.
bool same_places(int64_t rank, const int64_t* sizes, const int64_t* strides, const int64_t* wanted);
std::vector<int64_t> contiguous_strides(const TensorView& view);
// "f32[4, 8]{8, 1}", the strides only where they are not contiguous.
std::string type_text(const TensorView& view);

// numbers.cpp
// Nothing and a reason where Python would raise.
Result<double> number_value(plan::NumberOp op, double a, double b);
// The element as an integer or number; nothing when it has no such value.
std::optional<int64_t> integer_at(const void* data, ir::DType dtype);
std::optional<double> number_at(const void* data, ir::DType dtype);

}  // namespace jumar::runtime
