#include "runtime/threads.h"

#include <sched.h>

#include <algorithm>
#include <atomic>

namespace jumar::runtime {
namespace {

constexpr int64_t kRangesPerThread = 4;
// Looks at a job's progress before the caller sleeps: some microseconds, about what the rest of a range of
// the usual size takes.
constexpr int kLooks = 200;

void rest() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

int available_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(CPU_COUNT(&set), 1);
  // More processors than the set holds.
  return std::max(static_cast<int>(std::thread::hardware_concurrency()), 1);
}

Ranges Ranges::of(int64_t begin, int64_t end, int64_t grain, int threads) {
  const int64_t units = end - begin;
  if (units <= 0) return {begin, begin, 1, 0};
  const int64_t wanted = threads > 1 ? threads * kRangesPerThread : 1;
  const int64_t even = units / wanted + (units % wanted != 0);
  const int64_t step = std::max({even, grain, int64_t{1}});
  return {begin, end, step, units / step + (units % step != 0)};
}

// Lives in the frame of the call. Threads that work on it are counted in `helpers`, and the call does not
// return before all have left.
struct ThreadPool::Job {
  Ranges ranges;
  Body body;
  void* context;
  std::atomic<int64_t> next{0};
  std::atomic<int> helpers{0};  // changed with the pool's mutex held
  std::condition_variable all_left{};

  // Does ranges until all are begun.
  void run() {
    for (int64_t k = next.fetch_add(1, std::memory_order_relaxed); k < ranges.count;
         k = next.fetch_add(1, std::memory_order_relaxed))
      ranges.run(k, body, context);
  }
};

std::shared_ptr<ThreadPool> ThreadPool::create(int count) {
  return std::shared_ptr<ThreadPool>(new ThreadPool(count > 0 ? count : available_processors()));
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stops_ = true;
  }
  work_there_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::parallel_for(int64_t begin, int64_t end, int64_t grain, Body body, void* context) {
  if (end <= begin) return;
  Job job{Ranges::of(begin, end, grain, count_), body, context};
  if (job.ranges.count <= 1 || count_ <= 1) {
    body(begin, end, context);
    return;
  }
  share(job);
  job.run();
  leave(job);
}

void ThreadPool::share(Job& job) {
  const int64_t helpers = std::min<int64_t>(job.ranges.count, count_) - 1;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    while (static_cast<int>(workers_.size()) < count_ - 1) workers_.emplace_back([this] { work(); });
    jobs_.push_back(&job);
  }
  for (int64_t k = 0; k < helpers; ++k) work_there_.notify_one();
}

void ThreadPool::leave(Job& job) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::erase(jobs_, &job);
  }
  // No thread can join any more; those that have mostly need a moment only.
  for (int k = 0; k < kLooks && job.helpers.load(std::memory_order_acquire) > 0; ++k) rest();
  std::unique_lock<std::mutex> lock(mutex_);
  job.all_left.wait(lock, [&] { return job.helpers.load(std::memory_order_acquire) == 0; });
}

void ThreadPool::work() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    work_there_.wait(lock, [this] { return stops_ || !jobs_.empty(); });
    if (stops_) return;
    Job& job = *jobs_.front();
    job.helpers.fetch_add(1, std::memory_order_relaxed);
    lock.unlock();
    job.run();
    lock.lock();
    // Every range is begun: others should look for another job.
    std::erase(jobs_, &job);
    if (job.helpers.fetch_sub(1, std::memory_order_acq_rel) == 1) job.all_left.notify_one();
  }
}

}  // namespace jumar::runtime
