// oneDNN's C functions, found in the library when it is opened; its header is needed for the types only.
//
//   JUMAR_ASSIGN(std::shared_ptr<const OneDnnApi> api, OneDnnApi::load(""));
//   api->dnnl_engine_create(&engine, dnnl_cpu, 0);
//
// Debian's library runs its work on OpenMP's threads. The functions of that OpenMP are found as well, so that
// others can use the same threads and the number of threads can be set; they are null where the library was
// built for other threads.
#pragma once

#include <dnnl.h>

#include <memory>
#include <string>

#include "support/result.h"

namespace jumar::runtime::native {

class OneDnnApi {
 public:
  // An empty path stands for the library's name, which the system looks for.
  static Result<std::shared_ptr<const OneDnnApi>> load(const std::string& path);

#define JUMAR_DNNL(name) decltype(&::name) name = nullptr;
#include "runtime/native/onednn_api.def"
#undef JUMAR_DNNL

  bool has_openmp() const { return gomp_parallel && omp_in_parallel && omp_threads && set_omp_threads; }
  void (*gomp_parallel)(void (*body)(void*), void* data, unsigned threads, unsigned flags) = nullptr;
  int (*omp_in_parallel)() = nullptr;
  int (*omp_threads)() = nullptr;  // of the calling thread's next parallel region
  void (*set_omp_threads)(int threads) = nullptr;

 private:
  OneDnnApi() = default;
};

// Sets the number of threads that oneDNN works with in this thread, until the end of the scope.
class OpenMpThreads {
 public:
  OpenMpThreads(const OneDnnApi& api, int threads) : api_(api) {
    if (!api.has_openmp()) return;
    before_ = api.omp_threads();
    if (before_ != threads) api.set_omp_threads(threads);
    changed_ = before_ != threads;
  }
  ~OpenMpThreads() {
    if (changed_) api_.set_omp_threads(before_);
  }
  OpenMpThreads(const OpenMpThreads&) = delete;
  OpenMpThreads& operator=(const OpenMpThreads&) = delete;

 private:
  const OneDnnApi& api_;
  int before_ = 0;
  bool changed_ = false;
};

}  // namespace jumar::runtime::native
