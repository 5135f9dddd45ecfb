// An opened program: what its calls share.
#pragma once

#include <memory>
#include <mutex>

#include "emit/host/wrapper/calls_stack.h"
#include "emit/host/wrapper/numbers.h"
#include "support/spares.h"

namespace jumar::wrapper {

// The base of a written program: `op` has the operators that it calls.
template <class Operators>
class Program : public Calls {
 public:
  Program(const Operators& operators, const Shared& shared, Frame& frame, const Input* inputs,
          size_t input_count, Output* outputs)
      : Calls(shared, frame, inputs, input_count, outputs), op(operators) {}

 protected:
  const Operators& op;
};

// Several threads may call a model at once; where a program updates its own buffers they take turns.
template <class Program, class Operators>
class Model {
 public:
  Model(const ProgramInfo& info, const Services* services, const char* weights_file)
      : info_(info),
        own_(services ? nullptr : std::make_shared<OwnMemory>(torch_)),
        services_(services ? *services : own_->services()),
        shared_{info_, torch_, services_, weights_} {
    weights_.open(info, weights_file);
  }
  ~Model() {
    while (std::unique_ptr<Frame> frame = frames_.take())
      for (const Slot& slot : frame->slots)
        if (slot.blob) torch_.aoti_torch_delete_tensor_object(slot.blob);
  }
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  void call(const Input* inputs, size_t input_count, Output* outputs) {
    std::unique_lock<std::mutex> turn(mutex_, std::defer_lock);
    if (info_.updates_weights) turn.lock();
    std::unique_ptr<Frame> frame = frames_.take();
    if (!frame) {
      frame = std::make_unique<Frame>();
      frame->slots.resize(info_.tensor_count);
    }
    const GiveBack give_back{frames_, frame};
    Program program(operators_, shared_, *frame, inputs, input_count, outputs);
    program.run();
    arena_bytes_.store(program.arena_bytes(), std::memory_order_relaxed);
  }

  const Torch& torch() const { return torch_; }
  const ProgramInfo& info() const { return info_; }
  int64_t arena_bytes() const { return arena_bytes_.load(std::memory_order_relaxed); }

 private:
  struct GiveBack {
    Spares<Frame>& frames;
    std::unique_ptr<Frame>& frame;
    ~GiveBack() { frames.give(std::move(frame)); }
  };

  const ProgramInfo& info_;
  const Torch torch_;
  const Operators operators_{};
  const std::shared_ptr<OwnMemory> own_;
  const Services services_;
  WeightsFile weights_;
  const Shared shared_;
  Spares<Frame> frames_;
  std::mutex mutex_;
  std::atomic<int64_t> arena_bytes_{0};
};

}  // namespace jumar::wrapper
