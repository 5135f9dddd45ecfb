#include <algorithm>

#include "runtime/run.h"

namespace jumar::runtime {
namespace {

const char* kind_text(InputValue::Kind kind) {
  switch (kind) {
    case InputValue::Kind::kTensor:
      return "a tensor";
    case InputValue::Kind::kInt:
      return "an int";
    case InputValue::Kind::kFloat:
      return "a float";
    case InputValue::Kind::kBool:
      return "a bool";
  }
  return "";
}

constexpr size_t kArenaPlansKept = 8;

std::string range_text(const sym::Range& range) {
  std::string lo = range.lo == sym::Range::kMin ? "-inf" : fmt::format("{}", range.lo);
  std::string hi = range.hi == sym::Range::kMax ? "inf" : fmt::format("{}", range.hi);
  return fmt::format("[{}, {}]", lo, hi);
}

const char* number_text(const EntryCode& entry) {
  if (entry.binding.of_cores()) return "their count";
  return entry.source == plan::EntryBinding::Source::kInt ? "its value" : "a size or stride";
}

}  // namespace

// Everything before the first step: inputs are checked, symbols bound, layouts and the arena made. When every
// number that symbols come from is as in the frame's last call, layouts and the arena's plan still hold.
bool Run::enter() {
  if (inputs_.size() != code_.inputs.size())
    return fail(RunError::Kind::kInput, fmt::format("the plan takes {} inputs, the call passes {}",
                                                    code_.inputs.size(), inputs_.size()));
  if (!check_kinds()) return false;
  if (code_.engine.cores) cores_ = code_.engine.cores->get();
  bool same = frame_.entry_valid;
  for (size_t k = 0; k < code_.entries.size(); ++k) {
    int64_t number = entry_number(code_.entries[k]);
    same = same && frame_.entry_numbers[k] == number;
    frame_.entry_numbers[k] = number;
  }
  if (!same && !bind_entry()) return false;
  for (uint32_t k = 0; k < code_.inputs.size(); ++k)
    if (!check_input(k)) return false;
  const ArenaLayout* arena = code_.planned.empty() ? nullptr : &frame_.arena_plans.front().layout;
  if (arena && !frame_.arena) {
    frame_.arena = code_.engine.pool->take(arena->total_bytes);
    if (!frame_.arena)
      return fail(RunError::Kind::kMemory,
                  fmt::format("no memory for {} bytes of buffers", arena->total_bytes));
    for (uint32_t tensor : code_.planned)
      frame_.data[tensor] =
          static_cast<char*>(frame_.arena.data()) + arena->offsets[code_.tensors[tensor].arena];
  }
  return true;
}

// Kinds and ranks, so that sizes can be read.
bool Run::check_kinds() {
  for (uint32_t k = 0; k < code_.inputs.size(); ++k) {
    const InputCode& wanted = code_.inputs[k];
    const InputValue& given = inputs_[k];
    if (k >= code_.engine.checked_inputs && wanted.kind == InputValue::Kind::kTensor) continue;
    bool widens = wanted.kind == InputValue::Kind::kFloat && given.kind == InputValue::Kind::kInt;
    if (given.kind != wanted.kind && !widens)
      return fail(RunError::Kind::kInput,
                  fmt::format("input {} (%{}) is {}; the plan was compiled for {}", k, wanted.name,
                              kind_text(given.kind), kind_text(wanted.kind)));
    if (given.kind == InputValue::Kind::kTensor) {
      const TensorCode& t = code_.tensors[wanted.index];
      if (given.tensor.rank != static_cast<int32_t>(t.rank))
        return fail(RunError::Kind::kInput,
                    fmt::format("input {} (%{}) has {} dimensions; the plan was compiled for {}", k,
                                wanted.name, given.tensor.rank, t.rank));
    } else if (wanted.kind == InputValue::Kind::kFloat) {
      frame_.numbers[wanted.index] =
          given.kind == InputValue::Kind::kInt ? static_cast<double>(given.integer) : given.number;
    } else if (wanted.kind == InputValue::Kind::kBool) {
      frame_.numbers[wanted.index] = given.integer != 0;
    }
  }
  return true;
}

int64_t Run::entry_number(const EntryCode& entry) const {
  if (entry.source == plan::EntryBinding::Source::kCubeCores) return cores_.cube;
  if (entry.source == plan::EntryBinding::Source::kVectorCores) return cores_.vector;
  const InputValue& input = inputs_[entry.input];
  if (entry.source == plan::EntryBinding::Source::kInt) return input.integer;
  const TensorView& view = input.tensor;
  if (entry.source == plan::EntryBinding::Source::kSize) return view.sizes[entry.dim];
  if (view.strides) return view.strides[entry.dim];
  return contiguous_strides(view)[entry.dim];
}

// "input 1 (%x)", "cores(vector)": where an entry's number is from.
std::string Run::entry_text(const EntryCode& entry) const {
  if (entry.binding.of_cores()) return plan::place_text(code_.plan, entry.binding);
  return fmt::format("input {} (%{})", entry.input, code_.inputs[entry.input].name);
}

bool Run::bind_entry() {
  frame_.entry_valid = false;
  if (!run_stage(0, std::nullopt)) return false;
  for (size_t k = 0; k < code_.entries.size(); ++k) {
    const EntryCode& entry = code_.entries[k];
    if (entry.stage == 0) continue;
    if (!solve_entry(entry, frame_.entry_numbers[k]) || !run_stage(entry.stage, std::nullopt)) return false;
  }
  for (size_t k = 0; k < code_.entries.size(); ++k) {
    const EntryCode& entry = code_.entries[k];
    if (frame_.values[entry.expr] == frame_.entry_numbers[k]) continue;
    return fail(RunError::Kind::kInput,
                fmt::format("{}: {} is {}, which no value of {} gives", entry_text(entry), number_text(entry),
                            frame_.entry_numbers[k], sym::text(entry.binding.expr)));
  }
  if (!plan_arena()) return false;
  frame_.entry_valid = true;
  return true;
}

bool Run::solve_entry(const EntryCode& entry, int64_t number) {
  if (!solve(entry.symbol, entry.coefficient, entry.rest, number))
    return fail(RunError::Kind::kInput, fmt::format("{}: {} cannot be computed from {}", entry_text(entry),
                                                    sym::text(entry.binding.symbol), number));
  for (const SymbolCode& symbol : code_.symbols) {
    if (symbol.slot != entry.symbol) continue;
    int64_t value = frame_.values[symbol.slot];
    if (value >= symbol.range.lo && value <= symbol.range.hi) continue;
    std::string where;
    if (entry.source == plan::EntryBinding::Source::kSize) where = fmt::format(", size {}", entry.dim);
    if (entry.source == plan::EntryBinding::Source::kStride) where = fmt::format(", stride {}", entry.dim);
    return fail(RunError::Kind::kInput,
                fmt::format("{}{}: {} = {} is outside the range that the plan was compiled for, {}",
                            entry_text(entry), where, sym::text(entry.binding.symbol), value,
                            range_text(symbol.range)));
  }
  return true;
}

// symbol = (number - rest) // coefficient; whether that is exact is checked by whoever compares afterwards.
bool Run::solve(Slot symbol, Slot coefficient, Slot rest, int64_t number) {
  int64_t difference = 0;
  int64_t divisor = frame_.values[coefficient];
  if (divisor == 0 || __builtin_sub_overflow(number, frame_.values[rest], &difference)) return false;
  if (difference == INT64_MIN && divisor == -1) return false;
  frame_.values[symbol] = difference / divisor;
  return true;
}

bool Run::run_stage(uint32_t stage, std::optional<uint32_t> step) {
  Slot failed = 0;
  if (!code_.program.run(stage, frame_.values, failed))
    return fail(RunError::Kind::kNumber,
                fmt::format("{} has no value: a division by zero, or a result beyond 64 bits",
                            sym::text(code_.program.expr(failed))),
                step);
  for (uint32_t tensor : code_.tensors_by_stage[stage]) {
    // A handle made for a called operator carries the layout that changes now.
    frame_.tensors[tensor].blob.reset();
    if (!refresh_layout(tensor)) return false;
  }
  return true;
}

// Sizes and strides as numbers, the place of a view in its root, and the bytes that the tensor spans.
bool Run::refresh_layout(uint32_t tensor) {
  const TensorCode& t = code_.tensors[tensor];
  int64_t* dims = frame_.dims.data() + t.dims;
  int64_t last = 0;
  bool fits = true;
  bool empty = false;
  for (uint32_t k = 0; k < t.rank; ++k) {
    int64_t size = frame_.values[t.sizes[k]];
    int64_t stride = frame_.values[t.strides[k]];
    dims[k] = size;
    dims[t.rank + k] = stride;
    int64_t span = 0;
    empty = empty || size == 0;
    fits = fits && size >= 0 && (stride >= 0 || size <= 1);
    if (size > 1)
      fits = fits && !__builtin_mul_overflow(size - 1, stride, &span) &&
             !__builtin_add_overflow(last, span, &last);
  }
  int64_t bytes = 0;
  if (!empty) fits = fits && last < INT64_MAX && !__builtin_mul_overflow(last + 1, t.element_bytes, &bytes);
  frame_.extent_bytes[tensor] = fits ? bytes : 0;
  int64_t place = 0;
  if (t.base != kNoIndex) {
    fits = fits && !__builtin_mul_overflow(frame_.values[t.offset], t.element_bytes, &place) &&
           !__builtin_add_overflow(place, frame_.view_bytes[t.base], &place);
    fits = fits && (bytes == 0 || (place >= 0 && place <= frame_.extent_bytes[t.root] - bytes));
  }
  frame_.view_bytes[tensor] = fits ? place : 0;
  if (fits) return true;
  return fail(
      RunError::Kind::kNumber,
      fmt::format("%{} has the layout {}, which {}", name_of(tensor),
                  type_text({nullptr, t.dtype, static_cast<int32_t>(t.rank), dims, dims + t.rank, kDlCpu}),
                  t.base == kNoIndex ? "no memory can have" : "reaches outside the tensor it is a view of"));
}

bool Run::plan_arena() {
  if (code_.planned.empty()) return true;
  std::vector<int64_t> key;
  for (const EntryCode& entry : code_.entries)
    if (entry.stage > 0) key.push_back(frame_.values[entry.symbol]);
  std::vector<ArenaPlan>& plans = frame_.arena_plans;
  for (size_t k = 0; k < plans.size(); ++k) {
    if (plans[k].key != key) continue;
    std::rotate(plans.begin(), plans.begin() + static_cast<std::ptrdiff_t>(k),
                plans.begin() + static_cast<std::ptrdiff_t>(k) + 1);
    return true;
  }
  std::vector<ArenaRequest> requests;
  for (uint32_t tensor : code_.planned)
    requests.push_back(
        {frame_.extent_bytes[tensor], code_.tensors[tensor].first, code_.tensors[tensor].last});
  std::optional<ArenaLayout> layout = planned_arena(requests);
  if (!layout)
    return fail(RunError::Kind::kMemory, "the plan's buffers together need more bytes than there are");
  if (plans.size() == kArenaPlansKept) plans.pop_back();
  plans.insert(plans.begin(), ArenaPlan{std::move(key), std::move(*layout)});
  return true;
}

bool Run::check_input(uint32_t index) {
  const InputCode& wanted = code_.inputs[index];
  if (wanted.kind != InputValue::Kind::kTensor) return true;
  const TensorCode& t = code_.tensors[wanted.index];
  const TensorView& given = inputs_[index].tensor;
  if (index >= code_.engine.checked_inputs) {
    frame_.data[wanted.index] = given.data;
    return true;
  }
  const int64_t* wanted_sizes = sizes(wanted.index);
  bool same = given.dtype == t.dtype && given.device_type == kDlCpu;
  for (uint32_t k = 0; k < t.rank; ++k) same = same && given.sizes[k] == wanted_sizes[k];
  if (same && given.strides) same = same_places(t.rank, given.sizes, given.strides, strides(wanted.index));
  if (same && !given.strides) {
    std::vector<int64_t> contiguous = contiguous_strides(given);
    same = same_places(t.rank, given.sizes, contiguous.data(), strides(wanted.index));
  }
  if (!same) return fail(RunError::Kind::kInput, input_text(index));
  if (!given.data && frame_.extent_bytes[wanted.index] > 0)
    return fail(RunError::Kind::kInput, fmt::format("input {} (%{}) has no memory", index, wanted.name));
  // Complex elements are aligned like their parts, and nothing to more than 8 bytes.
  const auto alignment = static_cast<uintptr_t>(std::min<int64_t>(t.element_bytes, sizeof(double)));
  if (reinterpret_cast<uintptr_t>(given.data) % alignment != 0)
    return fail(RunError::Kind::kInput,
                fmt::format("input {} (%{}) is not aligned to {} bytes", index, wanted.name, alignment));
  frame_.data[wanted.index] = given.data;
  return true;
}

std::string Run::input_text(uint32_t index) const {
  const InputCode& wanted = code_.inputs[index];
  const TensorView& given = inputs_[index].tensor;
  std::string where = fmt::format("input {} (%{})", index, wanted.name);
  if (given.device_type != kDlCpu)
    return fmt::format("{} is on a device of DLPack type {}; the plan was compiled for the CPU", where,
                       given.device_type);
  const TensorCode& t = code_.tensors[wanted.index];
  std::string expected =
      type_text({nullptr, t.dtype, given.rank, sizes(wanted.index), strides(wanted.index), kDlCpu});
  std::string values;
  for (const auto& [name, slot] : wanted.symbols)
    values += fmt::format("{}{} = {}", values.empty() ? "" : ", ", name, frame_.values[slot]);
  if (!values.empty()) values = fmt::format(", that is {} with {}", wanted.type, values);
  return fmt::format("{} is {}; the plan was compiled for {}{}", where, type_text(given), expected, values);
}

}  // namespace jumar::runtime
