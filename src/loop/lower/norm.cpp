#include "loop/lower/norm.h"

#include <limits>

#include "loop/lower/rows.h"

namespace jumar::loop::lowering {

NormSpace::NormSpace(const Lowering& low, NormKind kind, const Tensor& x)
    : cx_(&low.cx()), kind_(kind), sizes_(x.sizes()), acc_(compute_type(x.dtype())) {}

void NormSpace::finish() { count_ = fold_count(*cx_, sizes_, folded_); }

NormSpace NormSpace::layer(const Lowering& low, const Tensor& x, size_t dims) {
  NormSpace space(low, NormKind::kLayer, x);
  for (size_t k = 0; k < x.rank(); ++k) {
    space.folded_.push_back(k + dims >= x.rank());
    space.weight_folded_.push_back(!space.folded_.back());
  }
  space.finish();
  return space;
}

NormSpace NormSpace::batch(const Lowering& low, const Tensor& x) {
  NormSpace space(low, NormKind::kBatch, x);
  for (size_t k = 0; k < x.rank(); ++k) space.folded_.push_back(k != 1);
  space.weight_folded_ = space.folded_;
  space.finish();
  return space;
}

NormSpace NormSpace::group(const Lowering& low, const Tensor& x, Expr groups) {
  NormSpace space(low, NormKind::kGroup, x);
  sym::Context& cx = low.cx();
  Expr per_group = sym::simplified(cx, cx.floordiv(x.size(1), groups), low.facts());
  space.sizes_[1] = groups;
  space.sizes_.insert(space.sizes_.begin() + 2, per_group);
  for (size_t k = 0; k < space.sizes_.size(); ++k) {
    space.folded_.push_back(k >= 2);
    space.weight_folded_.push_back(k == 0 || k >= 3);
  }
  space.finish();
  return space;
}

Tensor NormSpace::elements(const Tensor& tensor) const {
  if (kind_ != NormKind::kGroup) return tensor;
  Tensor out = tensor;
  out.type.sizes = sizes_;
  out.type.strides[1] = cx_->mul(tensor.stride(1), sizes_[2]);
  out.type.strides.insert(out.type.strides.begin() + 2, tensor.stride(1));
  return out;
}

Tensor NormSpace::weights(const Tensor& tensor) const {
  Tensor out = tensor;
  out.type.sizes = weight_sizes();
  out.type.strides.assign(sizes_.size(), cx_->constant(0));
  if (kind_ == NormKind::kLayer) {
    size_t first = sizes_.size() - tensor.rank();
    for (size_t k = 0; k < tensor.rank(); ++k) out.type.strides[first + k] = tensor.stride(k);
  } else if (kind_ == NormKind::kBatch) {
    out.type.strides[1] = tensor.stride(0);
  } else {
    out.type.strides[1] = cx_->mul(tensor.stride(0), sizes_[2]);
    out.type.strides[2] = tensor.stride(0);
  }
  return out;
}

Tensor NormSpace::stats(const Tensor& tensor) const {
  if (kind_ == NormKind::kLayer) return tensor;
  Tensor out = tensor;
  out.type.sizes = stat_sizes();
  out.type.strides.assign(sizes_.size(), cx_->constant(0));
  if (kind_ == NormKind::kBatch) {
    out.type.strides[1] = tensor.stride(0);
  } else if (tensor.rank() == 1) {
    // One number per group of the whole batch, row-major.
    out.type.strides[0] = sizes_[1];
    out.type.strides[1] = cx_->constant(1);
  } else {
    out.type.strides[0] = tensor.stride(0);
    out.type.strides[1] = tensor.stride(1);
  }
  return out;
}

Val at(Body& b, const NormSpace& space, const Tensor& tensor, const Index& index) {
  return b.to(b.load(tensor, index), space.acc());
}

void fold_sums(Op& op, const NormSpace& space, const std::vector<bool>& folded, const FoldValues& values,
               const std::vector<Tensor>& outs, const FoldFinish& finish) {
  Fold f;
  f.sizes = space.sizes();
  f.folded = folded;
  f.fold = [&](Body& b, const Index& index) {
    std::vector<Val> sums;
    for (Val value : values(b, index)) sums.push_back(b.reduce(ReduceKind::kSum, value));
    return sums;
  };
  f.finish = [&](Body& b, const Index& index, const std::vector<Val>& sums) {
    std::vector<Val> results = finish ? finish(b, index, sums) : sums;
    for (size_t k = 0; k < outs.size(); ++k) b.store(outs[k], index, results.at(k));
  };
  fold_kernel(op, f);
}

Tensor stat_memory(Op& op, const NormSpace& space, size_t result, std::string_view name) {
  if (op.has_result(result) && op.result_type(result).dtype == space.acc()) {
    return space.stats(op.result(result));
  }
  return op.temp(name, space.acc(), space.stat_sizes());
}

void finish_stat(Op& op, const NormSpace& space, size_t result, const Tensor& stat) {
  if (!op.has_result(result)) return;
  Tensor out = space.stats(op.result(result));
  if (out.buffer == stat.buffer) return;
  pointwise(op, out, [&](Body& b, const Index& index) { return b.load(stat, index); });
}

std::optional<Tensor> weights_of(const Op& op, const NormSpace& space, size_t arg) {
  if (!op.has(arg)) return std::nullopt;
  return space.weights(op.tensor(arg));
}

namespace {

// Kernels for the mean, then for 1/sqrt(variance + eps); `variance` gets the biased variance too.
void moments(Op& op, const NormSpace& space, const Tensor& x, double eps, const Tensor& mean,
             const Tensor& rstd, const Tensor* variance = nullptr) {
  DType acc = space.acc();
  fold_sums(
      op, space, space.folded(),
      [&](Body& b, const Index& index) { return std::vector<Val>{at(b, space, x, index)}; }, {mean},
      [&](Body& b, const Index&, const std::vector<Val>& sums) {
        return std::vector<Val>{sums[0] / real_of(b, space.count(), acc)};
      });
  std::vector<Tensor> outs{rstd};
  if (variance) outs.push_back(*variance);
  fold_sums(
      op, space, space.folded(),
      [&](Body& b, const Index& index) {
        Val off = at(b, space, x, index) - at(b, space, mean, index);
        return std::vector<Val>{off * off};
      },
      outs,
      [&](Body& b, const Index&, const std::vector<Val>& sums) {
        Val var = sums[0] / real_of(b, space.count(), acc);
        return std::vector<Val>{rsqrt(var + eps), var};
      });
}

// out = (x - mean)*rstd*weight + bias.
void normalize(Op& op, const NormSpace& space, const Tensor& x, const Tensor& mean, const Tensor& rstd,
               const std::optional<Tensor>& weight, const std::optional<Tensor>& bias) {
  pointwise(op, space.elements(op.result(0)), [&](Body& b, const Index& index) {
    Val value = (at(b, space, x, index) - at(b, space, mean, index)) * at(b, space, rstd, index);
    if (weight) value = value * at(b, space, *weight, index);
    if (bias) value = value + at(b, space, *bias, index);
    return value;
  });
}

Refusal forward(Op& op, const NormSpace& space, size_t weight, size_t bias, double eps) {
  if (!ir::is_float(space.acc())) return "no float";
  Tensor x = space.elements(op.tensor(0));
  Tensor mean = stat_memory(op, space, 1, "mean"), rstd = stat_memory(op, space, 2, "rstd");
  moments(op, space, x, eps, mean, rstd);
  normalize(op, space, x, mean, rstd, weights_of(op, space, weight), weights_of(op, space, bias));
  finish_stat(op, space, 1, mean);
  finish_stat(op, space, 2, rstd);
  return {};
}

}  // namespace

// Arguments: input, normalized_shape, weight, bias, eps.
Refusal lower_layer_norm(Op& op) {
  NormSpace space = NormSpace::layer(op.low(), op.tensor(0), op.integers(1).size());
  return forward(op, space, 2, 3, op.number(4));
}

// Arguments: input, weight, bias, N, C, HxW, group, eps.
Refusal lower_group_norm(Op& op) {
  NormSpace space = NormSpace::group(op.low(), op.tensor(0), op.integer(6));
  return forward(op, space, 1, 2, op.number(7));
}

// Arguments: input, normalized_shape, weight, eps; results: output, rstd.
Refusal lower_rms_norm(Op& op) {
  NormSpace space = NormSpace::layer(op.low(), op.tensor(0), op.integers(1).size());
  if (!ir::is_float(space.acc())) return "no float";
  Tensor x = op.tensor(0);
  if (!op.has(3) && ir::is_low_precision(x.dtype())) return "an epsilon that depends on a narrow type";
  double eps = op.has(3)                    ? op.number(3)
               : space.acc() == DType::kF64 ? std::numeric_limits<double>::epsilon()
                                            : std::numeric_limits<float>::epsilon();
  Tensor rstd = stat_memory(op, space, 1, "rstd");
  fold_sums(
      op, space, space.folded(),
      [&](Body& b, const Index& index) {
        Val value = at(b, space, x, index);
        return std::vector<Val>{value * value};
      },
      {rstd},
      [&](Body& b, const Index&, const std::vector<Val>& sums) {
        return std::vector<Val>{rsqrt(sums[0] / real_of(b, space.count(), space.acc()) + eps)};
      });
  auto weight = weights_of(op, space, 2);
  pointwise(op, op.result(0), [&](Body& b, const Index& index) {
    Val value = at(b, space, x, index) * at(b, space, rstd, index);
    return weight ? value * at(b, space, *weight, index) : value;
  });
  finish_stat(op, space, 1, rstd);
  return {};
}

namespace {

// Which arguments and results of a batch norm are which.
struct BatchArgs {
  size_t running_mean = 3, running_var = 4;
  size_t momentum = 5, eps = 6;
  std::optional<size_t> new_mean, new_var;  // results
};

// A result without elements, or that nobody reads.
void fill_zero(Op& op, size_t k) {
  if (!op.has_result(k)) return;
  Tensor out = op.result(k);
  pointwise(op, out, [&](Body& b, const Index&) { return b.real(out.dtype(), 0); });
}

void copy_arg(Op& op, std::optional<size_t> result, size_t arg) {
  if (!result || !op.has_result(*result)) return;
  Tensor from = op.tensor(arg);
  pointwise(op, op.result(*result), [&](Body& b, const Index& index) { return b.load(from, index); });
}

// With the running moments: x*alpha + beta, with alpha and beta computed once per channel.
Refusal batch_evaluated(Op& op, const BatchArgs& args) {
  Tensor x = op.tensor(0);
  NormSpace space = NormSpace::batch(op.low(), x);
  if (!ir::is_float(space.acc()) || x.rank() < 2) return "no float, or no channels";
  auto weight = weights_of(op, space, 1), bias = weights_of(op, space, 2);
  Tensor mean = space.weights(op.tensor(args.running_mean));
  Tensor variance = space.weights(op.tensor(args.running_var));
  double eps = op.number(args.eps);
  Tensor alpha = op.temp("alpha", space.acc(), space.weight_sizes());
  Tensor beta = op.temp("beta", space.acc(), space.weight_sizes());
  op.low().kernel(op, [&](Body& b) {
    Index index = b.keep_all(alpha.sizes());
    b.begin_stage();
    Val scale = rsqrt(at(b, space, variance, index) + eps);
    if (weight) scale = scale * at(b, space, *weight, index);
    b.store(alpha, index, scale);
    Val shift = -(at(b, space, mean, index) * scale);
    if (bias) shift = shift + at(b, space, *bias, index);
    b.store(beta, index, shift);
  });
  pointwise(op, op.result(0), [&](Body& b, const Index& index) {
    return at(b, space, x, index) * b.load(alpha, index) + b.load(beta, index);
  });
  fill_zero(op, 1);
  fill_zero(op, 2);
  copy_arg(op, args.new_mean, args.running_mean);
  copy_arg(op, args.new_var, args.running_var);
  return {};
}

// Moves a running moment towards the batch's.
void move_running(Op& op, const NormSpace& space, std::optional<size_t> result, size_t arg, double momentum,
                  const PointFunction& moment) {
  if (!result || !op.has_result(*result)) return;
  Tensor old = space.weights(op.tensor(arg));
  pointwise(op, space.weights(op.result(*result)), [&](Body& b, const Index& index) {
    return at(b, space, old, index) * (1.0 - momentum) + moment(b, index) * momentum;
  });
}

Refusal batch_trained(Op& op, const BatchArgs& args) {
  Tensor x = op.tensor(0);
  NormSpace space = NormSpace::batch(op.low(), x);
  if (!ir::is_float(space.acc()) || x.rank() < 2) return "no float, or no channels";
  Tensor mean = stat_memory(op, space, 1, "mean"), rstd = stat_memory(op, space, 2, "rstd");
  Tensor variance = op.temp("var", space.acc(), space.stat_sizes());
  moments(op, space, x, op.number(args.eps), mean, rstd, &variance);
  normalize(op, space, x, mean, rstd, weights_of(op, space, 1), weights_of(op, space, 2));
  double momentum = op.number(args.momentum);
  move_running(op, space, args.new_mean, args.running_mean, momentum,
               [&](Body& b, const Index& index) { return b.load(mean, index); });
  move_running(op, space, args.new_var, args.running_var, momentum, [&](Body& b, const Index& index) {
    Val count = real_of(b, space.count(), space.acc());
    return b.load(variance, index) * count / (count - 1.0);
  });
  finish_stat(op, space, 1, mean);
  finish_stat(op, space, 2, rstd);
  return {};
}

}  // namespace

// Arguments: input, weight, bias, running_mean, running_var, momentum, eps.
Refusal lower_batch_norm_evaluated(Op& op) { return batch_evaluated(op, {}); }

// Arguments: input, weight, bias, running_mean, running_var, training, momentum, eps.
Refusal lower_batch_norm(Op& op) {
  if (op.flag(5)) return "the running moments are written in place";
  return batch_evaluated(op, {3, 4, 6, 7, std::nullopt, std::nullopt});
}

// Arguments: input, weight, bias, training, momentum, eps. There is nothing but the batch to take moments of.
Refusal lower_batch_norm_no_stats(Op& op) {
  if (!op.flag(3)) return "no moments to normalize with";
  return batch_trained(op, {0, 0, 4, 5, std::nullopt, std::nullopt});
}

Refusal lower_batch_norm_functional(Op& op) {
  BatchArgs args{3, 4, 6, 7, 3, 4};
  return op.flag(5) ? batch_trained(op, args) : batch_evaluated(op, args);
}

// As the functional one, always training, with bytes of its own kept for the backward.
Refusal lower_batch_norm_with_update(Op& op) {
  if (Refusal r = batch_trained(op, {3, 4, 5, 6, 4, 5})) return r;
  fill_zero(op, 3);
  return {};
}

}  // namespace jumar::loop::lowering
