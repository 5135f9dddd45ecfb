// Gradients of the normalizations. With xhat = (x - mean)*rstd and g = grad*weight:
//   input:  rstd*(g - (sum(g) + xhat*sum(g*xhat))/count), sums over what was normalized together
//   weight: sum(grad*xhat), bias: sum(grad), over what shares a weight
#include "loop/lower/norm.h"
#include "loop/lower/rows.h"

namespace jumar::loop::lowering {

namespace {

struct Backward {
  Tensor grad, x;
  std::optional<Tensor> mean, rstd, weight;  // without a mean: x was not shifted
};

Val normalized(Body& b, const NormSpace& space, const Backward& in, const Index& index) {
  Val value = at(b, space, in.x, index);
  if (in.mean) value = value - at(b, space, *in.mean, index);
  return value * at(b, space, *in.rstd, index);
}

Val scaled_grad(Body& b, const NormSpace& space, const Backward& in, const Index& index) {
  Val grad = at(b, space, in.grad, index);
  return in.weight ? grad * at(b, space, *in.weight, index) : grad;
}

void input_gradient(Op& op, const NormSpace& space, const Backward& in) {
  if (!op.has_result(0)) return;
  Tensor along = op.temp("along", space.acc(), space.stat_sizes());
  Tensor total = op.temp("total", space.acc(), space.stat_sizes());
  std::vector<Tensor> outs{along};
  if (in.mean) outs.push_back(total);
  fold_sums(
      op, space, space.folded(),
      [&](Body& b, const Index& index) {
        Val g = scaled_grad(b, space, in, index);
        std::vector<Val> values{g * normalized(b, space, in, index)};
        if (in.mean) values.push_back(g);
        return values;
      },
      outs);
  pointwise(op, space.elements(op.result(0)), [&](Body& b, const Index& index) {
    Val g = scaled_grad(b, space, in, index);
    Val pull = normalized(b, space, in, index) * b.load(along, index);
    if (in.mean) pull = pull + b.load(total, index);
    return (g - pull / real_of(b, space.count(), space.acc())) * at(b, space, *in.rstd, index);
  });
}

void weight_gradients(Op& op, const NormSpace& space, const Backward& in) {
  bool with_weight = op.has_result(1), with_bias = op.has_result(2);
  if (!with_weight && !with_bias) return;
  std::vector<Tensor> outs;
  if (with_weight) outs.push_back(space.weights(op.result(1)));
  if (with_bias) outs.push_back(space.weights(op.result(2)));
  fold_sums(
      op, space, space.weight_folded(),
      [&](Body& b, const Index& index) {
        Val grad = at(b, space, in.grad, index);
        std::vector<Val> values;
        if (with_weight) values.push_back(grad * normalized(b, space, in, index));
        if (with_bias) values.push_back(grad);
        return values;
      },
      outs);
}

Refusal backward(Op& op, const NormSpace& space, const Backward& in) {
  if (!ir::is_float(space.acc())) return "no float";
  input_gradient(op, space, in);
  weight_gradients(op, space, in);
  return {};
}

}  // namespace

// Arguments: grad_out, input, normalized_shape, mean, rstd, weight, bias, output_mask.
Refusal lower_layer_norm_backward(Op& op) {
  NormSpace space = NormSpace::layer(op.low(), op.tensor(1), op.integers(2).size());
  Backward in{op.tensor(0), op.tensor(1), op.tensor(3), op.tensor(4), weights_of(op, space, 5)};
  return backward(op, space, in);
}

// Arguments: grad_out, input, mean, rstd, weight, N, C, HxW, group, output_mask.
Refusal lower_group_norm_backward(Op& op) {
  NormSpace space = NormSpace::group(op.low(), op.tensor(1), op.integer(8));
  Backward in{space.elements(op.tensor(0)), space.elements(op.tensor(1)), space.stats(op.tensor(2)),
              space.stats(op.tensor(3)), weights_of(op, space, 4)};
  return backward(op, space, in);
}

// Arguments: grad_out, input, normalized_shape, rstd, weight, output_mask.
Refusal lower_rms_norm_backward(Op& op) {
  NormSpace space = NormSpace::layer(op.low(), op.tensor(1), op.integers(2).size());
  Backward in{op.tensor(0), op.tensor(1), std::nullopt, op.tensor(3), weights_of(op, space, 4)};
  return backward(op, space, in);
}

namespace {

// With the running moments the normalization is a product by constants.
Refusal batch_backward_evaluated(Op& op, const NormSpace& space, Backward in, size_t running_mean,
                                 size_t running_var, double eps) {
  in.mean = space.weights(op.tensor(running_mean));
  Tensor variance = space.weights(op.tensor(running_var));
  Tensor rstd = op.temp("rstd", space.acc(), space.stat_sizes());
  pointwise(op, rstd,
            [&](Body& b, const Index& index) { return rsqrt(at(b, space, variance, index) + eps); });
  in.rstd = rstd;
  if (op.has_result(0)) {
    pointwise(op, op.result(0), [&](Body& b, const Index& index) {
      return scaled_grad(b, space, in, index) * b.load(rstd, index);
    });
  }
  weight_gradients(op, space, in);
  return {};
}

// The sums of the weights' gradients are those that the input's gradient needs.
Refusal batch_backward_trained(Op& op, const NormSpace& space, const Backward& in) {
  Tensor along = op.temp("along", space.acc(), space.stat_sizes());
  Tensor total = op.temp("total", space.acc(), space.stat_sizes());
  fold_sums(op, space, space.folded(),
            [&](Body& b, const Index& index) {
              Val grad = at(b, space, in.grad, index);
              return std::vector<Val>{grad * normalized(b, space, in, index), grad};
            },
            {along, total});
  for (size_t k : {1, 2}) {
    if (!op.has_result(k)) continue;
    const Tensor& sum = k == 1 ? along : total;
    pointwise(op, space.weights(op.result(k)),
              [&](Body& b, const Index& index) { return b.load(sum, index); });
  }
  if (!op.has_result(0)) return {};
  pointwise(op, op.result(0), [&](Body& b, const Index& index) {
    Val pull = normalized(b, space, in, index) * b.load(along, index) + b.load(total, index);
    Val grad = at(b, space, in.grad, index) - pull / real_of(b, space.count(), space.acc());
    Val scale = at(b, space, *in.rstd, index);
    if (in.weight) scale = scale * at(b, space, *in.weight, index);
    return grad * scale;
  });
  return {};
}

}  // namespace

// Arguments: grad_out, input, weight, running_mean, running_var, save_mean, save_invstd, train, eps, mask.
Refusal lower_batch_norm_backward(Op& op) {
  Tensor x = op.tensor(1);
  NormSpace space = NormSpace::batch(op.low(), x);
  if (!ir::is_float(space.acc()) || x.rank() < 2) return "no float, or no channels";
  Backward in{op.tensor(0), x, std::nullopt, std::nullopt, weights_of(op, space, 2)};
  if (!op.flag(7)) {
    if (!op.has(3) || !op.has(4)) return "there are no running moments";
    return batch_backward_evaluated(op, space, in, 3, 4, op.number(8));
  }
  if (!op.has(5) || !op.has(6)) return "the forward kept no moments";
  in.mean = space.stats(op.tensor(5));
  in.rstd = space.stats(op.tensor(6));
  return batch_backward_trained(op, space, in);
}

}  // namespace jumar::loop::lowering
