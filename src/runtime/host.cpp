#include <algorithm>

#include "runtime/run.h"

namespace jumar::runtime {

// A call that the embedder makes: a Python step, an operator that libtorch's C functions can't take, or
// (`repeats`) one that just failed.
bool Run::call_host(const CallCode& call, bool repeats) {
  if (!host_)
    return fail(RunError::Kind::kOpFailed,
                fmt::format("{} needs the embedder, which gave no functions for it", call.name), call.step);
  frame_.temporaries.clear();
  std::vector<HostArg> args(call.args->size());
  for (size_t k = 0; k < args.size(); ++k)
    if (!host_arg((*call.args)[k], repeats, args[k])) return false;
  HostResults results;
  bool ok = call.callable ? host_->call_python(*call.callable, args, results)
                          : host_->call_op_at(call.step, call.name, *call.schema, args, results);
  frame_.temporaries.clear();
  if (ok) return take_host_results(call, results);
  for (HostTensor& result : results.tensors) owned(result.host);
  return fail(RunError::Kind::kPythonRaised, fmt::format("{} raised", call.name), call.step);
}

bool Run::host_arg(const plan::Arg& arg, bool repeats, HostArg& out) {
  using Kind = HostArg::Kind;
  if (const plan::TensorId* id = arg.as<plan::TensorId>()) return host_tensor(id->index(), repeats, out);
  if (const sym::Expr* e = arg.as<sym::Expr>()) {
    out.kind = Kind::kInt;
    out.integer = frame_.values[code_.program.known_slot(*e)];
  } else if (const plan::NumberId* id = arg.as<plan::NumberId>()) {
    bool is_float = code_.plan.numbers[*id].kind == plan::NumberKind::kFloat;
    out.kind = is_float ? Kind::kFloat : Kind::kBool;
    out.number = frame_.numbers[id->index()];
    out.integer = !is_float && out.number != 0;
  } else if (const double* value = arg.as<double>()) {
    out.kind = Kind::kFloat;
    out.number = *value;
  } else if (const bool* value = arg.as<bool>()) {
    out.kind = Kind::kBool;
    out.integer = *value;
  } else if (const std::string* text = arg.as<std::string>()) {
    out.kind = Kind::kString;
    out.text = *text;
  } else if (const plan::WordArg* word = arg.as<plan::WordArg>()) {
    out.kind = Kind::kWord;
    out.word = word->kind;
    out.text = word->word;
  } else if (const plan::ArgList* items = arg.as<plan::ArgList>()) {
    out.kind = Kind::kList;
    out.items.resize(items->size());
    for (size_t k = 0; k < items->size(); ++k)
      if (!host_arg((*items)[k], repeats, out.items[k])) return false;
  }
  return true;
}

bool Run::host_tensor(uint32_t tensor, bool repeats, HostArg& out) {
  const TensorCode& t = code_.tensors[tensor];
  const TensorCode& root = code_.tensors[t.root];
  out.kind = HostArg::Kind::kTensor;
  out.tensor = view_of(tensor);
  if (t.base == kNoIndex)
    out.host = root.place == Place::kInput ? inputs_[root.input].host : frame_.tensors[t.root].host.object;
  if (out.host || !torch_) return true;
  out.handle = handle_of(tensor);
  // A reference that the embedder keeps must stay valid, so what is only lent is copied. A call that is made
  // by the embedder always has no operand in the arena; one that is repeated may, or one that borrows an
  // input.
  if (out.handle && (repeats || is_lent(tensor))) {
    CHECK(repeats || root.place != Place::kArena, "%{} lies in the arena", name_of(tensor));
    torch::Handle copy = nullptr;
    if (torch_->aoti_torch_clone_preserve_strides(out.handle, &copy) != 0) copy = nullptr;
    frame_.temporaries.emplace_back(*torch_, copy);
    out.handle = copy;
  }
  if (out.handle) return true;
  return fail(RunError::Kind::kMemory, fmt::format("no memory for %{}", name_of(tensor)));
}

bool Run::take_host_results(const CallCode& call, HostResults& results) {
  bool ok = results.tensors.size() == call.results.size() || call.results.empty();
  if (!ok)
    result_error(call.step,
                 fmt::format("it returned {} tensors, not {}", results.tensors.size(), call.results.size()));
  for (size_t k = 0; k < results.tensors.size(); ++k) {
    HostTensor& result = results.tensors[k];
    HostReference host = owned(result.host);
    if (ok && k < call.results.size() && call.results[k] != kNoIndex)
      ok = take_host_tensor(call, call.results[k], std::move(result.tensor), std::move(host), result.view);
  }
  return ok && take_ints(call, results.ints);
}

bool Run::take_host_tensor(const CallCode& call, uint32_t tensor, torch::Tensor handle, HostReference host,
                           TensorView view) {
  if (!handle && !host.object)
    return result_error(call.step, fmt::format("%{} is no tensor", name_of(tensor)));
  std::vector<int64_t> strides;
  if (!view.strides) {
    strides = contiguous_strides(view);
    view.strides = strides.data();
  }
  if (!call.into) {
    TensorState& state = frame_.tensors[tensor];
    if (!handle) {
      state.host = std::move(host);
      state.host_view = view;
      state.host_strides = std::move(strides);
    }
    state.handle = std::move(handle);
    return true;
  }
  const TensorCode& t = code_.tensors[tensor];
  bool same = (!handle || handle_layout(handle.get(), view)) && view.dtype == t.dtype &&
              view.rank == static_cast<int32_t>(t.rank) &&
              std::equal(view.sizes, view.sizes + view.rank, sizes(tensor));
  if (!same)
    return result_error(call.step, fmt::format("%{} is {}, the embedder returned {}", name_of(tensor),
                                               type_text(view_of(tensor)), type_text(view)));
  copy_elements(view, view_of(tensor));
  return true;
}

}  // namespace jumar::runtime
