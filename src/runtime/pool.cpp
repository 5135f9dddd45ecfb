#include "runtime/pool.h"

#include <sys/mman.h>

#include <bit>
#include <chrono>
#include <utility>

namespace jumar::runtime {
namespace {

constexpr int64_t kLeastBytes = 4096;
constexpr int64_t kHugePageBytes = int64_t{2} << 20;

int64_t now_seconds() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Four classes to a power of two, so that at most a fifth of a block is unused; multiples of a page. 0 when
// the size is beyond any memory.
int64_t class_bytes(int64_t bytes) {
  if (bytes <= kLeastBytes) return kLeastBytes;
  if (bytes > (int64_t{1} << 60)) return 0;
  int64_t power = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(bytes - 1)));
  int64_t step = std::max(power / 4, kLeastBytes);
  return (bytes + step - 1) / step * step;
}

void* map_memory(int64_t bytes) {
  void* data =
      mmap(nullptr, static_cast<size_t>(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) return nullptr;
  if (bytes >= kHugePageBytes) madvise(data, static_cast<size_t>(bytes), MADV_HUGEPAGE);
  return data;
}

}  // namespace

Block& Block::operator=(Block&& other) noexcept {
  if (this != &other) {
    reset();
    data_ = std::exchange(other.data_, nullptr);
    capacity_bytes_ = std::exchange(other.capacity_bytes_, 0);
    pool_ = std::move(other.pool_);
  }
  return *this;
}

void Block::reset() {
  if (!data_) return;
  // The pool may end with this reference, and must not before give() returns.
  std::shared_ptr<Pool> pool = std::move(pool_);
  pool->give(std::exchange(data_, nullptr), std::exchange(capacity_bytes_, 0));
}

std::shared_ptr<Pool> Pool::create(int64_t limit_bytes) {
  return std::shared_ptr<Pool>(new Pool(limit_bytes));
}

Pool::~Pool() { trim(); }

Block Pool::take(int64_t bytes) {
  Block block;
  int64_t capacity = class_bytes(bytes);
  if (capacity == 0) return block;
  {
    std::lock_guard lock(mutex_);
    // The newest first: its pages are the likeliest to be in a cache.
    for (size_t k = kept_.size(); k-- > 0;) {
      if (kept_[k].capacity_bytes != capacity) continue;
      block.data_ = kept_[k].data;
      kept_.erase(kept_.begin() + static_cast<std::ptrdiff_t>(k));
      kept_bytes_ -= capacity;
      break;
    }
  }
  if (!block.data_) block.data_ = map_memory(capacity);
  if (!block.data_) return block;
  block.capacity_bytes_ = capacity;
  block.pool_ = shared_from_this();
  return block;
}

void Pool::collect_old(int64_t now_seconds, std::vector<Kept>& dropped) {
  size_t count = 0;
  while (count < kept_.size() &&
         (kept_bytes_ > limit_bytes_ || kept_[count].since_seconds + kIdleSeconds < now_seconds))
    kept_bytes_ -= kept_[count++].capacity_bytes;
  dropped.assign(kept_.begin(), kept_.begin() + static_cast<std::ptrdiff_t>(count));
  kept_.erase(kept_.begin(), kept_.begin() + static_cast<std::ptrdiff_t>(count));
}

void Pool::give(void* data, int64_t capacity_bytes) {
  int64_t now = now_seconds();
  std::vector<Kept> dropped;
  {
    std::lock_guard lock(mutex_);
    kept_.push_back({data, capacity_bytes, now});
    kept_bytes_ += capacity_bytes;
    if (kept_bytes_ > limit_bytes_ || now != last_collection_seconds_) {
      collect_old(now, dropped);
      last_collection_seconds_ = now;
    }
  }
  for (const Kept& kept : dropped) munmap(kept.data, static_cast<size_t>(kept.capacity_bytes));
}

void Pool::trim() {
  std::vector<Kept> dropped;
  {
    std::lock_guard lock(mutex_);
    dropped.swap(kept_);
    kept_bytes_ = 0;
  }
  for (const Kept& kept : dropped) munmap(kept.data, static_cast<size_t>(kept.capacity_bytes));
}

int64_t Pool::kept_bytes() const {
  std::lock_guard lock(mutex_);
  return kept_bytes_;
}

}  // namespace jumar::runtime
