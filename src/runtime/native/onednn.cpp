#include "runtime/native/onednn.h"

#include <algorithm>
#include <array>
#include <atomic>

#include "runtime/native/onednn_primitive.h"
#include "runtime/threads.h"

namespace jumar::runtime::native {
namespace {

constexpr std::array kDtypes = {ir::DType::kF32, ir::DType::kBF16, ir::DType::kF16};

// The threads that oneDNN uses, in the team of the calling thread.
class OpenMpTeam final : public Threads {
 public:
  OpenMpTeam(std::shared_ptr<const OneDnnApi> api, int count) : api_(std::move(api)), count_(count) {}

  int count() const override { return count_; }
  void parallel_for(int64_t begin, int64_t end, int64_t grain, Body body, void* context) override {
    if (end <= begin) return;
    Work work{Ranges::of(begin, end, grain, count_), body, context};
    if (work.ranges.count <= 1 || count_ <= 1 || api_->omp_in_parallel()) {
      body(begin, end, context);
      return;
    }
    // Always all of them: OpenMP ends threads that a smaller team leaves over.
    api_->gomp_parallel([](void* work) { static_cast<Work*>(work)->run(); }, &work,
                        static_cast<unsigned>(count_), 0);
  }

 private:
  struct Work {
    Ranges ranges;
    Body body;
    void* context;
    std::atomic<int64_t> next{0};

    void run() {
      for (int64_t k = next.fetch_add(1, std::memory_order_relaxed); k < ranges.count;
           k = next.fetch_add(1, std::memory_order_relaxed))
        ranges.run(k, body, context);
    }
  };

  std::shared_ptr<const OneDnnApi> api_;
  int count_;
};

// Whether oneDNN multiplies matrices of this type on this processor.
bool has_products(const OneDnn::Engine& engine, ir::DType dtype) {
  constexpr std::array<int64_t, 2> kSizes = {16, 16};
  const std::optional<dnnl_memory_desc_t> square =
      strided_desc(*engine.api, *dnnl_dtype(dtype), kSizes, dense_strides(kSizes));
  dnnl_matmul_desc_t descriptor;
  dnnl_primitive_desc_t primitive = nullptr;
  const bool ok =
      square &&
      engine.api->dnnl_matmul_desc_init(&descriptor, &*square, &*square, nullptr, &*square) == dnnl_success &&
      engine.api->dnnl_primitive_desc_create(&primitive, &descriptor, nullptr, engine.engine, nullptr) ==
          dnnl_success;
  if (ok) engine.api->dnnl_primitive_desc_destroy(primitive);
  return ok;
}

}  // namespace

OneDnn::~OneDnn() = default;

Result<std::shared_ptr<const OneDnn>> OneDnn::load(const OneDnnOptions& options) {
  JUMAR_ASSIGN(std::shared_ptr<const OneDnnApi> api, OneDnnApi::load(options.library));
  const int threads = options.threads > 0 ? options.threads : available_processors();
  auto engine = std::make_shared<Engine>(api, threads);
  if (api->dnnl_engine_create(&engine->engine, dnnl_cpu, 0) != dnnl_success)
    return diagnostic("unsupported", "oneDNN has no engine for this processor");
  std::shared_ptr<OneDnn> provider(new OneDnn());
  for (ir::DType dtype : kDtypes)
    if (has_products(*engine, dtype)) provider->dtypes_.push_back(dtype);
  if (api->has_openmp()) provider->threads_ = std::make_shared<OpenMpTeam>(api, threads);
  provider->engine_ = std::move(engine);
  return std::shared_ptr<const OneDnn>(std::move(provider));
}

bool OneDnn::supports(ir::DType dtype) const { return std::ranges::find(dtypes_, dtype) != dtypes_.end(); }

Result<std::shared_ptr<const Provider>> load_onednn(const OneDnnOptions& options) {
  JUMAR_ASSIGN(std::shared_ptr<const Provider> provider, OneDnn::load(options));
  return provider;
}

}  // namespace jumar::runtime::native
