// Memory for programs that nobody lends any to: blocks are kept for the next call, because fresh memory from
// the system costs a page fault for every page.
#pragma once

#include <cstdlib>
#include <memory>
#include <mutex>
#include <vector>

#include "emit/host/wrapper/torch.h"

namespace jumar::wrapper {

class OwnMemory : public std::enable_shared_from_this<OwnMemory> {
 public:
  explicit OwnMemory(const Torch& torch) : torch_(torch) {}
  ~OwnMemory() {
    for (const Block& block : kept_) std::free(block.data);
  }
  OwnMemory(const OwnMemory&) = delete;
  OwnMemory& operator=(const OwnMemory&) = delete;

  Services services() { return {this, take, give, large_output}; }

 private:
  static constexpr int64_t kAlignmentBytes = 64;
  static constexpr int64_t kMostKeptBytes = int64_t{1} << 30;
  struct Block {
    void* data;
    int64_t bytes;
  };
  struct Lent {
    Block block;
    std::shared_ptr<OwnMemory> owner;
  };

  static void* take(void* context, int64_t bytes, void** token) {
    OwnMemory& self = *static_cast<OwnMemory*>(context);
    const Block block = self.block_of(bytes);
    if (!block.data) return nullptr;
    *token = new Lent{block, self.shared_from_this()};
    return block.data;
  }

  static void give(void* token) {
    Lent* lent = static_cast<Lent*>(token);
    lent->owner->keep(lent->block);
    delete lent;
  }

  static Handle large_output(void* context, int32_t dtype, int64_t rank, const int64_t* sizes,
                             const int64_t* strides, int64_t bytes) {
    const Torch& torch = static_cast<OwnMemory*>(context)->torch_;
    Handle handle = nullptr;
    if (!torch.torch_from_blob) {
      const int32_t cpu = torch.aoti_torch_device_type_cpu();
      torch.aoti_torch_empty_strided(rank, sizes, strides, dtype, cpu, 0, &handle);
      return handle;
    }
    void* token = nullptr;
    void* data = take(context, bytes, &token);
    if (!data) return nullptr;
    auto release = [](void*, void* lent) { give(lent); };
    // The device has no index: this function compares it with that of the memory, which has none.
    if (torch.torch_from_blob(data, rank, sizes, strides, 0, dtype, torch.aoti_torch_device_type_cpu(), -1,
                              &handle, torch.aoti_torch_layout_strided(), nullptr, 0, release, token) == 0)
      return handle;
    give(token);
    return nullptr;
  }

  // The smallest kept block that holds `bytes` and is no more than twice as large, or a new one.
  Block block_of(int64_t bytes) {
    const int64_t wanted = (bytes / kAlignmentBytes + 1) * kAlignmentBytes;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      size_t best = kept_.size();
      for (size_t k = 0; k < kept_.size(); ++k) {
        if (kept_[k].bytes < wanted || kept_[k].bytes / 2 > wanted) continue;
        if (best == kept_.size() || kept_[k].bytes < kept_[best].bytes) best = k;
      }
      if (best < kept_.size()) {
        const Block block = kept_[best];
        kept_[best] = kept_.back();
        kept_.pop_back();
        kept_bytes_ -= block.bytes;
        return block;
      }
    }
    return {std::aligned_alloc(kAlignmentBytes, static_cast<size_t>(wanted)), wanted};
  }

  void keep(Block block) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (kept_bytes_ + block.bytes <= kMostKeptBytes) {
        kept_.push_back(block);
        kept_bytes_ += block.bytes;
        return;
      }
    }
    std::free(block.data);
  }

  const Torch torch_;
  std::mutex mutex_;
  std::vector<Block> kept_;
  int64_t kept_bytes_ = 0;
};

// A block of memory for the length of a call.
class Arena {
 public:
  Arena() = default;
  ~Arena() {
    if (token_) give_(token_);
  }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  void take(const Services& services, int64_t bytes) {
    data_ = services.take(services.context, bytes, &token_);
    give_ = services.give;
    if (!data_) fail(FailureKind::kMemory, "no memory for " + std::to_string(bytes) + " bytes of buffers");
  }
  void* at(int64_t offset_bytes) const { return static_cast<char*>(data_) + offset_bytes; }

 private:
  void* data_ = nullptr;
  void* token_ = nullptr;
  void (*give_)(void* token) = nullptr;
};

}  // namespace jumar::wrapper
