#include "plan/entry.h"

#include <unordered_set>

namespace jumar::plan {
namespace {

using sym::Expr;

EntryBinding::Source entry_source(BindStep::Source source) {
  switch (source) {
    case BindStep::Source::kSize:
      return EntryBinding::Source::kSize;
    case BindStep::Source::kStride:
      return EntryBinding::Source::kStride;
    case BindStep::Source::kCubeCores:
      return EntryBinding::Source::kCubeCores;
    case BindStep::Source::kVectorCores:
      return EntryBinding::Source::kVectorCores;
    default:
      CHECK(false, "such a bind step is none of the entry");
  }
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
    row.source = entry_source(bind->source);
    row.tensor = bind->tensor;
    if (!bind->of_cores()) row.input = plan.tensors[bind->tensor].index;
    row.dim = bind->dim;
    row.expr = bind->symbol;
    rows.push_back(row);
  }
  return rows;
}

// Whether at most one symbol of the row is unknown; that one is solved for and gets bound.
Result<bool> solve(const Plan& plan, EntryBinding& row, std::unordered_set<Expr>& bound, bool symbolic) {
  Expr unknown;
  for (Expr symbol : sym::symbols_of(row.expr)) {
    if (bound.contains(symbol)) continue;
    if (unknown) return false;
    unknown = symbol;
  }
  if (!unknown) return true;
  std::optional<sym::Linear> linear = sym::linear_in(plan.cx(), row.expr, unknown);
  if (!linear)
    return diagnostic("verify", "{} = {} cannot be solved for {}", sym::text(row.expr), place_text(plan, row),
                      sym::text(unknown));
  if (!symbolic && !linear->coefficient.is_const()) return false;
  row.symbol = unknown;
  row.coefficient = linear->coefficient;
  row.rest = linear->rest;
  bound.insert(unknown);
  return true;
}

}  // namespace

std::string place_text(const Plan& plan, const EntryBinding& binding) {
  switch (binding.source) {
    case EntryBinding::Source::kInt:
      return fmt::format("input {}", binding.input);
    case EntryBinding::Source::kSize:
      return fmt::format("size(%{}, {})", plan.tensors[binding.tensor].name, binding.dim);
    case EntryBinding::Source::kStride:
      return fmt::format("stride(%{}, {})", plan.tensors[binding.tensor].name, binding.dim);
    case EntryBinding::Source::kCubeCores:
      return "cores(cube)";
    case EntryBinding::Source::kVectorCores:
      return "cores(vector)";
  }
  return {};
}

bool is_entry_bind(const Plan& plan, const BindStep& bind) {
  if (bind.of_cores()) return true;
  if ((bind.source != BindStep::Source::kSize && bind.source != BindStep::Source::kStride) || !bind.tensor ||
      bind.tensor.index() >= plan.tensors.size())
    return false;
  Storage storage = plan.tensors[bind.tensor].storage;
  return storage == Storage::kInput || storage == Storage::kParameter;
}

Result<std::vector<EntryBinding>> entry_bindings(const Plan& plan) {
  std::vector<EntryBinding> waiting = candidates(plan);
  for (const EntryBinding& row : waiting)
    if (!row.expr) return diagnostic("verify", "{} has an empty expression", place_text(plan, row));
  std::vector<EntryBinding> rows;
  std::unordered_set<Expr> bound;
  // A row may need a symbol that a later one binds, so passes over what is left repeat. A coefficient that is
  // itself a symbol may be 0 in a call, so such rows are solved only when nothing else makes progress.
  bool symbolic = false;
  while (!waiting.empty()) {
    std::vector<EntryBinding> rest;
    bool progress = false;
    for (EntryBinding& row : waiting) {
      JUMAR_ASSIGN(bool solved, solve(plan, row, bound, symbolic && !progress));
      progress = progress || solved;
      (solved ? rows : rest).push_back(row);
    }
    if (!progress && symbolic)
      return diagnostic("verify", "{} = {} has several unbound symbols", sym::text(rest[0].expr),
                        place_text(plan, rest[0]));
    symbolic = !progress;
    waiting = std::move(rest);
  }
  return rows;
}

}  // namespace jumar::plan
