// Threads that share the work of a launch, for processes without libtorch.
//
//   std::shared_ptr<Threads> threads = ThreadPool::create(4);
//   threads->parallel_for(0, n, 64, [](int64_t begin, int64_t end, void* data) { ... }, &data);
//
// parallel_for calls `body` on ranges that together are [begin, end), each of at least `grain` units but for
// the last, and returns when all are done. The calling thread takes part: it does whatever no other thread
// has begun, so a call never waits for a thread to become free. Therefore any number of threads may call at
// once, a body may call again, and a pool whose threads are all busy only makes a call slower.
//
// Several ranges are made for each thread, so that one that the system runs late leaves its share to the
// others.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace jumar::runtime {

// The processors that this process may run on, at least 1.
int available_processors();

class Threads {
 public:
  using Body = void (*)(int64_t begin, int64_t end, void* context);

  virtual ~Threads() = default;
  // How many threads work on a call at most, the caller included.
  virtual int count() const = 0;
  virtual void parallel_for(int64_t begin, int64_t end, int64_t grain, Body body, void* context) = 0;
};

// The ranges that a parallel_for is cut into. All have `step` units, but for the last.
struct Ranges {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t step = 1;
  int64_t count = 0;

  static Ranges of(int64_t begin, int64_t end, int64_t grain, int threads);
  void run(int64_t index, Threads::Body body, void* context) const {
    const int64_t from = begin + index * step;
    body(from, end - from < step ? end : from + step, context);
  }
};

class ThreadPool final : public Threads {
 public:
  // `count` threads with the caller; 0 means as many as there are processors. Threads begin with the first
  // call that needs them.
  static std::shared_ptr<ThreadPool> create(int count);
  ~ThreadPool() override;
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int count() const override { return count_; }
  void parallel_for(int64_t begin, int64_t end, int64_t grain, Body body, void* context) override;

 private:
  struct Job;
  explicit ThreadPool(int count) : count_(count) {}
  void work();
  void share(Job& job);
  void leave(Job& job);

  const int count_;
  std::mutex mutex_;  // guards the members below
  std::condition_variable work_there_;
  std::vector<Job*> jobs_;  // with ranges that nobody has begun; oldest first
  std::vector<std::thread> workers_;
  bool stops_ = false;
};

}  // namespace jumar::runtime
