#include "driver/toolchain/hivm_machine.h"

#include <algorithm>

namespace jumar::driver::toolchain {
namespace {

constexpr int kMostDepth = 32;

uint64_t masked(int64_t value, int bits) {
  return bits >= 64 ? static_cast<uint64_t>(value)
                    : static_cast<uint64_t>(value) & ((uint64_t{1} << bits) - 1);
}

// A number of so many bits as the machine holds it: with its sign, and a bit as 0 or 1.
int64_t normal(uint64_t value, int bits) {
  if (bits >= 64) return static_cast<int64_t>(value);
  const uint64_t low = value & ((uint64_t{1} << bits) - 1);
  if (bits == 1) return static_cast<int64_t>(low);
  const uint64_t sign = uint64_t{1} << (bits - 1);
  return static_cast<int64_t>((low ^ sign) - sign);
}

bool compare(int64_t a, int64_t b, HivmPredicate predicate, int bits) {
  const uint64_t ua = masked(a, bits);
  const uint64_t ub = masked(b, bits);
  switch (predicate) {
    case HivmPredicate::kEq:
      return a == b;
    case HivmPredicate::kNe:
      return a != b;
    case HivmPredicate::kSlt:
      return a < b;
    case HivmPredicate::kSle:
      return a <= b;
    case HivmPredicate::kSgt:
      return a > b;
    case HivmPredicate::kSge:
      return a >= b;
    case HivmPredicate::kUlt:
      return ua < ub;
    case HivmPredicate::kUle:
      return ua <= ub;
    case HivmPredicate::kUgt:
      return ua > ub;
    case HivmPredicate::kUge:
      return ua >= ub;
  }
  return false;
}

// Division where the device's result does not matter gives 0.
int64_t quotient(HivmOp op, int64_t a, int64_t b, int bits) {
  if (b == 0 || (a == INT64_MIN && b == -1)) return 0;
  const bool differ = (a < 0) != (b < 0);
  switch (op) {
    case HivmOp::kDivS:
      return a / b;
    case HivmOp::kRemS:
      return a % b;
    case HivmOp::kFloorDiv:
      return a / b - (a % b != 0 && differ ? 1 : 0);
    case HivmOp::kCeilDiv:
      return a / b + (a % b != 0 && !differ ? 1 : 0);
    case HivmOp::kDivU:
      return static_cast<int64_t>(masked(a, bits) / masked(b, bits));
    default:
      return static_cast<int64_t>(masked(a, bits) % masked(b, bits));
  }
}

int64_t shifted(HivmOp op, int64_t a, int64_t b, int bits) {
  if (b < 0 || b >= bits) return op == HivmOp::kShrS && a < 0 ? -1 : 0;
  if (op == HivmOp::kShl) return static_cast<int64_t>(static_cast<uint64_t>(a) << b);
  if (op == HivmOp::kShrS) return a >> b;
  return static_cast<int64_t>(masked(a, bits) >> b);
}

int64_t computed(HivmOp op, int64_t a, int64_t b, int bits) {
  const uint64_t ua = static_cast<uint64_t>(a);
  const uint64_t ub = static_cast<uint64_t>(b);
  switch (op) {
    case HivmOp::kAdd:
      return static_cast<int64_t>(ua + ub);
    case HivmOp::kSub:
      return static_cast<int64_t>(ua - ub);
    case HivmOp::kMul:
      return static_cast<int64_t>(ua * ub);
    case HivmOp::kAnd:
      return a & b;
    case HivmOp::kOr:
      return a | b;
    case HivmOp::kXor:
      return a ^ b;
    case HivmOp::kMinS:
      return std::min(a, b);
    case HivmOp::kMaxS:
      return std::max(a, b);
    case HivmOp::kMinU:
      return masked(a, bits) < masked(b, bits) ? a : b;
    case HivmOp::kMaxU:
      return masked(a, bits) > masked(b, bits) ? a : b;
    case HivmOp::kShl:
    case HivmOp::kShrS:
    case HivmOp::kShrU:
      return shifted(op, a, b, bits);
    default:
      return quotient(op, a, b, bits);
  }
}

// Where a view of several dimensions is seen as one of fewer: the size is the product, the step that of the
// innermost dimension that has any.
void collapse(const HivmView& from, const std::vector<std::vector<int>>& groups, HivmView& into) {
  into.rank = static_cast<uint8_t>(std::min<size_t>(groups.size(), kMostDims));
  for (size_t k = 0; k < into.rank; ++k) {
    int64_t size = 1;
    int64_t stride = 1;
    for (const int dim : groups[k]) {
      if (dim < 0 || dim >= from.rank) continue;
      size *= from.sizes[static_cast<size_t>(dim)];
      if (from.sizes[static_cast<size_t>(dim)] != 1) stride = from.strides[static_cast<size_t>(dim)];
    }
    into.sizes[k] = size;
    into.strides[k] = stride;
  }
}

void expand(const HivmView& from, const std::vector<std::vector<int>>& groups, std::span<const int64_t> sizes,
            HivmView& into) {
  into.rank = static_cast<uint8_t>(std::min<size_t>(sizes.size(), kMostDims));
  for (size_t k = 0; k < groups.size() && k < from.rank; ++k) {
    int64_t stride = from.strides[k];
    for (auto dim = groups[k].rbegin(); dim != groups[k].rend(); ++dim) {
      if (*dim < 0 || *dim >= into.rank) continue;
      into.sizes[static_cast<size_t>(*dim)] = sizes[static_cast<size_t>(*dim)];
      into.strides[static_cast<size_t>(*dim)] = stride;
      stride *= sizes[static_cast<size_t>(*dim)];
    }
  }
}

}  // namespace

int64_t HivmView::elements() const {
  int64_t out = 1;
  for (size_t k = 0; k < rank; ++k) out *= std::max<int64_t>(sizes[k], 0);
  return out;
}

int64_t HivmView::rows() const {
  const int64_t all = elements();
  if (all == 0) return 0;
  int64_t length = 1;  // of a piece
  for (size_t k = rank; k-- > 0;) {
    if (sizes[k] == 1) continue;
    if (strides[k] != length) break;
    length *= sizes[k];
  }
  return all / length;
}

HivmView HivmView::of(const HivmType& type, std::span<const int64_t> dynamic) {
  HivmView out;
  out.space = type.space;
  out.bits = static_cast<int16_t>(type.bits);
  out.rank = static_cast<uint8_t>(std::min<size_t>(type.sizes.size(), kMostDims));
  size_t next = 0;
  for (size_t k = 0; k < out.rank; ++k) {
    out.sizes[k] = type.sizes[k];
    if (type.sizes[k] == kDynamic) out.sizes[k] = next < dynamic.size() ? dynamic[next++] : 1;
  }
  int64_t stride = 1;
  for (size_t k = out.rank; k-- > 0;) {
    const bool is_told = k < type.strides.size() && type.strides[k] != kDynamic;
    out.strides[k] = is_told ? type.strides[k] : stride;
    stride = out.strides[k] * out.sizes[k];
  }
  return out;
}

void HivmMachine::number(const HivmStep& step, Frame& frame) const {
  HivmValue& out = frame.values[step.results[0]];
  const HivmValue& a = frame.values[step.operands[0]];
  if (step.op == HivmOp::kSelect) {
    const bool is_known = a.is_known;
    const HivmValue chosen = frame.values[step.operands[a.number != 0 ? 1 : 2]];
    out = chosen;
    out.is_known = out.is_known && is_known;
    return;
  }
  if (step.op == HivmOp::kCopy) {
    const HivmValue copy = a;
    out = copy;
    if (step.bits < 64) out.number = normal(static_cast<uint64_t>(out.number), step.bits);
    return;
  }
  if (step.op == HivmOp::kZeroExtend || step.op == HivmOp::kSignExtend) {
    const int from = static_cast<int>(step.number);
    const bool is_signed = step.op == HivmOp::kSignExtend;
    const int64_t value = is_signed && from == 1 ? -a.number : a.number;
    out.is_known = a.is_known;
    out.number = is_signed ? value : normal(masked(value, from), step.bits);
    return;
  }
  const HivmValue& b = frame.values[step.operands[1]];
  const bool is_known = a.is_known && b.is_known;
  out.number =
      step.op == HivmOp::kCompare
          ? compare(a.number, b.number, static_cast<HivmPredicate>(step.number), step.bits)
          : normal(static_cast<uint64_t>(computed(step.op, a.number, b.number, step.bits)), step.bits);
  out.is_known = is_known;
}

void HivmMachine::affine(const HivmStep& step, Frame& frame) const {
  const AffineMap& map = program_.maps[step.index];
  std::array<int64_t, kMostMapParameters> arguments = {};
  const size_t count = std::min(step.operands.size(), arguments.size());
  bool is_known = true;
  for (size_t k = 0; k < count; ++k) {
    arguments[k] = frame.values[step.operands[k]].number;
    is_known = is_known && frame.values[step.operands[k]].is_known;
  }
  const std::span<const int64_t> given(arguments.data(), count);
  int64_t value = map.value(0, given);
  const auto pick = static_cast<HivmPick>(step.number);
  for (size_t k = 1; k < map.results() && pick != HivmPick::kFirst; ++k) {
    const int64_t other = map.value(k, given);
    value = pick == HivmPick::kMin ? std::min(value, other) : std::max(value, other);
  }
  HivmValue& out = frame.values[step.results[0]];
  out.number = value;
  out.is_known = is_known;
}

void HivmMachine::view(const HivmStep& step, Frame& frame) {
  std::vector<int64_t> numbers;
  bool is_known = true;
  const bool is_buffer = step.op == HivmOp::kPointer || step.op == HivmOp::kTable;
  const size_t first = is_buffer ? 0 : 1;
  for (size_t k = first; k < step.operands.size(); ++k) {
    numbers.push_back(frame.values[step.operands[k]].number);
    is_known = is_known && frame.values[step.operands[k]].is_known;
  }
  const std::span<const int64_t> given(numbers);
  const HivmType& type = program_.types[step.index];
  HivmValue out;
  out.is_known = is_known;
  if (is_buffer) {
    const auto addresses = static_cast<size_t>(step.number);
    out.view = HivmView::of(type, given.subspan(std::min(addresses, given.size())));
    out.view.is_table = step.op == HivmOp::kTable;
    const int64_t bytes = (out.view.elements() * out.view.bits + 7) / 8;
    for (size_t k = 0; k < addresses && type.space == HivmSpace::kUb; ++k)
      ub_bytes_ = std::max(ub_bytes_, numbers[k] + bytes);
    frame.values[step.results[0]] = out;
    return;
  }
  const HivmView& from = frame.values[step.operands[0]].view;
  out.view.space = type.space;
  out.view.bits = static_cast<int16_t>(type.bits);
  const size_t half = given.size() / 2;
  if (step.op == HivmOp::kView) {
    out.view = HivmView::of(type, given);
  } else if (step.op == HivmOp::kRetype) {
    out.view = from;
    out.view.space = type.space;
    out.view.bits = static_cast<int16_t>(type.bits);
  } else if (step.op == HivmOp::kCollapse) {
    collapse(from, step.groups, out.view);
  } else if (step.op == HivmOp::kExpand) {
    expand(from, step.groups, given, out.view);
  } else {
    for (size_t k = 0; k < half && out.view.rank < kMostDims; ++k) {
      const bool is_subview = step.op == HivmOp::kSubview;
      if (is_subview && (step.number >> k & 1) == 0) continue;
      out.view.sizes[out.view.rank] = given[k];
      out.view.strides[out.view.rank] = given[half + k] * (is_subview && k < from.rank ? from.strides[k] : 1);
      ++out.view.rank;
    }
  }
  out.view.is_table = from.is_table;
  frame.values[step.results[0]] = out;
}

// Results: the base, the offset, all sizes, all strides.
void HivmMachine::metadata(const HivmStep& step, Frame& frame) const {
  const HivmView from = frame.values[step.operands[0]].view;
  for (size_t k = 0; k < step.results.size(); ++k) {
    HivmValue& out = frame.values[step.results[k]];
    out = HivmValue();
    if (k == 0) {
      out.view = from;
    } else if (k >= 2 && k - 2 < from.rank) {
      out.number = from.sizes[k - 2];
    } else if (k >= 2U + from.rank && k - 2 - from.rank < from.rank) {
      out.number = from.strides[k - 2 - from.rank];
    } else {
      out.is_known = false;
    }
  }
}

void HivmMachine::dimension(const HivmStep& step, Frame& frame) const {
  const HivmView& view = frame.values[step.operands[0]].view;
  const HivmValue& which = frame.values[step.operands[1]];
  HivmValue out;
  out.is_known = which.is_known && which.number >= 0 && which.number < view.rank;
  if (out.is_known) out.number = view.sizes[static_cast<size_t>(which.number)];
  frame.values[step.results[0]] = out;
}

void HivmMachine::control(const HivmStep& step, Frame& frame) {
  switch (step.op) {
    case HivmOp::kMove:
      frame.moved.clear();
      for (const uint32_t slot : step.operands) frame.moved.push_back(frame.values[slot]);
      for (size_t k = 0; k < step.results.size(); ++k) frame.values[step.results[k]] = frame.moved[k];
      break;
    case HivmOp::kJump:
      work_.scalar_elements += step.number;
      frame.at = step.target;
      break;
    case HivmOp::kBranch:
      if (!frame.values[step.operands[0]].is_known) ++data_branches_;
      if (frame.values[step.operands[0]].number != 0) frame.at = step.target;
      break;
    default:
      returned_.clear();
      for (const uint32_t slot : step.operands) returned_.push_back(frame.values[slot]);
      frame.is_over = true;
      break;
  }
}

Status HivmMachine::step(Frame& frame, int depth) {
  const HivmStep& step = frame.function.steps[frame.at++];
  ++work_.steps;
  switch (step.op) {
    case HivmOp::kAffine:
      affine(step, frame);
      return {};
    case HivmOp::kUnknown:
    case HivmOp::kSetFlag:
      for (const uint32_t slot : step.results) frame.values[slot].is_known = false;
      return {};
    case HivmOp::kBlockIndex:
    case HivmOp::kSubBlockIndex:
      frame.values[step.results[0]].number = step.op == HivmOp::kBlockIndex ? block_ : sub_block_;
      return {};
    case HivmOp::kPointer:
    case HivmOp::kTable:
    case HivmOp::kRetype:
    case HivmOp::kReinterpret:
    case HivmOp::kSubview:
    case HivmOp::kView:
    case HivmOp::kCollapse:
    case HivmOp::kExpand:
      view(step, frame);
      return {};
    case HivmOp::kMetadata:
    case HivmOp::kDim:
      step.op == HivmOp::kDim ? dimension(step, frame) : metadata(step, frame);
      return {};
    case HivmOp::kScalarLoad:
    case HivmOp::kScalarStore:
      scalar_access(step, frame);
      for (const uint32_t slot : step.results) frame.values[slot] = {0, false, {}};
      return {};
    case HivmOp::kCall:
      return call(step, frame, depth);
    case HivmOp::kVector:
      count_instruction(step);
      for (const uint32_t slot : step.results) frame.values[slot].is_known = false;
      return {};
    case HivmOp::kBarrier:
      ++work_.barriers;
      return {};
    case HivmOp::kWaitFlag:
      ++work_.flags;
      return {};
    case HivmOp::kBlockSync:
      ++work_.block_syncs;
      return {};
    case HivmOp::kMove:
    case HivmOp::kJump:
    case HivmOp::kBranch:
    case HivmOp::kReturn:
      control(step, frame);
      return {};
    default:
      number(step, frame);
      return {};
  }
}

Status HivmMachine::run_frame(const HivmFunction& function, std::span<const HivmValue> arguments, int depth) {
  if (depth > kMostDepth) return diagnostic("limit", "{} calls itself too deeply", function.name);
  Frame frame{function, std::vector<HivmValue>(function.slots), {}, 0, false};
  for (const auto& [slot, value] : function.constants) frame.values[slot].number = value;
  for (size_t k = 0; k < function.arguments.size() && k < arguments.size(); ++k)
    frame.values[function.arguments[k]] = arguments[k];
  while (!frame.is_over) {
    JUMAR_RETURN_IF_ERROR(step(frame, depth));
    if (work_.steps > most_steps_)
      return diagnostic("limit", "{} takes more than {} steps", function.name, most_steps_);
  }
  return {};
}

Status HivmMachine::run(const HivmFunction& function, std::span<const HivmValue> arguments, int64_t block,
                        int64_t sub_block, HivmWork& work) {
  block_ = block;
  sub_block_ = sub_block;
  is_cube_ = function.core == HivmFunction::Core::kCube;
  work_ = {};
  uses_.resize(program_.callees.size() + program_.names.size());
  JUMAR_RETURN_IF_ERROR(run_frame(function, arguments, 0));
  most_steps_ -= work_.steps;
  work += work_;
  return {};
}

}  // namespace jumar::driver::toolchain
