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

#include <functional>
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

// How an operator is called: through its own C function, or through the dispatcher.
struct CallForm {
  std::string op;        // aten::topk
  std::string overload;  // ""
  std::vector<SiteArg> args;
  std::vector<SchemaType> types;
  std::vector<SchemaType> returns;
  const Shim* shim = nullptr;  // null: the dispatcher
  bool writes = false;         // the results are written into given tensors
  uint32_t target_count = 0;
};

// The form of a call where libtorch has the C functions for which `has_function` says so. `into`: the results
// are written to given tensors where the operator has a form that does so.
Result<CallForm> call_form(const std::string& op, const plan::Schema& schema, std::vector<SiteArg> args,
                           bool floating_operands, bool into,
                           const std::function<bool(const char* symbol)>& has_function);

class CallSite {
 public:
  // Without libtorch the site is as with one that has every function of shims.def; it can't be called.
  static Result<CallSite> prepare(const Api* api, const std::string& op, const plan::Schema& schema,
                                  std::vector<SiteArg> args, bool floating_operands, bool into);

  const CallForm& form() const { return form_; }
  // Whether call() writes its results into `targets`; otherwise they are made and returned.
  bool writes() const { return form_.writes; }
  uint32_t target_count() const { return form_.target_count; }

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
  CallForm form_;
  void* shim_function_ = nullptr;
};

}  // namespace jumar::runtime::torch
