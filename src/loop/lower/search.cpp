// Looking for values among those of another tensor.
#include "loop/lower/kernels.h"
#include "loop/lower/rows.h"

namespace jumar::loop::lowering {

namespace {

// Eager sorts where there are more; the work here is that of comparing each with each.
constexpr int64_t kMostTests = 256;

}  // namespace

// Arguments: elements, test_elements, assume_unique, invert.
Refusal lower_isin(Op& op) {
  Tensor x = op.tensor(0), tests = op.tensor(1), out = op.result(0);
  auto count = ir::element_count(op.low().cx(), tests.sizes()).as_const();
  if (!count || *count > kMostTests) return "many elements to look among: a sort";
  Promotion promotion;
  promotion.add(x);
  promotion.add(tests);
  std::optional<DType> common = promotion.type();
  if (!common) return "there are no rules for these element types";
  bool inverts = op.flag(3);
  Fold f;
  f.sizes = x.sizes();
  f.sizes.insert(f.sizes.end(), tests.sizes().begin(), tests.sizes().end());
  f.folded.assign(x.rank(), false);
  f.folded.resize(f.sizes.size(), true);
  const auto split = [&](const Index& index) { return index.begin() + static_cast<int64_t>(x.rank()); };
  f.fold = [&](Body& b, const Index& index) {
    auto compared = [&](const Tensor& t, Index at) {
      return b.to(b.to(b.load(t, at), *common), compute_type(*common));
    };
    Val value = compared(x, Index(index.begin(), split(index)));
    Val test = compared(tests, Index(split(index), index.end()));
    return std::vector<Val>{b.reduce(ReduceKind::kAny, equal(value, test))};
  };
  f.finish = [&](Body& b, const Index& index, const std::vector<Val>& folds) {
    b.store(out, Index(index.begin(), split(index)), inverts ? inverted(folds[0]) : folds[0]);
  };
  fold_kernel(op, f);
  return {};
}

namespace {

// A binary search in the last dimension of `sorted`, of a length that is known, so that the number of steps
// is. It takes eager's steps, so that the answer is eager's among elements that are not in order, too.
struct Search {
  Tensor sorted;
  std::optional<Tensor> order;  // where the elements lie in order
  int64_t length;
  bool after_equals;  // the place behind equal elements
};

Val place_of(Body& b, const Search& search, const Index& row, Val value) {
  Val start = b.integer(DType::kI64, 0), end = b.integer(DType::kI64, search.length);
  Val one = b.integer(DType::kI64, 1), last = b.integer(DType::kI64, search.length - 1);
  Expr size = b.cx().constant(search.length);
  for (int64_t left = search.length; left > 0; left /= 2) {
    Val middle = shr(start + end, one);
    Index at = row;
    at.push_back(b.checked(min(middle, last), size));
    if (search.order) at.back() = b.checked(b.load(*search.order, at), size);
    Val found = b.to(b.load(search.sorted, at), value.type);
    Val is_behind = inverted(search.after_equals ? found > value : found >= value);
    Val is_open = start < end;
    Val moved_start = select(is_open & is_behind, middle + one, start);
    end = select(is_open & inverted(is_behind), middle, end);
    start = moved_start;
  }
  return start;
}

Refusal searched(Op& op, const Tensor& values, const Search& search) {
  if (values.dtype() != search.sorted.dtype()) return "elements of another type";
  Tensor out = op.result(0);
  bool is_row = search.sorted.rank() == 1;
  DType type = compute_type(values.dtype());
  pointwise(op, out, [&](Body& b, const Index& index) {
    if (search.length == 0) return b.integer(out.dtype(), 0);
    Index row = is_row ? Index{} : Index(index.begin(), index.end() - 1);
    return b.to(place_of(b, search, row, b.to(b.load(values, index), type)), out.dtype());
  });
  return {};
}

std::optional<int64_t> length_of(const Tensor& sorted) {
  return sorted.rank() == 0 ? std::nullopt : sorted.sizes().back().as_const();
}

constexpr const char* kUnknownLength = "a binary search whose number of steps is not known";

}  // namespace

// Arguments: self, boundaries, out_int32, right.
Refusal lower_bucketize(Op& op) {
  auto length = length_of(op.tensor(1));
  if (!length) return kUnknownLength;
  return searched(op, op.tensor(0), {op.tensor(1), std::nullopt, *length, op.flag(3)});
}

// Arguments: sorted_sequence, self, out_int32, right, side or none, sorter or none.
Refusal lower_searchsorted(Op& op) {
  auto length = length_of(op.tensor(0));
  if (!length) return kUnknownLength;
  bool after_equals = op.flag(3) || (op.has(4) && op.text(4) == "right");
  std::optional<Tensor> order = op.has(5) ? std::optional(op.tensor(5)) : std::nullopt;
  return searched(op, op.tensor(1), {op.tensor(0), order, *length, after_equals});
}

}  // namespace jumar::loop::lowering
