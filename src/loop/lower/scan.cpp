// Running folds along a dimension.
#include "loop/lower/kernels.h"
#include "loop/lower/rows.h"

namespace jumar::loop::lowering {

namespace {

// A kernel that scans along a dimension: what `value` gives for each element goes to `out`.
void scan_kernel(Op& op, ScanKind kind, size_t dim, const Tensor& out, const PointFunction& value) {
  op.low().kernel(op, [&](Body& b) {
    Index index;
    for (size_t k = 0; k < out.rank(); ++k)
      index.push_back(k == dim ? b.cx().constant(0) : b.keep(out.size(k)));
    b.begin_stage();
    if (out.rank() > 0) index[dim] = b.inner(out.size(dim));
    Val step = value(b, index);
    bool is_point = out.rank() == 0 || !index[dim].is_symbol();
    b.store(out, index, is_point ? step : b.scan(kind, step, index[dim]));
  });
}

// Eager's accumulators: double for float, float for what is below, 64 bits for integers.
Refusal running(Op& op, ScanKind kind) {
  Tensor x = op.tensor(0), out = op.result(0);
  DType acc = ir::is_low_precision(out.dtype()) ? DType::kF32
              : ir::is_float(out.dtype())       ? op.low().widest_float()
                                                : DType::kI64;
  if (ir::is_bool(out.dtype())) return "a sum of bools";
  scan_kernel(op, kind, op.dim(1, x.rank()), out,
              [&](Body& b, const Index& index) { return b.to(b.to(b.load(x, index), out.dtype()), acc); });
  return {};
}

}  // namespace

Refusal lower_cumsum(Op& op) { return running(op, ScanKind::kSum); }
Refusal lower_cumprod(Op& op) { return running(op, ScanKind::kProd); }

namespace {

// Arguments: self, dim; results: the extreme so far and where it is. Of equal elements the last one counts,
// and once there was a NaN, only another one does: an element counts where it is what the running extreme has
// become.
Refusal running_extreme(Op& op, ScanKind kind) {
  Tensor x = op.tensor(0);
  size_t dim = op.dim(1, x.rank());
  DType acc = ir::is_bool(x.dtype()) ? DType::kU8 : compute_type(x.dtype());
  Tensor extreme = op.result_or_temp(0, x.dtype(), x.sizes());
  scan_kernel(op, kind, dim, extreme,
              [&](Body& b, const Index& index) { return b.to(b.load(x, index), acc); });
  if (!op.has_result(1)) return {};
  scan_kernel(op, ScanKind::kMax, dim, op.result(1), [&](Body& b, const Index& index) {
    Val value = b.to(b.load(x, index), acc);
    Val counts = equal(value, b.to(b.load(extreme, index), acc));
    if (ir::is_float(acc)) counts = counts | isnan(value);
    Val place = b.index(x.rank() > 0 ? index[dim] : b.cx().constant(0));
    return select(counts, place, b.integer(DType::kI64, 0));
  });
  return {};
}

}  // namespace

Refusal lower_cummax(Op& op) { return running_extreme(op, ScanKind::kMax); }
Refusal lower_cummin(Op& op) { return running_extreme(op, ScanKind::kMin); }

}  // namespace jumar::loop::lowering
