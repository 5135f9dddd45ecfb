#include "runtime/sim/frames.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace jumar::runtime::sim {

void Frame::Free::operator()(void* memory) const { std::free(memory); }

Frame::Memory Frame::allocate(int64_t bytes) {
  auto rounded = static_cast<size_t>((std::max<int64_t>(bytes, 1) + kAlignBytes - 1) / kAlignBytes * kAlignBytes);
  return Memory(std::aligned_alloc(kAlignBytes, rounded));
}

Frame::Frame(int64_t bytes, bool fills) : bytes_(bytes), fills_(fills), buffers_(allocate(bytes)) {
  if (!buffers_) throw std::bad_alloc();
}

void* Frame::begin_block() {
  grown_.clear();
  grown_bytes_ = 0;
  if (fills_) std::memset(buffers_.get(), 0xff, static_cast<size_t>(bytes_));
  return buffers_.get();
}

void* Frame::grow(int64_t bytes) {
  if (bytes < 0 || bytes > kMaxGrownBytes - grown_bytes_) return nullptr;
  Memory memory = allocate(bytes);
  if (!memory) return nullptr;
  if (fills_) std::memset(memory.get(), 0xff, static_cast<size_t>(bytes));
  grown_bytes_ += bytes;
  grown_.push_back(std::move(memory));
  return grown_.back().get();
}

Frame* FramePool::take() {
  std::lock_guard lock(mutex_);
  if (idle_.empty()) {
    all_.push_back(std::make_unique<Frame>(bytes_, fills_));
    return all_.back().get();
  }
  Frame* frame = idle_.back();
  idle_.pop_back();
  return frame;
}

void FramePool::give(Frame* frame) {
  std::lock_guard lock(mutex_);
  idle_.push_back(frame);
}

}  // namespace jumar::runtime::sim
