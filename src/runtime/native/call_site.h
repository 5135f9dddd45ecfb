// One called operator of a plan, made by a provider instead of libtorch.
//
//   JUMAR_ASSIGN(CallSite site, CallSite::prepare(*provider, plan, call, false));
//   std::optional<std::string> error = site.call(context, operands, result);
//
// Which operators there are is a table (ops.def). Whether a call can be made is decided from the plan alone:
// the operator, its element types and ranks, and its arguments, which must be constants but for tensors.
// Sizes are compared when the call is made, so that a plan that lies about them gets an error.
#pragma once

#include <span>

#include "plan/plan.h"
#include "runtime/native/provider.h"

namespace jumar::runtime::native {

// Why a plan can't run without libtorch: one row for each call that the table does not cover, in step order.
struct Obstacle {
  uint32_t step = 0;
  std::string op;  // "aten.topk.default", "python 3"
  std::string reason;
};
std::vector<Obstacle> obstacles(const plan::Plan& plan);
// The same with what a provider does not do on this processor.
std::vector<Obstacle> obstacles(const plan::Plan& plan, const Provider& provider);

// A call as the problem that a provider solves. Operands are numbered in the order of the call's tensors.
struct MatmulCall {
  MatmulTraits traits;
  uint32_t a = 0;
  uint32_t b = 0;
  std::optional<uint32_t> addend;
  // A vector is a matrix of one row as a, of one column as b; the result lacks that dimension.
  bool a_is_vector = false;
  bool b_is_vector = false;
};
struct ConvolutionCall {
  ConvolutionTraits traits;
  uint32_t input = 0;
  uint32_t weight = 0;
  std::optional<uint32_t> bias;
};
using NativeCall = std::variant<MatmulCall, ConvolutionCall>;

// An "unsupported" diagnostic says why the table does not cover the call.
Result<NativeCall> native_call(const plan::Plan& plan, const plan::CallStep& step);

class CallSite {
 public:
  // `frozen`: elements of parameters change only with CallContext::generation.
  static Result<CallSite> prepare(const Provider& provider, const plan::Plan& plan,
                                  const plan::CallStep& step, bool frozen);

  // Nothing, or what failed.
  std::optional<std::string> call(const CallContext& context, std::span<const TensorView> operands,
                                  const TensorView& result) const;

 private:
  explicit CallSite(NativeCall call) : call_(std::move(call)) {}
  std::optional<std::string> call_matmul(const CallContext& context, const MatmulCall& call,
                                         std::span<const TensorView> operands,
                                         const TensorView& result) const;
  std::optional<std::string> call_convolution(const CallContext& context, const ConvolutionCall& call,
                                              std::span<const TensorView> operands,
                                              const TensorView& result) const;

  NativeCall call_;
  std::unique_ptr<const Matmul> matmul_;  // of a MatmulCall
  std::unique_ptr<const Convolution> convolution_;
};

}  // namespace jumar::runtime::native
