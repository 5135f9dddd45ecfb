#include "loop/interp.h"

namespace jumar::loop {
namespace {

using sym::Expr;
using Values = std::unordered_map<Expr, int64_t>;

// A number that a call finds, and the expression that was declared for it.
struct Found {
  Expr expr;
  int64_t value;
  std::string what;
};

// Numbers of one kind of source; ints come first, then sizes, then strides, which are arbitrary where a
// dimension has fewer than two elements.
struct Sources {
  std::vector<Found> ints, sizes, strides;
};

Status collect_tensor(const Buffer& b, const RunArg& input, Sources& sources) {
  const TensorView* view = std::get_if<TensorView>(&input.data);
  if (!view) return diagnostic("input", "input {} (%{}) is no tensor", b.index, b.name);
  if (view->dtype != b.type.dtype || view->sizes.size() != b.type.rank() ||
      view->strides.size() != b.type.rank())
    return diagnostic("input", "input {} (%{}) is a {} of rank {}", b.index, b.name,
                      ir::dtype_name(view->dtype), view->sizes.size());
  bool is_empty = view->element_count() == 0;
  for (size_t k = 0; k < b.type.rank(); ++k) {
    std::string dim = fmt::format("{} of input {} (%{})", k, b.index, b.name);
    sources.sizes.push_back({b.type.sizes[k], view->sizes[k], "size " + dim});
    if (!is_empty && view->sizes[k] > 1)
      sources.strides.push_back({b.type.strides[k], view->strides[k], "stride " + dim});
  }
  return {};
}

Result<Sources> collected(const Program& program, const std::vector<RunArg>& inputs) {
  Sources sources;
  for (const IntInput& input : program.int_inputs) {
    const int64_t* value = std::get_if<int64_t>(&inputs[input.index].data);
    if (!value) return diagnostic("input", "input {} is no integer", input.index);
    sources.ints.push_back({input.expr, *value, fmt::format("input {}", input.index)});
  }
  for (const Buffer& b : program.buffers)
    if (b.storage == Storage::kInput || b.storage == Storage::kParameter)
      JUMAR_RETURN_IF_ERROR(collect_tensor(b, inputs[b.index], sources));
  return sources;
}

Result<int64_t> value_of(Expr e, const Values& values) {
  return sym::evaluate(e, [&](Expr symbol) -> std::optional<int64_t> {
    auto found = values.find(symbol);
    return found == values.end() ? std::nullopt : std::optional(found->second);
  });
}

// Solves one equation with one unknown symbol, in which it is linear.
bool solve(sym::Context& cx, const Found& found, Values& values) {
  Expr unknown;
  for (Expr symbol : sym::symbols_of(found.expr)) {
    if (values.contains(symbol)) continue;
    if (unknown) return false;
    unknown = symbol;
  }
  if (!unknown) return false;
  std::optional<sym::Linear> linear = sym::linear_in(cx, found.expr, unknown);
  if (!linear) return false;
  Result<int64_t> coefficient = value_of(linear->coefficient, values);
  Result<int64_t> rest = value_of(linear->rest, values);
  if (!coefficient.ok() || !rest.ok() || *coefficient == 0) return false;
  values[unknown] = (found.value - *rest) / *coefficient;
  return true;
}

}  // namespace

Result<Values> bound_symbols(const Program& program, const std::vector<RunArg>& inputs) {
  if (inputs.size() != program.input_count)
    return diagnostic("input", "{} inputs are given, the program has {}", inputs.size(), program.input_count);
  JUMAR_ASSIGN(Sources sources, collected(program, inputs));
  std::vector<Found> all = std::move(sources.ints);
  all.insert(all.end(), sources.sizes.begin(), sources.sizes.end());
  all.insert(all.end(), sources.strides.begin(), sources.strides.end());
  Values values;
  for (const Found& found : all)
    if (found.expr.is_symbol()) values.emplace(found.expr, found.value);
  for (bool changed = true; changed;) {
    changed = false;
    for (const Found& found : all) changed |= solve(program.cx(), found, values);
  }
  for (const Found& found : all) {
    JUMAR_ASSIGN(int64_t declared, value_of(found.expr, values));
    if (declared != found.value)
      return diagnostic("input", "{} is {}, it is declared as {} = {}", found.what, found.value,
                        sym::text(found.expr), declared);
  }
  for (const SymbolInfo& info : program.symbols) {
    auto bound = values.find(info.symbol);
    if (bound == values.end()) continue;
    if (bound->second < info.range.lo || bound->second > info.range.hi)
      return diagnostic("input", "{} is {}, which is outside its range", info.symbol.symbol_name(),
                        bound->second);
  }
  return values;
}

}  // namespace jumar::loop
