#include <algorithm>
#include <cstring>

#include "runtime/numbers.h"
#include "runtime/run.h"

namespace jumar::runtime {
namespace {

// What the thread pool's function gets: it calls the kernel on a range of units.
struct KernelCall {
  KernelFn kernel;
  void** args;
};

void run_range(int64_t begin, int64_t end, void* context) {
  const KernelCall* call = static_cast<const KernelCall*>(context);
  call->kernel(begin, end, call->args);
}

}  // namespace

bool Run::execute() {
  frame_.threads = 0;
  for (const Action& action : code_.actions) {
    bool ok = true;
    switch (action.kind) {
      case Action::Kind::kMake:
        ok = make(action.index);
        break;
      case Action::Kind::kLaunch:
        ok = launch(code_.launches[action.index]);
        break;
      case Action::Kind::kCall:
        ok = call(code_.calls[action.index]);
        break;
      case Action::Kind::kBind:
        ok = bind(code_.binds[action.index]);
        break;
      case Action::Kind::kSettle:
        ok = settle(action.index);
        break;
      case Action::Kind::kNumber:
        ok = number(code_.numbers[action.index]);
        break;
      case Action::Kind::kCheck:
        ok = check(code_.checks[action.index]);
        break;
      case Action::Kind::kRelease:
        release_root(action.index);
        break;
    }
    if (!ok) return false;
  }
  return true;
}

bool Run::launch(const LaunchCode& launch) {
  uint64_t* word = frame_.words.data();
  for (uint32_t tensor : launch.tensors) *word++ = reinterpret_cast<uint64_t>(data_of(tensor));
  if (launch.checks_indices) {
    frame_.status = IndexStatus{};
    *word++ = reinterpret_cast<uint64_t>(&frame_.status);
  }
  for (Slot slot : launch.ints) *word++ = static_cast<uint64_t>(frame_.values[slot]);
  for (uint32_t number : launch.floats) std::memcpy(word++, &frame_.numbers[number], sizeof(double));

  void** args = reinterpret_cast<void**>(frame_.words.data());
  int64_t begin = 0;
  for (const LaunchCode::Phase& phase : launch.phases) {
    const int64_t units = frame_.values[phase.units];
    if (units <= 0) continue;
    const int64_t grain = std::max<int64_t>(frame_.values[phase.grain], 1);
    if (!run_units(launch, begin, begin + units, grain, args)) return false;
    // What a later phase reads may not be there after a bad index.
    if (launch.checks_indices && frame_.status.flag != 0) return index_failure(launch);
    begin += units;
  }
  return true;
}

bool Run::run_units(const LaunchCode& launch, int64_t begin, int64_t end, int64_t grain, void** args) {
  if (end - begin <= grain || !has_threads()) {
    launch.kernel(begin, end, args);
    return true;
  }
  KernelCall call{launch.kernel, args};
  if (!torch_) {
    code_.threads->parallel_for(begin, end, grain, run_range, &call);
    return true;
  }
  if (torch_->torch_parallel_for(begin, end, grain, run_range, &call) == 0) return true;
  return fail(RunError::Kind::kOpFailed,
              fmt::format("libtorch's thread pool failed in @{}", launch.source->kernel), launch.step);
}

// libtorch is asked once per call, and only where a launch is worth a second thread.
bool Run::has_threads() {
  if (!torch_) return code_.threads != nullptr;
  if (frame_.threads == 0 && torch_->torch_get_num_threads(&frame_.threads) != 0) frame_.threads = 1;
  return frame_.threads > 1;
}

bool Run::index_failure(const LaunchCode& launch) {
  if (code_.engine.fault_text) {
    return fail(RunError::Kind::kFault, code_.engine.fault_text(launch.source->kernel, frame_.status),
                launch.step);
  }
  return fail(RunError::Kind::kIndex,
              fmt::format("index {} is out of bounds for a dimension of size {}", frame_.status.index,
                          frame_.status.size),
              launch.step);
}

// The number that a bind step reads.
bool Run::bound_number(const BindCode& bind, int64_t& found) {
  using Source = plan::BindStep::Source;
  if (bind.source == Source::kSize || bind.source == Source::kStride) {
    TensorView real;
    if (!real_layout(bind.tensor, real)) return false;
    if (bind.dim >= static_cast<uint32_t>(real.rank))
      return result_error(bind.step, fmt::format("%{} is {}, which has no dimension {}", name_of(bind.tensor),
                                                 type_text(real), bind.dim));
    found = bind.source == Source::kSize ? real.sizes[bind.dim] : real.strides[bind.dim];
    return true;
  }
  std::optional<int64_t> number;
  if (bind.source == Source::kItem) {
    TensorView view = view_of(bind.tensor);
    for (int32_t k = 0; k < view.rank; ++k)
      if (view.sizes[k] != 1)
        return result_error(bind.step, fmt::format("the item of %{}, which is {}, is asked for",
                                                   name_of(bind.tensor), type_text(view)));
    number = integer_at(view.data, view.dtype);
  } else {
    number = rounded(bind.source, frame_.numbers[bind.number]);
  }
  if (!number) return fail(RunError::Kind::kNumber, "a number is beyond 63 bits", bind.step);
  found = *number;
  return true;
}

bool Run::bind(const BindCode& bind) {
  int64_t found = 0;
  if (!bound_number(bind, found)) return false;
  if (!solve(bind.symbol, bind.coefficient, bind.rest, found))
    return fail(RunError::Kind::kNumber, fmt::format("a symbol cannot be computed from {}", found),
                bind.step);
  if (!check_symbol(bind.symbol, bind.step) || !run_stage(bind.stage, bind.step)) return false;
  if (frame_.values[bind.expr] == found) return true;
  return fail(RunError::Kind::kNumber,
              fmt::format("{} is no value of {}", found, sym::text(code_.program.expr(bind.expr))),
              bind.step);
}

bool Run::check_symbol(Slot slot, std::optional<uint32_t> step) {
  for (const SymbolCode& symbol : code_.symbols) {
    int64_t value = frame_.values[symbol.slot];
    if (symbol.slot != slot || (value >= symbol.range.lo && value <= symbol.range.hi)) continue;
    return fail(RunError::Kind::kOpResult,
                fmt::format("{} = {} is outside the range that the plan was compiled for",
                            sym::text(code_.program.expr(slot)), value),
                step);
  }
  return true;
}

bool Run::number(const NumberCode& number) {
  double operands[2] = {0, 0};
  for (size_t k = 0; k < number.operands.size(); ++k) {
    const NumberOperand& operand = number.operands[k];
    switch (operand.kind) {
      case NumberOperand::Kind::kSlot:
        operands[k] = static_cast<double>(frame_.values[operand.index]);
        break;
      case NumberOperand::Kind::kNumber:
        operands[k] = frame_.numbers[operand.index];
        break;
      case NumberOperand::Kind::kConstant:
        operands[k] = operand.constant;
        break;
      case NumberOperand::Kind::kTensor: {
        TensorView view = view_of(operand.index);
        std::optional<double> item = number_at(view.data, view.dtype);
        for (int32_t axis = 0; axis < view.rank; ++axis)
          if (view.sizes[axis] != 1) item.reset();
        if (!item)
          return fail(RunError::Kind::kNumber,
                      fmt::format("%{} is {}, which has no item", name_of(operand.index), type_text(view)),
                      number.step);
        frame_.numbers[number.result] = *item;
        return true;
      }
    }
  }
  Result<double> value = number_value(number.op, operands[0], operands[1]);
  if (!value.ok()) return fail(RunError::Kind::kNumber, value.error().message, number.step);
  frame_.numbers[number.result] = *value;
  return true;
}

bool Run::check(const CheckCode& check) {
  if (frame_.values[check.predicate] != 0) return true;
  return fail(RunError::Kind::kCheck, check.source->message, check.step);
}

bool Run::make(uint32_t tensor) {
  const TensorCode& t = code_.tensors[tensor];
  TensorState& state = frame_.tensors[tensor];
  int64_t bytes = frame_.extent_bytes[tensor];
  void* data = nullptr;
  if (torch_) {
    state.handle = fresh_tensor(code_.engine, t.dtype, t.rank, sizes(tensor), strides(tensor), bytes);
    if (state.handle) torch_->aoti_torch_get_data_ptr(state.handle.get(), &data);
  } else if (Block block = code_.engine.pool->take(bytes)) {
    data = block.data();
    state.block = new SharedBlock{std::move(block), 1};
  }
  if (!data && bytes > 0)
    return fail(RunError::Kind::kMemory, fmt::format("no memory for %{}, {} bytes", name_of(tensor), bytes));
  frame_.data[tensor] = data;
  return true;
}

void Run::release_root(uint32_t tensor) {
  TensorState& state = frame_.tensors[tensor];
  state.handle.reset();
  state.host = {};
  release(state.block);
  state.block = nullptr;
}

Run::~Run() {
  for (uint32_t tensor : code_.owning) release_root(tensor);
  frame_.temporaries.clear();
  frame_.results.tensors.clear();
  frame_.arena.reset();
}

}  // namespace jumar::runtime
