#include "loop/interp_nest.h"

#include "loop/text.h"
#include "loop/walk.h"

namespace jumar::loop {
namespace {

using sym::Expr;

ReduceKind reduce_of(ScanKind kind) {
  switch (kind) {
    case ScanKind::kSum:
      return ReduceKind::kSum;
    case ScanKind::kProd:
      return ReduceKind::kProd;
    case ScanKind::kMax:
      return ReduceKind::kMax;
    case ScanKind::kMin:
      return ReduceKind::kMin;
  }
  return ReduceKind::kSum;
}

class NestRunner {
 public:
  NestRunner(const NestContext& context, const Nest& nest)
      : context_(context), nest_(nest), values_(nest.value_count), locals_(nest.locals.size()) {
    value_of_ = [this](Expr symbol) -> std::optional<int64_t> { return symbol_value(symbol); };
  }

  Result<uint64_t> run() {
    JUMAR_RETURN_IF_ERROR(prepare());
    uint64_t point = 0;
    Status status = for_each_point(nest_.kept, kept_extents_, [&]() -> Status {
      access_.point = context_.first_point + point++;
      return kept_point();
    });
    JUMAR_RETURN_IF_ERROR(std::move(status));
    return point;
  }

 private:
  using LocalMemory = std::vector<std::optional<Scalar>>;

  // What a scan or reduce line has folded; a scan has one fold for every point of the other inner axes.
  struct LineState {
    std::vector<Fold> folds;
  };

  Status prepare() {
    access_.kernel_run = context_.kernel_run;
    JUMAR_ASSIGN(kept_extents_, extents(nest_.kept));
    for (const Stage& stage : nest_.stages) {
      JUMAR_ASSIGN(std::vector<int64_t> inner, extents(stage.inner));
      std::vector<LineState> states(stage.body.size());
      for (size_t k = 0; k < stage.body.size(); ++k) {
        const Inst& inst = stage.body[k].inst;
        if (inst.kind == InstKind::kReduce)
          states[k].folds.emplace_back(inst.reduce, operand_type(stage, inst));
        if (inst.kind == InstKind::kScan) {
          Fold fold(reduce_of(inst.scan), inst.type);
          states[k].folds.assign(static_cast<size_t>(other_points(stage, inner, inst.axis)), fold);
        }
      }
      inner_extents_.push_back(std::move(inner));
      states_.push_back(std::move(states));
    }
    return {};
  }

  Result<std::vector<int64_t>> extents(const std::vector<Axis>& axes) {
    std::vector<int64_t> out;
    for (const Axis& axis : axes) {
      JUMAR_ASSIGN(int64_t extent, value(axis.extent));
      out.push_back(extent);
    }
    return out;
  }

  // The type that a reduce folds: an arg-reduction's own type is its position's.
  ir::DType operand_type(const Stage& stage, const Inst& reduce) const {
    if (!is_arg_reduce(reduce.reduce)) return reduce.type;
    for (const Stage& s : nest_.stages)
      for (const Stage::Line& line : s.body)
        if (line.result == reduce.operands[0]) return line.inst.type;
    CHECK(false, "an operand of a stage with {} lines is undefined", stage.body.size());
    return reduce.type;
  }

  static int64_t other_points(const Stage& stage, const std::vector<int64_t>& inner, Expr axis) {
    int64_t count = 1;
    for (size_t k = 0; k < inner.size(); ++k)
      if (stage.inner[k].symbol != axis) count *= std::max<int64_t>(inner[k], 0);
    return count;
  }

  template <class Body>
  Status for_each_point(const std::vector<Axis>& axes, const std::vector<int64_t>& extents,
                        const Body& body) {
    for (int64_t extent : extents)
      if (extent <= 0) return {};
    for (const Axis& axis : axes) axis_values_[axis.symbol] = 0;
    while (true) {
      JUMAR_RETURN_IF_ERROR(body());
      size_t k = axes.size();
      while (k > 0 && ++axis_values_[axes[k - 1].symbol] == extents[k - 1])
        axis_values_[axes[--k].symbol] = 0;
      if (k == 0) return {};
    }
  }

  Status kept_point() {
    for (size_t k = 0; k < locals_.size(); ++k)
      locals_[k].assign(static_cast<size_t>(nest_.locals[k].elems), std::nullopt);
    for (stage_ = 0; stage_ < nest_.stages.size(); ++stage_) {
      const Stage& stage = nest_.stages[stage_];
      for (LineState& state : states_[stage_])
        for (Fold& fold : state.folds) fold.reset();
      Status status =
          for_each_point(stage.inner, inner_extents_[stage_], [&]() -> Status { return body(stage); });
      JUMAR_RETURN_IF_ERROR(std::move(status));
      for (size_t k = 0; k < stage.body.size(); ++k) {
        if (stage.body[k].inst.kind != InstKind::kReduce) continue;
        std::optional<Scalar> result = states_[stage_][k].folds[0].result();
        line_ = &stage.body[k];
        if (!result) return fault("bounds", "an arg-reduction over no points");
        values_[line_->result.index()] = *result;
      }
    }
    return {};
  }

  Status body(const Stage& stage) {
    for (size_t k = 0; k < stage.body.size(); ++k) {
      line_ = &stage.body[k];
      JUMAR_RETURN_IF_ERROR(line(stage, states_[stage_][k]));
    }
    return {};
  }

  Status line(const Stage& stage, LineState& state) {
    const Inst& inst = line_->inst;
    switch (inst.kind) {
      case InstKind::kConst:
        return define(scalar_of_constant(inst.constant, inst.type));
      case InstKind::kIndex: {
        JUMAR_ASSIGN(int64_t index, value(inst.address));
        return define(scalar_of_int(index, inst.type));
      }
      case InstKind::kParam:
        return define(scalar_of(context_.number(inst.number), inst.type));
      case InstKind::kOp: {
        std::array<Scalar, 3> operands;
        for (int k = 0; k < operand_count(inst); ++k) operands[k] = operand(k);
        return define(
            evaluate(inst.op, inst.type, {operands.data(), static_cast<size_t>(operand_count(inst))}));
      }
      case InstKind::kLoad:
        return load();
      case InstKind::kStore:
        return store();
      case InstKind::kLoadLocal:
      case InstKind::kStoreLocal:
        return local();
      case InstKind::kReduce:
        state.folds[0].take(operand(0), is_arg_reduce(inst.reduce) ? as_int(operand(1)) : 0);
        // In a stage without inner axes the result is known to the lines below already.
        return stage.inner.empty() ? define(*state.folds[0].result()) : Status();
      case InstKind::kScan: {
        Fold& fold = state.folds[scan_state(stage)];
        fold.take(operand(0), 0);
        return define(*fold.result());
      }
      case InstKind::kWrapIndex:
      case InstKind::kCheckIndex:
        return index();
    }
    return {};
  }

  Scalar operand(int k) const { return values_[line_->inst.operands[k].index()]; }

  Status define(Scalar scalar) {
    values_[line_->result.index()] = scalar;
    return {};
  }

  // Which of a scan's folds belongs to this point of the other inner axes.
  size_t scan_state(const Stage& stage) {
    int64_t index = 0;
    for (size_t k = 0; k < stage.inner.size(); ++k)
      if (stage.inner[k].symbol != line_->inst.axis)
        index = index * inner_extents_[stage_][k] + axis_values_[stage.inner[k].symbol];
    return static_cast<size_t>(index);
  }

  Status load() {
    const Inst& inst = line_->inst;
    JUMAR_ASSIGN(bool takes, guard());
    if (!takes) return define(scalar_of_constant(inst.constant, inst.type));
    JUMAR_ASSIGN(BufferMemory * memory, context_.memory(inst.buffer));
    JUMAR_ASSIGN(int64_t element, value(inst.address));
    access_.kind = Access::Kind::kRead;
    if (auto wrong = memory->check(element, access_)) return fault(wrong->code, wrong->message);
    return define(memory->load(element));
  }

  Status store() {
    const Inst& inst = line_->inst;
    JUMAR_ASSIGN(bool takes, guard());
    if (!takes) return {};
    JUMAR_ASSIGN(BufferMemory * memory, context_.memory(inst.buffer));
    JUMAR_ASSIGN(int64_t element, value(inst.address));
    access_.kind = access_kind(inst.mode);
    if (auto wrong = memory->check(element, access_)) return fault(wrong->code, wrong->message);
    Scalar stored = operand(0);
    if (inst.mode != StoreMode::kSet) stored = merged(inst.mode, memory->load(element), stored);
    memory->store(element, stored);
    return {};
  }

  // Low-precision floats are merged in f32 and rounded.
  static Scalar merged(StoreMode mode, Scalar there, Scalar stored) {
    ScalarOp op = mode == StoreMode::kAdd   ? ScalarOp::kAdd
                  : mode == StoreMode::kMul ? ScalarOp::kMul
                  : mode == StoreMode::kMax ? ScalarOp::kMax
                                            : ScalarOp::kMin;
    ir::DType type = ir::is_low_precision(stored.type) ? ir::DType::kF32 : stored.type;
    Scalar operands[] = {converted(there, type), converted(stored, type)};
    return converted(evaluate(op, type, operands), stored.type);
  }

  Status local() {
    const Inst& inst = line_->inst;
    JUMAR_ASSIGN(int64_t element, value(inst.address));
    LocalMemory& memory = locals_[inst.local];
    if (element < 0 || element >= static_cast<int64_t>(memory.size()))
      return fault("bounds", fmt::format("element {} of a local of {}", element, memory.size()));
    if (inst.kind == InstKind::kStoreLocal) {
      memory[element] = operand(0);
      return {};
    }
    if (!memory[element])
      return fault("poison", fmt::format("element {} is read and was never written", element));
    return define(*memory[element]);
  }

  Status index() {
    JUMAR_ASSIGN(int64_t size, value(line_->inst.address));
    int64_t given = as_int(operand(0));
    bool wraps = line_->inst.kind == InstKind::kWrapIndex && given < 0;
    int64_t found =
        wraps ? static_cast<int64_t>(static_cast<uint64_t>(given) + static_cast<uint64_t>(size)) : given;
    if (found < 0 || found >= size)
      return fault("index", fmt::format("index {} is out of range for size {}", given, size));
    return define(scalar_of_int(found, ir::DType::kI64));
  }

  Result<bool> guard() {
    if (!line_->inst.guard) return true;
    JUMAR_ASSIGN(int64_t holds, value(line_->inst.guard));
    return holds != 0;
  }

  std::optional<int64_t> symbol_value(Expr symbol) const {
    if (symbol.is_symbol(sym::SymbolKind::kValue)) return as_int(values_[value_of_symbol(symbol).index()]);
    const auto& table = symbol.is_symbol(sym::SymbolKind::kAxis) ? axis_values_ : context_.symbols;
    auto found = table.find(symbol);
    return found == table.end() ? std::nullopt : std::optional(found->second);
  }

  Result<int64_t> value(Expr e) {
    if (std::optional<int64_t> constant = e.as_const()) return *constant;
    Result<int64_t> result = sym::evaluate(e, value_of_);
    if (!result.ok()) return fault("overflow", result.error().message);
    return result;
  }

  // kernel @k0, nest 0, stage 1, `%0: f32 = load %x[i0 + r1]` at (i0 = 3, r1 = 2): ...
  Diagnostic fault(std::string code, const std::string& message) const {
    std::string point;
    auto add = [&](const Axis& axis) {
      auto found = axis_values_.find(axis.symbol);
      if (found == axis_values_.end()) return;
      point += fmt::format("{}{} = {}", point.empty() ? "" : ", ", axis.symbol.symbol_name(), found->second);
    };
    std::string place = fmt::format("kernel @{}, nest {}", context_.kernel, context_.nest_index);
    if (line_) {
      for (const Axis& axis : nest_.kept) add(axis);
      for (const Axis& axis : nest_.stages[stage_].inner) add(axis);
      place += fmt::format(", stage {}, `{}` at ({})", stage_, line_text(context_.program, *line_), point);
    }
    return diagnostic(std::move(code), "{}: {}", place, message);
  }

  const NestContext& context_;
  const Nest& nest_;
  std::vector<Scalar> values_;
  std::vector<LocalMemory> locals_;
  std::vector<int64_t> kept_extents_;
  std::vector<std::vector<int64_t>> inner_extents_;  // per stage
  std::vector<std::vector<LineState>> states_;       // per stage and line
  std::unordered_map<Expr, int64_t> axis_values_;
  std::function<std::optional<int64_t>(Expr)> value_of_;
  Access access_;
  size_t stage_ = 0;
  const Stage::Line* line_ = nullptr;
};

}  // namespace

Result<uint64_t> run_nest(const NestContext& context, const Nest& nest) {
  return NestRunner(context, nest).run();
}

}  // namespace jumar::loop
