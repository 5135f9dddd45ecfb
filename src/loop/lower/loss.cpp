// Losses: a term per element, then no fold, the mean or the sum; and their gradients.
#include "loop/lower/kernels.h"
#include "loop/lower/rows.h"

namespace jumar::loop::lowering {

namespace {

enum class Reduction : int64_t { kNone = 0, kMean = 1, kSum = 2 };

std::optional<Reduction> reduction_of(const Op& op, size_t k) {
  auto value = op.constant(k);
  if (!value || *value < 0 || *value > 2) return std::nullopt;
  return static_cast<Reduction>(*value);
}

// The loss of terms in the space of `sizes`.
Refusal reduced(Op& op, const Sizes& sizes, size_t reduction_arg, const PointFunction& term) {
  auto reduction = reduction_of(op, reduction_arg);
  DType acc = compute_type(op.result_type(0).dtype);
  if (!reduction || !ir::is_float(acc)) return "an unknown reduction, or no float";
  Tensor out = op.result(0);
  if (*reduction == Reduction::kNone) {
    pointwise(op, out, term);
    return {};
  }
  std::vector<bool> all(sizes.size(), true);
  Fold f;
  f.sizes = sizes;
  f.folded = all;
  f.fold = [&](Body& b, const Index& index) {
    return std::vector<Val>{b.reduce(ReduceKind::kSum, term(b, index))};
  };
  f.finish = [&](Body& b, const Index&, const std::vector<Val>& folds) {
    Val total = folds[0];
    if (*reduction == Reduction::kMean) total = total / real_of(b, fold_count(b.cx(), sizes, all), acc);
    b.store(out, {}, total);
  };
  fold_kernel(op, f);
  return {};
}

// A loss of (input, target) and its gradient, of which the term is given the pair.
using PairTerm = std::function<Val(Body& b, Val x, Val target)>;
Refusal pair_loss(Op& op, size_t reduction_arg, const PairTerm& term) {
  Tensor x = op.tensor(0), target = op.tensor(1);
  DType acc = compute_type(op.result_type(0).dtype);
  return reduced(op, common_sizes(x, target), reduction_arg, [&](Body& b, const Index& index) {
    return term(b, read(b, x, index, acc), read(b, target, index, acc));
  });
}

// Arguments: grad, input, target, ...
Refusal pair_gradient(Op& op, size_t reduction_arg, const PairTerm& slope) {
  Tensor grad = op.tensor(0), x = op.tensor(1), target = op.tensor(2), out = op.result(0);
  auto reduction = reduction_of(op, reduction_arg);
  DType acc = compute_type(out.dtype());
  if (!reduction || !ir::is_float(acc)) return "an unknown reduction, or no float";
  Expr count = ir::element_count(op.low().cx(), x.sizes());
  pointwise(op, out, [&](Body& b, const Index& index) {
    Val value = slope(b, read(b, x, index, acc), read(b, target, index, acc));
    if (*reduction == Reduction::kMean) value = value / real_of(b, count, acc);
    return value * read(b, grad, index, acc);
  });
  return {};
}

}  // namespace

// Arguments: self, target, reduction.
Refusal lower_mse_loss(Op& op) {
  return pair_loss(op, 2, [](Body&, Val x, Val target) { return (x - target) * (x - target); });
}

Refusal lower_mse_loss_backward(Op& op) {
  return pair_gradient(op, 3, [](Body&, Val x, Val target) { return (x - target) * 2.0; });
}

// Arguments: self, target, reduction, beta.
Refusal lower_smooth_l1_loss(Op& op) {
  double beta = op.number(3);
  return pair_loss(op, 2, [=](Body&, Val x, Val target) {
    Val off = abs(x - target);
    if (beta == 0) return off;
    return select(off < beta, off * 0.5 * off / beta, off - 0.5 * beta);
  });
}

Refusal lower_smooth_l1_loss_backward(Op& op) {
  double beta = op.number(4);
  return pair_gradient(op, 3, [=](Body&, Val x, Val target) {
    Val off = x - target;
    Val inside = beta == 0 ? sign(off) : off / beta;
    return select(off <= -beta, -1.0, select(off >= beta, 1.0, inside));
  });
}

namespace {

// exp(-target*x), which overflows where eager's does: each of its steps is rounded to the tensor's type.
Val margin_power(Body& b, Val x, Val target, DType type) {
  auto rounded = [&](Val value) { return b.to(b.to(value, type), value.type); };
  return rounded(exp(rounded(-target * x)));
}

}  // namespace

// Arguments: self, target, reduction. The target is 1 or -1.
Refusal lower_soft_margin_loss(Op& op) {
  DType type = op.result_type(0).dtype;
  return pair_loss(op, 2,
                   [=](Body& b, Val x, Val target) { return log1p(margin_power(b, x, target, type)); });
}

Refusal lower_soft_margin_loss_backward(Op& op) {
  DType type = op.result_type(0).dtype;
  return pair_gradient(op, 3, [=](Body& b, Val x, Val target) {
    Val z = margin_power(b, x, target, type);
    return -target * z / (z + 1.0);
  });
}

// Arguments: self, target, reduction, delta.
Refusal lower_huber_loss(Op& op) {
  double delta = op.number(3);
  return pair_loss(op, 2, [=](Body&, Val x, Val target) {
    Val off = abs(x - target);
    return select(off < delta, off * 0.5 * off, (off - 0.5 * delta) * delta);
  });
}

Refusal lower_huber_loss_backward(Op& op) {
  double delta = op.number(4);
  return pair_gradient(op, 3, [=](Body&, Val x, Val target) {
    Val off = x - target;
    return select(off <= -delta, -delta, select(off >= delta, delta, off));
  });
}

// Arguments: self, target, weight, reduction. Logarithms stop at -100, as in eager.
Refusal lower_bce(Op& op) {
  Tensor x = op.tensor(0), target = op.tensor(1);
  DType acc = compute_type(op.result_type(0).dtype);
  return reduced(op, x.sizes(), 3, [&](Body& b, const Index& index) {
    Val p = read(b, x, index, acc), t = read(b, target, index, acc);
    Val loss = (t - 1.0) * max(log1p(-p), -100.0) - t * max(log(p), -100.0);
    return op.has(2) ? loss * read(b, op.tensor(2), index, acc) : loss;
  });
}

// Arguments: grad, self, target, weight, reduction.
Refusal lower_bce_backward(Op& op) {
  Tensor grad = op.tensor(0), x = op.tensor(1), target = op.tensor(2), out = op.result(0);
  auto reduction = reduction_of(op, 4);
  DType acc = compute_type(out.dtype());
  if (!reduction || !ir::is_float(acc)) return "an unknown reduction, or no float";
  Expr count = ir::element_count(op.low().cx(), x.sizes());
  pointwise(op, out, [&](Body& b, const Index& index) {
    Val p = read(b, x, index, acc), t = read(b, target, index, acc);
    Val value = read(b, grad, index, acc) * (p - t) / max((1.0 - p) * p, 1e-12);
    if (op.has(3)) value = value * read(b, op.tensor(3), index, acc);
    if (*reduction == Reduction::kMean) value = value / real_of(b, count, acc);
    return value;
  });
  return {};
}

// Arguments: self, target, weight, pos_weight, reduction.
Refusal lower_bce_with_logits(Op& op) {
  Tensor x = op.tensor(0), target = op.tensor(1);
  DType acc = compute_type(op.result_type(0).dtype);
  return reduced(op, common_sizes(x, target), 4, [&](Body& b, const Index& index) {
    Val at = read(b, x, index, acc), t = read(b, target, index, acc);
    Val log_share = min(at, 0.0) - log1p(exp(-abs(at)));
    Val loss = (1.0 - t) * at;
    if (op.has(3)) {
      Val weight = (read(b, op.tensor(3), index, acc) - 1.0) * t + 1.0;
      loss = loss - weight * log_share;
    } else {
      loss = loss - log_share;
    }
    return op.has(2) ? loss * read(b, op.tensor(2), index, acc) : loss;
  });
}

namespace {

// Negative log likelihood of x[N, C, ...] or x[C] at the classes that target[N, ...] or target[] names.
struct Likelihood {
  Tensor x, target;
  size_t class_dim = 0;
  std::optional<Tensor> weight;
  Expr ignored;
  DType acc = DType::kF32;
};

// Arguments from `first` on: self, target, weight, reduction, ignore_index.
Likelihood likelihood_of(const Op& op, size_t first) {
  Likelihood l;
  l.x = op.tensor(first);
  l.target = op.tensor(first + 1);
  l.class_dim = l.x.rank() == 1 ? 0 : 1;
  if (op.has(first + 2)) l.weight = op.tensor(first + 2);
  l.ignored = op.integer(first + 4);
  l.acc = compute_type(l.x.dtype());
  return l;
}

struct Term {
  Val loss, weight;
};

// The loss and the weight at one target; both 0 where it is ignored.
Term likelihood_term(Body& b, const Likelihood& l, const Index& index) {
  Val target = b.to(b.load(l.target, index), DType::kI64);
  Val is_ignored = equal(target, b.index(l.ignored));
  Expr where = b.checked(select(is_ignored, 0.0, target), l.x.size(l.class_dim));
  Index from = index;
  from.insert(from.begin() + static_cast<int64_t>(l.class_dim), where);
  Val weight = l.weight ? b.to(b.load(*l.weight, {where}), l.acc) : b.real(l.acc, 1);
  weight = select(is_ignored, 0.0, weight);
  Val x = b.to(b.load(l.x, from), l.acc);
  // An ignored element counts for nothing, whatever stands there.
  return {select(is_ignored, 0.0, -(x * weight)), weight};
}

}  // namespace

// Results: the loss and the sum of the weights.
Refusal lower_nll_loss(Op& op) {
  Likelihood l = likelihood_of(op, 0);
  auto reduction = reduction_of(op, 3);
  if (!reduction || !ir::is_float(l.acc)) return "an unknown reduction, or no float";
  Tensor out = op.result(0);
  Tensor total = op.result_or_temp(1, l.acc, {});
  if (*reduction == Reduction::kNone) {
    pointwise(op, out, [&](Body& b, const Index& index) { return likelihood_term(b, l, index).loss; });
    pointwise(op, total, [&](Body& b, const Index&) { return b.real(l.acc, 0); });
    return {};
  }
  Fold f;
  f.sizes = l.target.sizes();
  f.folded.assign(l.target.rank(), true);
  f.fold = [&](Body& b, const Index& index) {
    Term term = likelihood_term(b, l, index);
    return std::vector<Val>{b.reduce(ReduceKind::kSum, term.loss), b.reduce(ReduceKind::kSum, term.weight)};
  };
  f.finish = [&](Body& b, const Index&, const std::vector<Val>& folds) {
    b.store(out, {}, *reduction == Reduction::kMean ? folds[0] / folds[1] : folds[0]);
    b.store(total, {}, folds[1]);
  };
  fold_kernel(op, f);
  return {};
}

// Arguments: grad, self, target, weight, reduction, ignore_index, total_weight.
Refusal lower_nll_loss_backward(Op& op) {
  Likelihood l = likelihood_of(op, 1);
  auto reduction = reduction_of(op, 4);
  if (!reduction || !ir::is_float(l.acc)) return "an unknown reduction, or no float";
  Tensor grad = op.tensor(0), total = op.tensor(6);
  pointwise(op, op.result(0), [&](Body& b, const Index& index) {
    Index at = index;
    at.erase(at.begin() + static_cast<int64_t>(l.class_dim));
    Val target = b.to(b.load(l.target, at), DType::kI64);
    Val own = b.index(index[l.class_dim]), ignored = b.index(l.ignored);
    Val is_hit = equal(target, own) & unequal(target, ignored);
    Val value = -b.to(b.load(grad, *reduction == Reduction::kNone ? at : Index{}), l.acc);
    if (l.weight) value = value * b.to(b.load(*l.weight, {index[l.class_dim]}), l.acc);
    if (*reduction == Reduction::kMean) value = value / b.to(b.load(total, {}), l.acc);
    return select(is_hit, value, 0.0);
  });
  return {};
}

}  // namespace jumar::loop::lowering
