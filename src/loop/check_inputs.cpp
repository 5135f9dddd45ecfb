#include <algorithm>
#include <limits>
#include <set>

#include "loop/check.h"
#include "loop/scalar_eval.h"
#include "loop/walk.h"

namespace jumar::loop {
namespace {

using sym::Expr;

// splitmix64: the same numbers on every machine.
class Random {
 public:
  Random(uint64_t seed, uint64_t stream)
      : state_(seed * 0x9e3779b97f4a7c15u + stream * 0xd1b54a32d192ed03u) {}
  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  // In [0, 1).
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  int64_t between(int64_t low, int64_t high) {
    uint64_t count = static_cast<uint64_t>(high) - static_cast<uint64_t>(low) + 1;
    return count == 0 ? static_cast<int64_t>(next())
                      : static_cast<int64_t>(static_cast<uint64_t>(low) + next() % count);
  }

 private:
  uint64_t state_;
};

struct IntRange {
  int64_t low;
  int64_t high;
};

// The integers of a buffer that serve as indices: found by following loads, casts and copies from the index
// checks back to buffers.
class IndexUses {
 public:
  explicit IndexUses(const Program& program) : program_(program) {
    for (const Item& item : program.items)
      if (const Kernel* kernel = std::get_if<Kernel>(&item))
        for (const Nest& nest : kernel->nests) visit(nest);
    // A copy's use is a use of what was copied; later kernels come later in `copies_`.
    for (auto copy = copies_.rbegin(); copy != copies_.rend(); ++copy)
      for (const auto& use : std::vector(uses_[copy->second])) uses_[copy->first].push_back(use);
  }

  // The range that all uses allow, if the buffer is used as indices at all.
  std::optional<IntRange> range(BufferId buffer, const std::unordered_map<Expr, int64_t>& symbols) const {
    auto found = uses_.find(buffer);
    if (found == uses_.end()) return std::nullopt;
    IntRange range{std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};
    for (const Use& use : found->second) {
      Result<int64_t> size = sym::evaluate(use.size, [&](Expr symbol) -> std::optional<int64_t> {
        auto value = symbols.find(symbol);
        return value == symbols.end() ? std::nullopt : std::optional(value->second);
      });
      if (!size.ok()) continue;
      range.low = std::max(range.low, use.wraps ? -*size : 0);
      range.high = std::min(range.high, *size - 1);
    }
    if (range.low > range.high) return std::nullopt;
    return range;
  }

 private:
  struct Use {
    Expr size;
    bool wraps;
  };

  void visit(const Nest& nest) {
    std::vector<const Inst*> definitions(nest.value_count);
    for (const Stage& stage : nest.stages)
      for (const Stage::Line& line : stage.body)
        if (line.inst.defines_value()) definitions[line.result.index()] = &line.inst;
    for (const Stage& stage : nest.stages) {
      for (const Stage::Line& line : stage.body) {
        const Inst& inst = line.inst;
        bool wraps = inst.kind == InstKind::kWrapIndex;
        if (!wraps && inst.kind != InstKind::kCheckIndex && inst.kind != InstKind::kStore) continue;
        std::optional<BufferId> source = loaded(definitions, inst.operands[0]);
        if (!source) continue;
        if (inst.kind == InstKind::kStore)
          copies_.emplace_back(*source, inst.buffer);
        else
          uses_[*source].push_back({inst.address, wraps});
      }
    }
  }

  static std::optional<BufferId> loaded(const std::vector<const Inst*>& definitions, ValueId value) {
    const Inst* inst = definitions[value.index()];
    while (inst && inst->kind == InstKind::kOp && inst->op == ScalarOp::kCast)
      inst = definitions[inst->operands[0].index()];
    if (!inst || inst->kind != InstKind::kLoad) return std::nullopt;
    return inst->buffer;
  }

  const Program& program_;
  std::map<BufferId, std::vector<Use>> uses_;
  std::vector<std::pair<BufferId, BufferId>> copies_;  // from, to
};

double random_float(Random& random, double special_share) {
  constexpr double kSpecial[] = {0.0,
                                 -0.0,
                                 std::numeric_limits<double>::infinity(),
                                 -std::numeric_limits<double>::infinity(),
                                 std::numeric_limits<double>::quiet_NaN(),
                                 3e38,
                                 -3e38,
                                 1e-40,
                                 1.0,
                                 -1.0};
  if (special_share > 0 && random.unit() < special_share)
    return kSpecial[random.next() % std::size(kSpecial)];
  return 2 * (random.unit() + random.unit() + random.unit()) - 3;
}

IntRange clipped(IntRange range, ir::DType type) {
  if (ir::is_bool(type)) return {0, 1};
  if (type == ir::DType::kU64) return {std::max<int64_t>(range.low, 0), std::max<int64_t>(range.high, 0)};
  int64_t least = as_int(least_scalar(type));
  int64_t most = as_int(greatest_scalar(type));
  return {std::clamp(range.low, least, most), std::clamp(range.high, least, most)};
}

class InputMaker {
 public:
  InputMaker(const Program& program, const CheckOptions& options)
      : program_(program), options_(options), index_uses_(program) {}

  Result<ProgramInputs> make() {
    draw_symbols();
    ProgramInputs inputs;
    inputs.args.resize(program_.input_count);
    for (const IntInput& input : program_.int_inputs) {
      JUMAR_ASSIGN(int64_t value, value_of(input.expr));
      inputs.args[input.index] = {value};
    }
    for (const Number& number : program_.numbers) {
      if (!number.input) continue;
      Random random(options_.seed, *number.input);
      if (number.kind == NumberKind::kBool)
        inputs.args[*number.input] = {random.next() % 2 == 1};
      else
        inputs.args[*number.input] = {random_float(random, 0)};
    }
    for (size_t k = 0; k < program_.buffers.size(); ++k)
      JUMAR_RETURN_IF_ERROR(buffer(program_.buffers.id_at(k), inputs));
    return inputs;
  }

 private:
  void draw_symbols() {
    Random random(options_.seed, UINT64_MAX);
    for (const SymbolInfo& info : program_.symbols) {
      constexpr int64_t kSpan = 7;
      int64_t low = std::max<int64_t>(info.range.lo, 0);
      int64_t high = info.range.hi - low > kSpan ? low + kSpan : std::max(low, info.range.hi);
      int64_t drawn = random.between(low, high);
      auto given = options_.symbols.find(info.symbol.symbol_name());
      symbols_[info.symbol] = given == options_.symbols.end() ? drawn : given->second;
    }
  }

  Result<int64_t> value_of(Expr e) const {
    return sym::evaluate(e, [&](Expr symbol) -> std::optional<int64_t> {
      auto found = symbols_.find(symbol);
      return found == symbols_.end() ? std::nullopt : std::optional(found->second);
    });
  }

  Status buffer(BufferId id, ProgramInputs& inputs) {
    const Buffer& b = program_.buffers[id];
    if (b.storage != Storage::kInput && b.storage != Storage::kParameter) return {};
    auto given = options_.inputs.find(b.index);
    if (given != options_.inputs.end()) {
      inputs.tensors.push_back(given->second);
    } else {
      std::vector<int64_t> sizes, strides;
      for (Expr size : b.type.sizes) {
        JUMAR_ASSIGN(int64_t value, value_of(size));
        if (value < 0) return diagnostic("input", "%{} has a size of {}", b.name, value);
        sizes.push_back(value);
      }
      for (Expr stride : b.type.strides) {
        JUMAR_ASSIGN(int64_t value, value_of(stride));
        strides.push_back(value);
      }
      inputs.tensors.push_back(HostTensor::make(b.type.dtype, std::move(sizes), std::move(strides)));
      fill(id, inputs.tensors.back());
    }
    // Moving a HostTensor keeps its bytes where they are.
    inputs.args[b.index] = {inputs.tensors.back().view()};
    return {};
  }

  // Fills the whole storage: views of an input may reach what its own strides skip.
  void fill(BufferId id, HostTensor& tensor) const {
    Random random(options_.seed, program_.buffers[id].index);
    int64_t bytes = ir::dtype_bytes(tensor.dtype);
    IntRange range{options_.int_low, options_.int_high};
    if (std::optional<IntRange> index = index_uses_.range(id, symbols_)) range = *index;
    bool is_complex = ir::is_complex(tensor.dtype);
    ir::DType part = tensor.dtype == ir::DType::kC128  ? ir::DType::kF64
                     : tensor.dtype == ir::DType::kC64 ? ir::DType::kF32
                     : tensor.dtype == ir::DType::kC32 ? ir::DType::kF16
                                                       : tensor.dtype;
    int64_t step = is_complex ? bytes / 2 : bytes;
    for (size_t at = 0; at + step <= tensor.bytes.size(); at += step) {
      Scalar value;
      if (ir::is_float(part)) {
        value = scalar_of(random_float(random, options_.special_share), part);
      } else {
        IntRange fits = clipped(range, part);
        value = scalar_of_int(random.between(fits.low, fits.high), part);
      }
      store_scalar(tensor.bytes.data() + at, value);
    }
  }

  const Program& program_;
  const CheckOptions& options_;
  IndexUses index_uses_;
  std::unordered_map<Expr, int64_t> symbols_;
};

}  // namespace

Result<ProgramInputs> random_inputs(const Program& program, const CheckOptions& options) {
  return InputMaker(program, options).make();
}

}  // namespace jumar::loop
