// One called operator of a plan, prepared once and called with the values of each run.
//
//   std::optional<std::string> reason = call_refusal({"aten.topk.default", schema, args...});
//   Result<CallSite> site = CallSite::prepare(*api, "aten.topk.default", schema, args, options);
//   CallResults results;
//   if (!site->call(values, targets, results)) ...        // libtorch has printed why on stderr
//
// A call goes through libtorch's dispatcher, which takes every schema type but Scalar, or through the
// operator's own C function (shims.h). Tensor arguments are borrowed: the call makes the references that
// libtorch consumes. When a call fails nothing says which references were consumed, so at worst one handle
// per tensor is lost.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plan/plan.h"
#include "runtime/torch/c_api.h"
#include "runtime/torch/schema_type.h"
#include "runtime/torch/shims.h"
#include "runtime/torch/site_arg.h"

namespace jumar::runtime::torch {

// What decides whether an operator can be called; needs no libtorch.
struct CallQuery {
  std::string_view op;
  const plan::Schema& schema;
  std::vector<bool> none_args;    // per schema argument: the call passes None
  bool floating_operands = true;  // every tensor argument is of a floating or complex type
};

// Nothing, or the reason why libtorch's C functions can't make the call.
std::optional<std::string> call_refusal(const CallQuery& query);

struct CallResults {
  std::vector<Tensor> tensors;  // in order, lists flattened; empty where the operator returned none
  std::vector<int64_t> ints;    // int and bool results
};

class CallSite {
 public:
  // `into`: the results are written to given tensors where the operator has a form that does so (writes()).
  static Result<CallSite> prepare(const Api& api, const std::string& op, const plan::Schema& schema,
                                  std::vector<SiteArg> args, bool floating_operands, bool into);

  // Whether call() writes its results into `targets`; otherwise they are made and returned.
  bool writes() const { return writes_; }
  uint32_t target_count() const { return target_count_; }

  // False when libtorch reports a failure.
  bool call(const CallValues& values, std::span<const Handle> targets, CallResults& results) const;

 private:
  CallSite() = default;
  bool call_shim(const CallValues& values, std::span<const Handle> targets, CallResults& results) const;
  bool call_dispatcher(const CallValues& values, std::span<const Handle> targets, CallResults& results) const;
  bool take_results(uint64_t* stack, CallResults& results) const;
  uint64_t marshalled(const SchemaType& type, const SiteArg& arg, const CallValues& values) const;
  uint64_t marshalled_one(const SchemaType& type, const SiteArg& arg, const CallValues& values) const;

  const Api* api_ = nullptr;
  std::string op_;        // aten::topk
  std::string overload_;  // ""
  std::vector<SiteArg> args_;
  std::vector<SchemaType> types_;
  std::vector<SchemaType> returns_;
  const Shim* shim_ = nullptr;
  void* shim_function_ = nullptr;
  bool writes_ = false;
  uint32_t target_count_ = 0;
};

}  // namespace jumar::runtime::torch
