#include "plan/entry.h"

#include <unordered_set>

namespace jumar::plan {
namespace {

using sym::Expr;

std::string place_text(const Plan& plan, const EntryBinding& row) {
  if (row.source == EntryBinding::Source::kInt) return fmt::format("input {}", row.input);
  return fmt::format("{}(%{}, {})", row.source == EntryBinding::Source::kSize ? "size" : "stride",
                     plan.tensors[row.tensor].name, row.dim);
}

std::vector<EntryBinding> candidates(const Plan& plan) {
  std::vector<EntryBinding> rows;
  for (const IntInput& input : plan.int_inputs) {
    EntryBinding row;
    row.input = input.index;
    row.expr = input.expr;
    rows.push_back(row);
  }
  for (const Step& step : plan.steps) {
    const BindStep* bind = std::get_if<BindStep>(&step.data);
    if (!bind || !is_entry_bind(plan, *bind)) continue;
    EntryBinding row;
    row.source = bind->source == BindStep::Source::kSize ? EntryBinding::Source::kSize
                                                         : EntryBinding::Source::kStride;
    row.tensor = bind->tensor;
    row.input = plan.tensors[bind->tensor].index;
    row.dim = bind->dim;
    row.expr = bind->symbol;
    rows.push_back(row);
  }
  return rows;
}

}  // namespace

bool is_entry_bind(const Plan& plan, const BindStep& bind) {
  if (bind.source == BindStep::Source::kItem || !bind.tensor || bind.tensor.index() >= plan.tensors.size())
    return false;
  Storage storage = plan.tensors[bind.tensor].storage;
  return storage == Storage::kInput || storage == Storage::kParameter;
}

Result<std::vector<EntryBinding>> entry_bindings(const Plan& plan) {
  std::vector<EntryBinding> waiting = candidates(plan);
  std::vector<EntryBinding> rows;
  std::unordered_set<Expr> bound;
  // A row may need a symbol that a later one binds, so passes over what is left repeat until none is.
  while (!waiting.empty()) {
    std::vector<EntryBinding> rest;
    for (EntryBinding& row : waiting) {
      if (!row.expr) return diagnostic("verify", "{} has an empty expression", place_text(plan, row));
      std::vector<Expr> unknown;
      for (Expr symbol : sym::symbols_of(row.expr))
        if (!bound.contains(symbol)) unknown.push_back(symbol);
      if (unknown.size() > 1) {
        rest.push_back(row);
        continue;
      }
      if (unknown.size() == 1) {
        std::optional<sym::Linear> linear = sym::linear_in(plan.cx(), row.expr, unknown[0]);
        if (!linear)
          return diagnostic("verify", "{} = {} cannot be solved for {}", sym::text(row.expr), place_text(plan, row),
                            sym::text(unknown[0]));
        row.symbol = unknown[0];
        row.coefficient = linear->coefficient;
        row.rest = linear->rest;
        bound.insert(row.symbol);
      } else if (row.source != EntryBinding::Source::kInt) {
        return diagnostic("verify", "bind {} = {} binds no symbol", sym::text(row.expr), place_text(plan, row));
      }
      rows.push_back(row);
    }
    if (rest.size() == waiting.size())
      return diagnostic("verify", "{} = {} has several unbound symbols", sym::text(rest[0].expr),
                        place_text(plan, rest[0]));
    waiting = std::move(rest);
  }
  return rows;
}

}  // namespace jumar::plan
