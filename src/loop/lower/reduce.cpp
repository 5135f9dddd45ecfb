// Folds along dimensions.
#include "loop/lower/kernels.h"
#include "loop/lower/rows.h"

namespace jumar::loop::lowering {

namespace {

// What the fold operators have in common: the operand, which dimensions are folded, whether they stay as 1.
struct Plan {
  Tensor x;
  std::vector<bool> folded;
  bool keep = false;
  DType acc = DType::kF32;
};

Plan plan(const Op& op, std::optional<size_t> dims, std::optional<size_t> keep, DType acc) {
  Plan p;
  p.x = op.tensor(0);
  p.folded = dims ? op.dim_mask(*dims, p.x.rank()) : std::vector<bool>(p.x.rank(), true);
  p.keep = keep && op.flag(*keep);
  p.acc = acc;
  return p;
}

using Map = std::function<Val(Val)>;

// out = finish(fold of map(x)).
void fold(Op& op, const Plan& p, ReduceKind kind, const Tensor& out, const Map& map, const Map& finish) {
  Fold f;
  f.sizes = p.x.sizes();
  f.folded = p.folded;
  f.fold = [&](Body& b, const Index& index) {
    return std::vector<Val>{b.reduce(kind, map(b.to(b.load(p.x, index), p.acc)))};
  };
  f.finish = [&](Body& b, const Index& index, const std::vector<Val>& folds) {
    b.store(out, without(index, p.folded, p.keep), finish(folds[0]));
  };
  fold_kernel(op, f);
}

Val same(Val v) { return v; }

// Of sums that were told an element type: elements are converted to it before they are summed.
Map converted(Op& op) {
  const DType type = op.result_type(0).dtype;
  if (!ir::is_low_precision(type) || op.tensor(0).dtype() == type) return same;
  return [type](Val v) { return v.body->to(v.body->to(v, type), v.type); };
}

DType result_acc(const Op& op) { return compute_type(op.result_type(0).dtype); }

Refusal sum(Op& op, std::optional<size_t> dims, std::optional<size_t> keep) {
  if (ir::is_bool(result_acc(op))) return "a sum of bools";
  fold(op, plan(op, dims, keep, result_acc(op)), ReduceKind::kSum, op.result(0), converted(op), same);
  return {};
}

Refusal mean(Op& op, std::optional<size_t> dims, std::optional<size_t> keep) {
  Plan p = plan(op, dims, keep, result_acc(op));
  if (!ir::is_float(p.acc)) return "a mean of integers";
  Expr count = fold_count(op.low().cx(), p.x.sizes(), p.folded);
  fold(op, p, ReduceKind::kSum, op.result(0), converted(op),
       [&](Val total) { return total / real_of(*total.body, count, p.acc); });
  return {};
}

}  // namespace

Refusal lower_sum(Op& op) { return sum(op, std::nullopt, std::nullopt); }
Refusal lower_sum_dims(Op& op) { return sum(op, 1, 2); }

// Arguments: self, dim or none, keepdim, dtype. NaN counts as 0.
Refusal lower_nansum(Op& op) {
  Plan p = plan(op, 1, 2, result_acc(op));
  bool has_nan = ir::is_float(p.x.dtype());
  if (ir::is_bool(p.acc) || ir::is_float(p.acc) != has_nan) return "a sum in another kind of number";
  const Map plain = [](Val v) { return select(isnan(v), 0.0, v); };
  fold(op, p, ReduceKind::kSum, op.result(0), has_nan ? plain : same, same);
  return {};
}

Refusal lower_mean(Op& op) { return mean(op, std::nullopt, std::nullopt); }
Refusal lower_mean_dims(Op& op) { return mean(op, 1, 2); }

// The sum along the diagonal of a matrix; eager sums floats in double.
Refusal lower_trace(Op& op) {
  Tensor x = op.tensor(0), out = op.result(0);
  sym::Context& cx = op.low().cx();
  bool is_low = ir::is_low_precision(out.dtype());
  DType acc = ir::is_float(out.dtype()) && !is_low ? op.low().widest_float() : result_acc(op);
  Fold f;
  f.sizes = {cx.min(x.size(0), x.size(1))};
  f.folded = {true};
  f.fold = [&](Body& b, const Index& index) {
    return std::vector<Val>{b.reduce(ReduceKind::kSum, b.to(b.load(x, {index[0], index[0]}), acc))};
  };
  f.finish = [&](Body& b, const Index&, const std::vector<Val>& folds) { b.store(out, {}, folds[0]); };
  fold_kernel(op, f);
  return {};
}

// Arguments: self, dim or none.
Refusal lower_count_nonzero(Op& op) {
  Plan p = plan(op, std::nullopt, std::nullopt, DType::kBool);
  if (op.has(1)) p.folded = op.dim_mask(1, p.x.rank());
  fold(
      op, p, ReduceKind::kSum, op.result(0), [](Val v) { return v.body->to(v, DType::kI64); }, same);
  return {};
}

namespace {

Refusal prod(Op& op, std::optional<size_t> dims, std::optional<size_t> keep) {
  if (ir::is_bool(result_acc(op))) return "a product of bools";
  fold(op, plan(op, dims, keep, result_acc(op)), ReduceKind::kProd, op.result(0), converted(op), same);
  return {};
}

// The greatest or least; bools are compared as numbers.
Refusal extreme(Op& op, ReduceKind kind, std::optional<size_t> dims, std::optional<size_t> keep) {
  DType acc = result_acc(op);
  if (ir::is_bool(acc)) acc = DType::kU8;
  fold(op, plan(op, dims, keep, acc), kind, op.result(0), same, same);
  return {};
}

// Whether any or all elements are true.
Refusal truth(Op& op, ReduceKind kind, std::optional<size_t> dims, std::optional<size_t> keep) {
  if (dims && op.has(*dims) && op.integers(*dims).empty()) return "no dimension is named";
  fold(op, plan(op, dims, keep, DType::kBool), kind, op.result(0), same, same);
  return {};
}

}  // namespace

Refusal lower_prod(Op& op) { return prod(op, std::nullopt, std::nullopt); }
Refusal lower_prod_dim(Op& op) { return prod(op, 1, 2); }
Refusal lower_amax(Op& op) { return extreme(op, ReduceKind::kMax, 1, 2); }
Refusal lower_amin(Op& op) { return extreme(op, ReduceKind::kMin, 1, 2); }
Refusal lower_max_all(Op& op) { return extreme(op, ReduceKind::kMax, std::nullopt, std::nullopt); }
Refusal lower_min_all(Op& op) { return extreme(op, ReduceKind::kMin, std::nullopt, std::nullopt); }
Refusal lower_any(Op& op) { return truth(op, ReduceKind::kAny, std::nullopt, std::nullopt); }
Refusal lower_any_dim(Op& op) { return truth(op, ReduceKind::kAny, 1, 2); }
Refusal lower_all(Op& op) { return truth(op, ReduceKind::kAll, std::nullopt, std::nullopt); }
Refusal lower_all_dim(Op& op) { return truth(op, ReduceKind::kAll, 1, 2); }

namespace {

// Where the extreme is: along one dimension, or in row-major order of all. `values` also gets the extreme.
void arg_fold(Op& op, ReduceKind kind, const Plan& p, const Tensor* values, const Tensor& where) {
  bool is_max = kind == ReduceKind::kMax;
  Fold f;
  f.sizes = p.x.sizes();
  f.folded = p.folded;
  f.fold = [&](Body& b, const Index& index) {
    sym::Context& cx = b.cx();
    Expr at = cx.constant(0);
    for (size_t k = 0; k < index.size(); ++k) {
      if (p.folded[k]) at = cx.add(cx.mul(at, p.x.size(k)), index[k]);
    }
    Val value = b.to(b.load(p.x, index), p.acc);
    Val found = b.arg_reduce(is_max ? ReduceKind::kArgMax : ReduceKind::kArgMin, value, b.index(at));
    if (!values) return std::vector<Val>{found};
    return std::vector<Val>{found, b.reduce(kind, value)};
  };
  f.finish = [&](Body& b, const Index& index, const std::vector<Val>& folds) {
    Index to = without(index, p.folded, p.keep);
    if (values) b.store(*values, to, folds[1]);
    b.store(where, to, folds[0]);
  };
  fold_kernel(op, f);
}

DType arg_acc(const Op& op) {
  DType acc = compute_type(op.tensor(0).dtype());
  return ir::is_bool(acc) ? DType::kU8 : acc;
}

// Arguments: self, dim or none, keepdim.
Refusal arg_extreme(Op& op, ReduceKind kind) {
  Plan p = plan(op, std::nullopt, 2, arg_acc(op));
  if (op.has(1)) {
    std::fill(p.folded.begin(), p.folded.end(), false);
    size_t dim = op.dim(1, p.x.rank());
    if (p.x.rank() > 0) p.folded[dim] = true;
  }
  arg_fold(op, kind, p, nullptr, op.result(0));
  return {};
}

// Arguments: self, dim, keepdim; results: the extreme and where it is.
Refusal extreme_with_place(Op& op, ReduceKind kind) {
  Plan p = plan(op, 1, 2, arg_acc(op));
  Tensor values = op.result(0);
  Tensor where = op.result_or_temp(1, DType::kI64, values.sizes());
  arg_fold(op, kind, p, &values, where);
  return {};
}

}  // namespace

Refusal lower_argmax(Op& op) { return arg_extreme(op, ReduceKind::kMax); }
Refusal lower_argmin(Op& op) { return arg_extreme(op, ReduceKind::kMin); }
Refusal lower_max_dim(Op& op) { return extreme_with_place(op, ReduceKind::kMax); }
Refusal lower_min_dim(Op& op) { return extreme_with_place(op, ReduceKind::kMin); }

// Arguments: self, dim or none, keepdim; results: least and greatest.
Refusal lower_aminmax(Op& op) {
  Plan p = plan(op, std::nullopt, 2, arg_acc(op));
  if (op.has(1)) p.folded = op.dim_mask(1, p.x.rank());
  fold(op, p, ReduceKind::kMin, op.result(0), same, same);
  if (op.has_result(1)) fold(op, p, ReduceKind::kMax, op.result(1), same, same);
  return {};
}

// The sum is taken of exponentials that the greatest element scales, unless that is infinite.
Refusal lower_logsumexp(Op& op) {
  Plan p = plan(op, 1, 2, result_acc(op));
  if (!ir::is_float(p.acc)) return "no float";
  Tensor out = op.result(0);
  Tensor top = op.temp("max", p.acc, kept_sizes(op.low().cx(), p.x.sizes(), p.folded));
  Plan kept = p;
  kept.keep = true;
  fold(op, kept, ReduceKind::kMax, top, same, same);
  auto finite_top = [&](Body& b, const Index& index) {
    Val value = b.load(top, index);
    return select(isinf(value), 0.0, value);
  };
  Fold f;
  f.sizes = p.x.sizes();
  f.folded = p.folded;
  f.fold = [&](Body& b, const Index& index) {
    Val value = b.to(b.load(p.x, index), p.acc);
    return std::vector<Val>{b.reduce(ReduceKind::kSum, exp(value - finite_top(b, index)))};
  };
  f.finish = [&](Body& b, const Index& index, const std::vector<Val>& folds) {
    b.store(out, without(index, p.folded, p.keep), log(folds[0]) + finite_top(b, index));
  };
  fold_kernel(op, f);
  return {};
}

namespace {

// Results in schema order: the variance or its root, then the mean where it is asked for.
// Arguments: self, dim, correction, keepdim.
Refusal variance(Op& op, bool is_deviation, bool with_mean) {
  Plan p = plan(op, std::nullopt, 3, result_acc(op));
  p.folded = op.dim_mask(1, p.x.rank());
  if (!ir::is_float(p.acc)) return "no float";
  sym::Context& cx = op.low().cx();
  Expr count = fold_count(cx, p.x.sizes(), p.folded);
  Tensor mean = op.temp("mean", p.acc, kept_sizes(cx, p.x.sizes(), p.folded));
  Plan kept = p;
  kept.keep = true;
  fold(op, kept, ReduceKind::kSum, mean, same,
       [&](Val total) { return total / real_of(*total.body, count, p.acc); });
  Scalar correction = op.has(2) ? op.scalar(2) : Scalar{cx.constant(1)};
  Tensor out = op.result(0);
  Fold f;
  f.sizes = p.x.sizes();
  f.folded = p.folded;
  f.fold = [&](Body& b, const Index& index) {
    Val off = b.to(b.load(p.x, index), p.acc) - b.load(mean, index);
    return std::vector<Val>{b.reduce(ReduceKind::kSum, off * off)};
  };
  f.finish = [&](Body& b, const Index& index, const std::vector<Val>& folds) {
    Val freedom = max(real_of(b, count, p.acc) - b.scalar(correction, p.acc), 0.0);
    Val value = folds[0] / freedom;
    Index to = without(index, p.folded, p.keep);
    b.store(out, to, is_deviation ? sqrt(value) : value);
    if (with_mean && op.has_result(1)) b.store(op.result(1), to, b.load(mean, index));
  };
  fold_kernel(op, f);
  return {};
}

}  // namespace

Refusal lower_var(Op& op) { return variance(op, false, false); }
Refusal lower_std(Op& op) { return variance(op, true, false); }
Refusal lower_var_mean(Op& op) { return variance(op, false, true); }
Refusal lower_std_mean(Op& op) { return variance(op, true, true); }

}  // namespace jumar::loop::lowering
