// oneDNN as a provider, opened at run time: nothing links it, and a process that never calls it never loads
// it.
//
//   Result<std::shared_ptr<const OneDnn>> provider = OneDnn::load({});
//
// A primitive is made when a call meets sizes and strides for the first time, which takes a fraction of a
// millisecond, and kept with its call; each call keeps the few that were used last. Weights that are frozen
// are kept in the layout that oneDNN likes best, too.
#pragma once

#include "runtime/native/provider.h"
#include "support/result.h"

namespace jumar::runtime::native {

class OneDnnApi;

struct OneDnnOptions {
  std::string library;  // its path; empty stands for Debian's libdnnl.so.2
  int threads = 0;      // 0: as many as there are processors for this process
};

class OneDnn final : public Provider {
 public:
  static Result<std::shared_ptr<const OneDnn>> load(const OneDnnOptions& options);
  ~OneDnn() override;

  bool supports(ir::DType dtype) const override;
  std::unique_ptr<const Matmul> matmul(const MatmulTraits& traits) const override;
  std::unique_ptr<const Convolution> convolution(const ConvolutionTraits& traits) const override;
  std::shared_ptr<Threads> threads() const override { return threads_; }

  struct Engine;

 private:
  OneDnn() = default;
  std::shared_ptr<const Engine> engine_;
  std::shared_ptr<Threads> threads_;
  std::vector<ir::DType> dtypes_;
};

// The same as a function that a program may be linked without: declared weak, it is null there.
Result<std::shared_ptr<const Provider>> load_onednn(const OneDnnOptions& options);

}  // namespace jumar::runtime::native
