// What does matrix products and convolutions where there is no libtorch.
//
//   Result<std::shared_ptr<const Provider>> provider = OneDnn::load({});
//   MatmulTraits traits{ir::DType::kF32, 2};
//   std::unique_ptr<const Matmul> product = (*provider)->matmul(traits);
//   std::optional<std::string> error = product->run(context, a, b, nullptr, out);
//
// A Matmul or Convolution is made once for a call of a plan, when sizes need not be known yet, and run by any
// number of threads at once. What an implementation prepares for sizes it keeps in the object. Callers have
// checked that element types, ranks and sizes fit together, that nothing is empty, and that `out` overlaps no
// operand; strides may be any that are not negative.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/dtype.h"
#include "runtime/pool.h"
#include "runtime/tensor_view.h"

namespace jumar::runtime {
class Threads;
}

namespace jumar::runtime::native {

// out = alpha * a@b + beta * addend; dimensions before the last two are a batch. Those of a and b are equal,
// or 1 in one of them. The addend has the sizes of `out`, with strides of 0 where it is repeated. With
// beta == 0 there is none.
struct MatmulTraits {
  ir::DType dtype = ir::DType::kF32;
  int32_t rank = 2;
  double alpha = 1;
  double beta = 0;
  bool b_is_frozen = false;  // CallContext::generation tells when its elements change
};

// Dimensions: batch, channels, one to three of space. The weight has the channels of the result, then those
// of the input divided by `groups`.
struct ConvolutionTraits {
  ir::DType dtype = ir::DType::kF32;
  std::vector<int64_t> stride;  // one number for each dimension of space
  std::vector<int64_t> padding;
  std::vector<int64_t> dilation;
  int64_t groups = 1;
  bool weight_is_frozen = false;
};

struct CallContext {
  Pool& pool;  // for temporary memory
  // Frozen tensors have the same elements in all calls with the same generation and address.
  uint64_t generation = 0;
};

class Matmul {
 public:
  virtual ~Matmul() = default;
  // Nothing, or what failed.
  virtual std::optional<std::string> run(const CallContext& context, const TensorView& a, const TensorView& b,
                                         const TensorView* addend, const TensorView& out) const = 0;
};

class Convolution {
 public:
  virtual ~Convolution() = default;
  // `bias` has one element for each channel of the result; null means none.
  virtual std::optional<std::string> run(const CallContext& context, const TensorView& input,
                                         const TensorView& weight, const TensorView* bias,
                                         const TensorView& out) const = 0;
};

class Provider {
 public:
  virtual ~Provider() = default;
  virtual bool supports(ir::DType dtype) const = 0;
  virtual std::unique_ptr<const Matmul> matmul(const MatmulTraits& traits) const = 0;
  virtual std::unique_ptr<const Convolution> convolution(const ConvolutionTraits& traits) const = 0;
  // The threads that it works with, for launches to use as well: two pools would fight over the processors.
  // Null when it has none to share.
  virtual std::shared_ptr<Threads> threads() const = 0;
};

}  // namespace jumar::runtime::native
