// Blocks of memory that outlive a call: arenas of running plans and large outputs.
//
//   std::shared_ptr<Pool> pool = Pool::create(256 << 20);
//   Block block = pool->take(bytes);        // 64-byte aligned, contents unspecified
//   ... block.data() ...                    // the destructor gives it back
//
// Fresh memory from the system costs a page fault for every page, which for large tensors is more than the
// kernels that fill them; so a block that is given back is kept, in lists by size class, and the next request
// of that class gets it. At most `limit_bytes` are kept; what is over, and what nobody has asked for during
// `kIdleSeconds`, is returned to the system when a block is given back; trim() returns everything kept.
//
// Blocks keep the pool alive. All functions may be called from several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace jumar::runtime {

class Pool;

class Block {
 public:
  Block() = default;
  Block(Block&& other) noexcept { *this = std::move(other); }
  Block& operator=(Block&& other) noexcept;
  ~Block() { reset(); }

  explicit operator bool() const { return data_ != nullptr; }
  void* data() const { return data_; }
  int64_t capacity_bytes() const { return capacity_bytes_; }
  void reset();

 private:
  friend class Pool;
  void* data_ = nullptr;
  int64_t capacity_bytes_ = 0;
  std::shared_ptr<Pool> pool_;
};

class Pool : public std::enable_shared_from_this<Pool> {
 public:
  static constexpr int64_t kAlignmentBytes = 64;
  static constexpr int64_t kIdleSeconds = 10;

  static std::shared_ptr<Pool> create(int64_t limit_bytes);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  // An empty block when the system has no memory. A request of 0 bytes gets a block of the least class.
  Block take(int64_t bytes);
  void trim();
  int64_t kept_bytes() const;

 private:
  struct Kept {
    void* data;
    int64_t capacity_bytes;
    int64_t since_seconds;
  };
  explicit Pool(int64_t limit_bytes) : limit_bytes_(limit_bytes) {}
  friend class Block;
  void give(void* data, int64_t capacity_bytes);
  void collect_old(int64_t now_seconds, std::vector<Kept>& dropped);

  mutable std::mutex mutex_;
  int64_t limit_bytes_;
  int64_t kept_bytes_ = 0;
  int64_t last_collection_seconds_ = 0;
  std::vector<Kept> kept_;  // oldest first
};

}  // namespace jumar::runtime
