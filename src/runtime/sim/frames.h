// Memory for the buffers of blocks that are running.
//
// A thread that works on blocks takes a frame and gives it back after the last one, so a kernel holds as many
// frames as threads ran it at once. Compiled code calls the functions of frame_calls.cpp with a pool's address.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace jumar::runtime::sim {

class Frame {
 public:
  static constexpr int64_t kAlignBytes = 64;
  // What the sizes known at run time may add up to in one block.
  static constexpr int64_t kMaxGrownBytes = int64_t{1} << 32;

  Frame(int64_t bytes, bool fills);

  // The buffers for a new block. Filled: every float in them is a NaN, every integer -1.
  void* begin_block();
  // More memory, until the block ends; null above the limit.
  void* grow(int64_t bytes);

 private:
  struct Free {
    void operator()(void* memory) const;
  };
  using Memory = std::unique_ptr<void, Free>;
  static Memory allocate(int64_t bytes);

  int64_t bytes_;
  bool fills_;
  Memory buffers_;
  std::vector<Memory> grown_;
  int64_t grown_bytes_ = 0;
};

class FramePool {
 public:
  FramePool(int64_t bytes, bool fills) : bytes_(bytes), fills_(fills) {}

  Frame* take();
  void give(Frame* frame);

 private:
  int64_t bytes_;
  bool fills_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Frame>> all_;
  std::vector<Frame*> idle_;
};

}  // namespace jumar::runtime::sim
