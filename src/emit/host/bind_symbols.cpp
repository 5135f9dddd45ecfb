#include "emit/host/bind_symbols.h"

#include <algorithm>
#include <unordered_set>

namespace jumar::emit::host {
namespace {

using Source = plan::BindStep::Source;

class Binder {
 public:
  explicit Binder(plan::Plan& plan) : plan_(plan) {
    for (const plan::IntInput& input : plan.int_inputs) {
      if (input.expr.is_symbol()) bound_.insert(input.expr);
    }
  }

  // One round over all places that a symbol can come from, from the simplest; true when one was bound.
  bool bind_once(const std::vector<plan::TensorId>& tensors) {
    for (const bool alone : {true, false}) {
      for (const Source source : {Source::kSize, Source::kStride}) {
        for (const plan::TensorId id : tensors) {
          if (bind_from(id, source, alone)) return true;
        }
      }
    }
    return false;
  }

  void assume_bound(sym::Expr symbol) { bound_.insert(symbol); }
  bool is_bound(sym::Expr symbol) const { return bound_.contains(symbol); }

 private:
  // The only unbound symbol of `e`, when `e` can be solved for it.
  sym::Expr solvable(sym::Expr e) const {
    sym::Expr unknown;
    for (const sym::Expr symbol : sym::symbols_of(e)) {
      if (bound_.contains(symbol)) continue;
      if (unknown) return {};
      unknown = symbol;
    }
    if (!unknown || !sym::linear_in(plan_.cx(), e, unknown)) return {};
    return unknown;
  }

  bool bind_from(plan::TensorId id, Source source, bool alone) {
    const ir::TensorType& type = plan_.tensors[id].type;
    const std::vector<sym::Expr>& numbers = source == Source::kSize ? type.sizes : type.strides;
    for (size_t dim = 0; dim < numbers.size(); ++dim) {
      if (alone && !numbers[dim].is_symbol()) continue;
      const sym::Expr symbol = solvable(numbers[dim]);
      if (!symbol) continue;
      bound_.insert(symbol);
      plan_.steps.push_back({plan::BindStep{source, numbers[dim], id, static_cast<uint32_t>(dim)}, ""});
      return true;
    }
    return false;
  }

  plan::Plan& plan_;
  std::unordered_set<sym::Expr> bound_;
};

}  // namespace

void bind_inputs(plan::Plan& plan) {
  std::vector<plan::TensorId> inputs;
  for (size_t k = 0; k < plan.tensors.size(); ++k) {
    const plan::TensorId id = plan.tensors.id_at(k);
    const plan::Storage storage = plan.tensors[id].storage;
    if (storage == plan::Storage::kInput || storage == plan::Storage::kParameter) inputs.push_back(id);
  }
  Binder binder(plan);
  while (binder.bind_once(inputs)) {
  }
}

void bind_results(plan::Plan& plan, const std::vector<plan::TensorId>& results,
                  const std::vector<sym::Expr>& symbols) {
  if (symbols.empty()) return;
  std::vector<plan::TensorId> tensors;
  for (const plan::TensorId id : results) {
    if (id) tensors.push_back(id);
  }
  Binder binder(plan);
  for (const plan::SymbolInfo& info : plan.symbols) {
    if (std::find(symbols.begin(), symbols.end(), info.symbol) == symbols.end())
      binder.assume_bound(info.symbol);
  }
  while (binder.bind_once(tensors)) {
  }
  for (const sym::Expr symbol : symbols) {
    CHECK(binder.is_bound(symbol), "{} is defined by a call, but no result has it as a size",
          sym::text(symbol));
  }
}

}  // namespace jumar::emit::host
