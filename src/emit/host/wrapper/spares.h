// Objects that serve one caller at a time and are kept for the next. While one thread at a time takes and
// gives, there is one object and no lock.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

namespace jumar::wrapper {

template <class T>
class Spares {
 public:
  Spares() = default;
  ~Spares() { delete last_.load(std::memory_order_acquire); }
  Spares(const Spares&) = delete;
  Spares& operator=(const Spares&) = delete;

  // Null when none is kept.
  std::unique_ptr<T> take() {
    if (T* last = last_.exchange(nullptr, std::memory_order_acq_rel)) return std::unique_ptr<T>(last);
    const std::lock_guard<std::mutex> lock(mutex_);
    if (others_.empty()) return nullptr;
    std::unique_ptr<T> other = std::move(others_.back());
    others_.pop_back();
    return other;
  }

  void give(std::unique_ptr<T> object) {
    std::unique_ptr<T> other(last_.exchange(object.release(), std::memory_order_acq_rel));
    if (!other) return;
    const std::lock_guard<std::mutex> lock(mutex_);
    others_.push_back(std::move(other));
  }

 private:
  std::atomic<T*> last_{nullptr};
  std::mutex mutex_;
  std::vector<std::unique_ptr<T>> others_;
};

}  // namespace jumar::wrapper
