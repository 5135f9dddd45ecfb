// A plan compiled for execution; internal to the runtime and to those that write plans down as programs.
//
// Compiling turns steps into a list of actions: besides the plan's own steps there are the moments when
// memory of a tensor is made, when a called operator's result is compared with its type, and when a reference
// is dropped. All integer expressions are registers of one Program. A Code is immutable and shared by all
// calls.
#pragma once

#include <array>
#include <optional>

#include "plan/entry.h"
#include "plan/number_op.h"
#include "runtime/executor.h"
#include "runtime/native/call_site.h"
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
  // A result that nothing but one output of the plan uses, and whose strides the caller takes as they come.
  bool has_free_layout = false;
  // The caller or the embedder gets it or a view of it, maybe by way of called operators, and may keep it.
  bool escapes = false;
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
  struct Phase {
    Slot units = 0;
    Slot grain = 0;
  };
  std::vector<Phase> phases;
  bool checks_indices = false;
  uint32_t step = 0;
  const plan::LaunchStep* source = nullptr;
};

struct CallCode {
  // At most one of the two; with none the embedder makes the call.
  std::optional<torch::CallSite> site;
  std::optional<native::CallSite> native;
  std::vector<uint32_t> operands;  // tensors of the arguments, in the order of CallValues::tensors
  std::vector<uint32_t> results;   // kNoIndex: not used by the plan
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
  uint32_t number = 0;
  uint32_t stage = 0;
  Slot expr = 0;
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
  bool is_last = true;  // of a tensor: no later output has the same root
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
  std::shared_ptr<Threads> threads;  // of launches where there is no libtorch; or null
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
  bool is_brief = false;    // PreparedPlan::is_brief
};

// Whether a call's offset counts from the beginning of the caller's storage: a handle on the tensor's
// elements alone does not know where that is, but the embedder's own tensor does.
bool names_storage(const Code& code, const plan::CallStep& call);

// Marks the tensors that have a free layout, once all steps and outputs are there.
void free_layouts(Code& code);

// What the code of a verified plan would be with kernels and a libtorch that has every function of shims.def:
// for whoever writes the plan down as a program. It can't be run.
Result<std::unique_ptr<Code>> described(plan::Plan plan);

// Compiles a verified plan.
Result<std::unique_ptr<Code>> compiled(plan::Plan plan, const KernelTable& kernels, Engine engine);

}  // namespace jumar::runtime
