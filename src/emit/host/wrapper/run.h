// One call of a program: the functions that a written program consists of.
//
//   const Int s0 = symbol(size(0, 0), {"s0", 2, 4096});        inputs
//   const Tensor x = input(0, F32({s0, 256}));
//   arena(1048576);                                            memory
//   const Tensor t = buffer(0, F32({s0, 256}));
//   const Tensor y = fresh(F32({s0, 256}));
//   call_into(op.mm, {t}, x, w);                               work
//   launch(k_gelu, units(2*s0, 1), {t, y, s0});
//   outputs({y, 2*s0});                                        results
//
// Failures are exceptions (failure.h). Memory that the call made and does not return is released when it
// ends.
#pragma once

#include <cstring>

#include "emit/host/wrapper/inputs.h"
#include "emit/host/wrapper/memory.h"
#include "emit/host/wrapper/tensor.h"
#include "emit/host/wrapper/weights.h"

namespace jumar::wrapper {

// What the calls of one opened program share.
struct Shared {
  const ProgramInfo& info;
  const Torch& torch;
  const Services& services;
  const WeightsFile& weights;
};

struct Units {
  Int units;
  Int grain;
};
inline Units units(Int count, Int grain) { return {count, grain}; }

// Kernels that check indices write here (docs/plan.md).
struct IndexStatus {
  int64_t flag;
  int64_t index;
  int64_t size;
};
struct Status {};
constexpr Status status;

// One 8-byte word of a kernel's arguments.
struct LaunchWord {
  uint64_t bits = 0;
  bool is_status = false;
  LaunchWord(const Tensor& value) : bits(reinterpret_cast<uint64_t>(value.data)) {}
  LaunchWord(Int value) : bits(static_cast<uint64_t>(value.value())) {}
  LaunchWord(int value) : bits(static_cast<uint64_t>(int64_t{value})) {}
  LaunchWord(int64_t value) : bits(static_cast<uint64_t>(value)) {}
  LaunchWord(double value) { std::memcpy(&bits, &value, sizeof bits); }
  LaunchWord(Status) : is_status(true) {}
};

// A result of the call.
struct Returned {
  ValueKind kind;
  const Tensor* tensor = nullptr;
  int64_t integer = 0;
  double number = 0;
  Returned(const Tensor& value) : kind(ValueKind::kTensor), tensor(&value) {}
  Returned(Int value) : kind(ValueKind::kInt), integer(value.value()) {}
  Returned(int value) : kind(ValueKind::kInt), integer(value) {}
  Returned(int64_t value) : kind(ValueKind::kInt), integer(value) {}
  Returned(double value) : kind(ValueKind::kFloat), number(value) {}
  Returned(bool value) : kind(ValueKind::kBool), integer(value) {}
  Returned(std::nullptr_t) : kind(ValueKind::kNone) {}
};

class Run {
 public:
  Run(const Shared& shared, Frame& frame, const Input* inputs, size_t input_count, Output* outputs)
      : shared_(shared),
        torch_(shared.torch),
        frame_(frame),
        inputs_(shared.info, inputs, input_count),
        outputs_(outputs) {}
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  int64_t arena_bytes() const { return arena_bytes_; }

 protected:
  // ---- Inputs ----
  Found integer(uint32_t k) const { return inputs_.integer(k); }
  Found size(uint32_t k, int32_t dim) const { return inputs_.size(k, dim); }
  Found stride(uint32_t k, int32_t dim) const { return inputs_.stride(k, dim); }
  Int symbol(const Found& found, const Symbol& symbol, Int coefficient = 1, Int rest = 0) {
    return inputs_.symbol(found, symbol, coefficient, rest);
  }
  void expect(const Found& found, Int value, const char* expression) const {
    inputs_.expect(found, value, expression);
  }
  double number(uint32_t k) const { return inputs_.number(k); }
  Tensor input(uint32_t k, const Layout& layout);
  Tensor weight(uint32_t k, const Layout& layout);

  // ---- Memory ----
  // One block for all buffers of the call.
  void arena(int64_t bytes);
  // The offsets of buffers in that block, by their sizes and the steps that use them first and last. They are
  // kept with the values of the symbols that they follow from.
  template <class Requests>
  const int64_t* arena(std::initializer_list<Int> key, Requests&& requests);
  Tensor buffer(int64_t offset_bytes, const Layout& layout);
  // Memory of its own, which a result of the program may be.
  Tensor fresh(const Layout& layout);
  // `offset` elements after the first of `base`.
  Tensor view(const Tensor& base, Int offset, const Layout& layout);
  // The call is done with tensors that own their memory.
  template <class... Tensors>
  void release(const Tensors&... tensors) {
    (release_slot(*tensors.slot), ...);
  }

  // ---- Kernels ----
  void launch(const Kernel& kernel, Units units, std::initializer_list<LaunchWord> words) {
    launch(kernel, {units}, words);
  }
  // Phases run one after the other; units are counted on from phase to phase.
  void launch(const Kernel& kernel, std::initializer_list<Units> phases,
              std::initializer_list<LaunchWord> words);

  // ---- Results ----
  void outputs(std::initializer_list<Returned> values);
  // Writes new elements of an input or a weight where it lies.
  void update(const Tensor& target, const Tensor& value);

  const Shared& shared_;
  const Torch& torch_;
  Frame& frame_;
  Inputs inputs_;

  // ---- For calls.h ----
  Slot& next_slot() { return frame_.slots[tensor_count_++]; }
  const char* next_name() const { return shared_.info.tensors[tensor_count_]; }
  const char* name_of(const Tensor& tensor) const {
    return shared_.info.tensors[tensor.slot - frame_.slots.data()];
  }
  void check_layout(const Layout& layout) const;
  Handle made(const Layout& layout, void*& data) const;
  Handle borrowed(const Tensor& tensor) const;
  Handle kept_blob(const Tensor& tensor);
  Handle handle(const Tensor& tensor);
  Handle target_handle(const Tensor& tensor);
  void drop_temporaries();
  void release_slot(Slot& slot) {
    if (!slot.owned) return;
    torch_.aoti_torch_delete_tensor_object(slot.owned);
    slot.owned = nullptr;
  }

 private:
  void run_units(const Kernel& kernel, int64_t begin, int64_t end, int64_t grain, void** words);
  void give_tensor(const Tensor& tensor, bool is_last, Output& output);
  void give_alias(const Tensor& tensor, Output& output) const;

  Output* outputs_;
  Arena arena_;
  int64_t arena_bytes_ = 0;
  uint32_t tensor_count_ = 0;
  uint32_t threads_ = 0;  // of libtorch; 0 before it is asked
};

// The layouts' requests to the arena.
struct Request {
  int64_t bytes;
  uint32_t first;
  uint32_t last;
  Request(const Layout& layout, uint32_t begin, uint32_t end)
      : bytes(layout.extent_bytes), first(begin), last(end) {}
};

template <class Requests>
const int64_t* Run::arena(std::initializer_list<Int> key, Requests&& requests) {
  std::vector<ArenaPlan>& plans = frame_.arena_plans;
  auto same = [&](const ArenaPlan& plan) {
    return std::equal(key.begin(), key.end(), plan.key.begin(),
                      [](Int a, int64_t b) { return a.value() == b; });
  };
  auto found = std::find_if(plans.begin(), plans.end(), same);
  if (found == plans.end()) {
    constexpr size_t kPlansKept = 8;
    ArenaPlan plan;
    for (const Int value : key) plan.key.push_back(value.value());
    std::vector<runtime::ArenaRequest> rows;
    for (const Request& request : requests()) rows.push_back({request.bytes, request.first, request.last});
    std::optional<runtime::ArenaLayout> layout = runtime::planned_arena(rows);
    if (!layout) fail(FailureKind::kMemory, "the plan's buffers together need more bytes than there are");
    plan.layout = std::move(*layout);
    if (plans.size() == kPlansKept) plans.pop_back();
    plans.push_back(std::move(plan));
    found = plans.end() - 1;
  }
  std::rotate(plans.begin(), found, found + 1);
  arena(plans.front().layout.total_bytes);
  return plans.front().layout.offsets.data();
}

}  // namespace jumar::wrapper
