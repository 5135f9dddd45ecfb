#include "tile/npu/lower_nest.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "tile/axes.h"
#include "tile/npu/lower_access.h"
#include "tile/npu/transfers.h"

namespace jumar::tile::npu {

using ir::DType;
using loop::Inst;
using loop::InstKind;

namespace {

class NestLowering {
 public:
  NestLowering(const loop::Program& program, const PreparedNest& prepared, const NestTiling& tiling,
               Arguments& arguments, BlockKernel& kernel, BlockNest& out)
      : program_(program),
        cx_(program.cx()),
        nest_(prepared.nest),
        tiling_(tiling),
        arguments_(arguments),
        kernel_(kernel),
        out_(out),
        builder_(cx_, axes_made()),
        scalars_(builder_, tiling.divides_i32),
        accesses_(program, builder_, scalars_, arguments, kernel, prepared) {}

  std::optional<std::string> run() {
    open_kept_loops();
    place_windows();
    for (const loop::Stage& stage : nest_.stages) {
      if (!lower(stage)) return refusal_;
    }
    while (builder_.open_loops() > 0) builder_.close_loop();
    return std::nullopt;
  }

 private:
  BlockNest& axes_made();
  void open_kept_loops();
  void place_windows();
  // The greatest number below a count.
  int64_t most_of(Expr count) const {
    return std::clamp<int64_t>(sym::bounds(count, arguments_.size_facts()).hi - 1, 0, kMostExtent);
  }
  Expr blocks_of(const AxisTiling& axis) { return cx_.ceildiv(axis.extent, cx_.constant(axis.size)); }

  bool lower(const loop::Stage& stage);
  bool lower_line(const loop::Stage& stage, const loop::Stage::Line& line);
  BlockId value_of(const Inst& inst, const loop::Stage& stage);
  BlockId op_of(const Inst& inst);
  BlockId load_of(const Inst& inst);
  bool store(const Inst& inst);
  BlockId wrapped(const Inst& inst);
  BlockId reduced(const Inst& inst, const loop::Stage& stage);
  BlockId folded(loop::ReduceKind kind, BlockId value, const loop::Stage& stage);
  BlockId first_extreme(const Inst& inst, const loop::Stage& stage);
  BlockId finished(loop::ReduceKind kind, BlockId value, AxisSet inner);
  BlockId last_product(BlockId value, AxisSet inner);
  BlockId arg_of(loop::ReduceKind kind, BlockId values, BlockId places, AxisSet inner);
  BlockId scanned(const Inst& inst, const loop::Stage& stage);
  BlockId continued(const Inst& inst, BlockId block, BlockId scan, uint32_t axis);

  // Of a stage: its axes that are dimensions of blocks; whether its points reach beyond an extent.
  AxisSet inner_axes(const loop::Stage& stage) const;
  BlockId inside(const loop::Stage& stage);
  std::optional<uint32_t> position(Expr axis) const;
  bool is_stored_here(loop::BufferId buffer) const;

  BlockId refuse(std::string why) {
    if (refusal_.empty()) refusal_ = std::move(why);
    return {};
  }

  const loop::Program& program_;
  sym::Context& cx_;
  const loop::Nest& nest_;
  const NestTiling& tiling_;
  Arguments& arguments_;
  BlockKernel& kernel_;
  BlockNest& out_;
  BlockBuilder builder_;
  ScalarLowering scalars_;
  AccessLowering accesses_;
  std::map<loop::ValueId, ScalarLowering::Typed> values_;
  // What has been stored by a plain store that later stages can see.
  struct Stored {
    loop::BufferId buffer;
    std::optional<uint32_t> local;
    Expr address;
    BlockId value;
    DType dtype;
  };
  std::vector<Stored> stored_;
  struct Fold {
    loop::ValueId result;
    Inst inst;
    std::vector<BlockId> insides;  // by stage loop, outermost first
    std::vector<BlockId> places;   // of arg-reductions
    bool is_logical = false;       // the values are 0 and 1
  };
  std::vector<Fold> folds_;
  uint32_t stage_level_ = 0;  // loops that were open when the stage began
  std::string refusal_;
};

BlockNest& NestLowering::axes_made() {
  for (const AxisTiling& axis : tiling_.axes) {
    BlockAxis made;
    made.symbol = axis.symbol;
    made.extent = arguments_.extent(axis.extent);
    made.size = axis.size;
    made.is_scalar = axis.is_scalar;
    made.is_inner = axis.is_inner;
    made.is_exact = sym::proves_divisible(cx_, axis.extent, cx_.constant(axis.size), arguments_.size_facts());
    made.first = cx_.constant(0);
    // The last block may reach beyond the extent.
    kernel_.facts.set_range(axis.symbol, {0, most_of(axis.extent) + axis.size});
    out_.axes.push_back(std::move(made));
  }
  return out_;
}

// for t in the program's share: one round is one block of each task axis; then a loop for each other kept
// axis that one block does not cover. Shares differ by one task at most, so that no core waits where there
// are as many tasks as cores.
void NestLowering::open_kept_loops() {
  Expr tasks = cx_.constant(1);
  struct Counted {
    size_t axis;
    Expr blocks;
  };
  std::vector<Counted> counted;
  for (const loop::Axis& kept : nest_.kept) {
    const uint32_t k = *position(kept.symbol);
    const AxisTiling& axis = tiling_.axes[k];
    if (!axis.in_tasks) continue;
    counted.push_back({k, sym::simplified(cx_, blocks_of(axis), arguments_.size_facts())});
    tasks = cx_.mul(tasks, counted.back().blocks);
  }
  out_.tasks = sym::simplified(cx_, tasks, arguments_.size_facts());
  const auto argument = [&](Expr e) {
    return arguments_.extent(sym::simplified(cx_, e, arguments_.size_facts()));
  };
  const Expr share = argument(cx_.floordiv(out_.tasks, vector_cores(cx_)));
  const Expr left = argument(cx_.mod(out_.tasks, vector_cores(cx_)));
  const Expr pid = program_id(cx_);
  kernel_.facts.set_range(pid, {0, 65534});
  const Expr task = cx_.symbol(sym::SymbolKind::kAxis, fmt::format("t{}", kernel_.nests.size()));
  const Expr task_count = arguments_.extent(out_.tasks);
  const auto first_of = [&](Expr program) {
    return cx_.add(cx_.mul(program, share), cx_.min(program, left));
  };
  builder_.open_loop(task, first_of(pid), first_of(cx_.add(pid, 1)));
  kernel_.facts.set_range(task, {0, most_of(out_.tasks)});
  sym::Facts facts = kernel_.facts;
  facts.set_extent(task, task_count);
  Expr rest = task;
  for (size_t j = counted.size(); j-- > 0;) {
    BlockAxis& axis = out_.axes[counted[j].axis];
    const Expr blocks = arguments_.extent(counted[j].blocks);
    Expr number = j == 0 ? rest : cx_.mod(rest, blocks);
    number = sym::simplified(cx_, number, facts);
    rest = cx_.floordiv(rest, blocks);
    axis.first = cx_.mul(number, axis.size);
    builder_.set_axis_level(axis.symbol, counted[j].blocks.is_const(1) ? 0 : builder_.level_of(number));
  }
  for (const loop::Axis& kept : nest_.kept) {
    const uint32_t k = *position(kept.symbol);
    const AxisTiling& axis = tiling_.axes[k];
    if (axis.in_tasks) continue;
    const Expr blocks = sym::simplified(cx_, blocks_of(axis), arguments_.size_facts());
    if (blocks.is_const(1)) continue;
    const Expr loop = cx_.symbol(sym::SymbolKind::kAxis, fmt::format("k{}_{}", kernel_.nests.size(), k));
    builder_.open_loop(loop, cx_.constant(0), arguments_.extent(blocks));
    kernel_.facts.set_range(loop, {0, most_of(blocks)});
    out_.axes[k].first = cx_.mul(loop, axis.size);
    builder_.set_axis_level(axis.symbol, builder_.open_loops());
  }
}

// A window's axis goes with its kept axis.
void NestLowering::place_windows() {
  for (uint32_t k = 0; k < tiling_.axes.size(); ++k) {
    const std::optional<Window>& window = tiling_.axes[k].window;
    if (!window) continue;
    const BlockAxis& kept = out_.axes[*position(window->kept)];
    out_.axes[k].first = cx_.mul(kept.first, window->step);
    out_.axes[k].is_exact = kept.is_exact;
    builder_.set_axis_level(out_.axes[k].symbol, builder_.level_of(kept.first));
  }
}

std::optional<uint32_t> NestLowering::position(Expr axis) const {
  for (uint32_t k = 0; k < tiling_.axes.size(); ++k)
    if (tiling_.axes[k].symbol == axis) return k;
  return std::nullopt;
}

AxisSet NestLowering::inner_axes(const loop::Stage& stage) const {
  AxisSet axes = 0;
  for (const loop::Axis& axis : stage.inner) {
    const uint32_t k = *position(axis.symbol);
    if (!out_.axes[k].is_scalar) axes |= AxisSet{1} << k;
  }
  return axes;
}

bool NestLowering::is_stored_here(loop::BufferId buffer) const {
  for (const loop::Stage& stage : nest_.stages)
    for (const loop::Stage::Line& line : stage.body)
      if (line.inst.kind == InstKind::kStore && line.inst.buffer == buffer) return true;
  return false;
}

bool NestLowering::lower(const loop::Stage& stage) {
  stage_level_ = builder_.open_loops();
  for (const loop::Axis& inner : stage.inner) {
    const uint32_t k = *position(inner.symbol);
    const AxisTiling& axis = tiling_.axes[k];
    const Expr blocks = sym::simplified(cx_, blocks_of(axis), arguments_.size_facts());
    if (blocks.is_const(1)) continue;
    const Expr loop = cx_.symbol(sym::SymbolKind::kAxis, fmt::format("r{}_{}", kernel_.nests.size(), k));
    builder_.open_loop(loop, cx_.constant(0), arguments_.extent(blocks));
    kernel_.facts.set_range(loop, {0, most_of(blocks)});
    out_.axes[k].first = cx_.mul(loop, axis.size);
    builder_.set_axis_level(axis.symbol, builder_.open_loops());
  }
  folds_.clear();
  const bool is_looped = builder_.open_loops() > stage_level_;
  const size_t stored_before = stored_.size();
  for (const loop::Stage::Line& line : stage.body)
    if (!lower_line(stage, line)) return false;
  for (uint32_t level = builder_.open_loops(); level > stage_level_; --level) {
    builder_.close_loop();
    const size_t outer = level - stage_level_ - 1;
    for (Fold& fold : folds_) {
      if (outer == 0) continue;
      builder_.set_next(fold.insides[outer - 1], builder_.carried_result(fold.insides[outer]));
      if (!fold.places.empty())
        builder_.set_next(fold.places[outer - 1], builder_.carried_result(fold.places[outer]));
    }
  }
  if (is_looped) stored_.resize(stored_before);
  const AxisSet inner = inner_axes(stage);
  for (Fold& fold : folds_) {
    const BlockId total = builder_.carried_result(fold.insides[0]);
    BlockId result;
    if (fold.places.empty()) {
      result = finished(fold.inst.reduce, total, inner & builder_.type(total).axes);
      if (fold.is_logical) result = builder_.op(BlockOp::kNeI, result, builder_.integer(0));
    } else {
      result = arg_of(fold.inst.reduce, total, builder_.carried_result(fold.places[0]),
                      inner & builder_.type(total).axes);
    }
    if (!result) return false;
    values_[fold.result] = {result, fold.inst.type};
  }
  return true;
}

bool NestLowering::lower_line(const loop::Stage& stage, const loop::Stage::Line& line) {
  const Inst& inst = line.inst;
  if (inst.kind == InstKind::kStore) return store(inst);
  if (inst.kind == InstKind::kStoreLocal) {
    if (builder_.open_loops() > stage_level_) return refuse("memory of a point in a loop").valid();
    const ScalarLowering::Typed value = values_.at(inst.operands[0]);
    stored_.push_back({{}, inst.local, inst.address, value.value, value.dtype});
    return true;
  }
  const size_t folds = folds_.size();
  const BlockId value = value_of(inst, stage);
  if (folds_.size() > folds) {
    folds_.back().result = line.result;
    return true;
  }
  if (!value) {
    if (refusal_.empty()) refusal_ = scalars_.refusal().empty() ? accesses_.refusal() : scalars_.refusal();
    if (refusal_.empty()) refusal_ = "an operation that blocks lack";
    return false;
  }
  values_[line.result] = {value, inst.type};
  return true;
}

BlockId NestLowering::value_of(const Inst& inst, const loop::Stage& stage) {
  switch (inst.kind) {
    case InstKind::kConst:
      return scalars_.constant(inst.type, inst.constant);
    case InstKind::kIndex:
      return accesses_.index(inst.address, inst.type, values_);
    case InstKind::kParam:
      return builder_.param(arguments_.number(inst.number),
                            ir::is_bool(inst.type) ? DType::kBool : DType::kF32);
    case InstKind::kOp:
      return op_of(inst);
    case InstKind::kLoad:
      return load_of(inst);
    case InstKind::kLoadLocal:
      for (size_t k = stored_.size(); k-- > 0;)
        if (stored_[k].local == inst.local && stored_[k].address == inst.address) return stored_[k].value;
      return refuse("memory of a point that is read at another place than it is written");
    case InstKind::kReduce:
      return reduced(inst, stage);
    case InstKind::kScan:
      return scanned(inst, stage);
    case InstKind::kWrapIndex:
    case InstKind::kCheckIndex:
      return wrapped(inst);
    default:
      return refuse("a store that defines a value");
  }
}

BlockId NestLowering::op_of(const Inst& inst) {
  std::vector<ScalarLowering::Typed> operands;
  const int arity = loop::scalar_op_arity(inst.op);
  for (int k = 0; k < arity; ++k) operands.push_back(values_.at(inst.operands[static_cast<size_t>(k)]));
  return scalars_.lowered(inst.op, operands, inst.type);
}

BlockId NestLowering::load_of(const Inst& inst) {
  const bool stored = is_stored_here(inst.buffer);
  if (stored && !inst.guard) {
    for (size_t k = stored_.size(); k-- > 0;) {
      if (stored_[k].buffer != inst.buffer || stored_[k].local) continue;
      if (stored_[k].address == inst.address) return stored_[k].value;
    }
  }
  // Of a nest beside others, the only task is one program's: all would load what is put before its loop.
  const bool is_alone = out_.tasks.is_const(1) && !kernel_.nests.empty();
  return accesses_.load(inst, values_, stored || is_alone);
}

bool NestLowering::store(const Inst& inst) {
  const ScalarLowering::Typed value = values_.at(inst.operands[0]);
  if (!accesses_.store(inst, value, values_)) {
    refuse(accesses_.refusal());
    return false;
  }
  // A later stage that loads this element has the value already, unless the buffer's type changed it.
  if (inst.mode == loop::StoreMode::kSet && !inst.guard && value.dtype == inst.type)
    stored_.push_back({inst.buffer, std::nullopt, inst.address, value.value, value.dtype});
  return true;
}

BlockId NestLowering::wrapped(const Inst& inst) {
  BlockId value = values_.at(inst.operands[0]).value;
  // What is loaded for points beyond the extents is 0, which every dimension has. Anything else may be
  // outside.
  const bool is_inside = accesses_.is_zero_beyond(value);
  const Expr size = arguments_.lifted(inst.address);
  const sym::Range sizes = sym::bounds(inst.address, arguments_.size_facts());
  if (sizes.hi > INT32_MAX) return refuse("a dimension of more than 2^31 elements");
  if (builder_.type(value).dtype == DType::kI64)
    value = builder_.convert(BlockOp::kTruncI, value, DType::kI32);
  if (inst.kind == InstKind::kWrapIndex) {
    const BlockId negative = builder_.op(BlockOp::kLtI, value, builder_.integer(0));
    const BlockId moved = builder_.op(BlockOp::kAddI, value, builder_.index(size, DType::kI32));
    value = builder_.op(BlockOp::kSelect, negative, moved, value);
  }
  if (const BlockId mask = is_inside ? BlockId() : accesses_.inside(builder_.type(value).axes))
    value = builder_.op(BlockOp::kSelect, mask, value, builder_.integer(0));
  scalars_.set_range(value, {0, std::max<int64_t>(sizes.hi - 1, 0)});
  kernel_.facts.set_range(scalar_symbol(cx_, value), {0, std::max<int64_t>(sizes.hi - 1, 0)});
  return value;
}

// A block of bools over the stage's axes whose last block is not full: true within the extents. Invalid if
// all blocks are full.
BlockId NestLowering::inside(const loop::Stage& stage) {
  BlockId mask;
  for (const loop::Axis& inner : stage.inner) {
    const BlockAxis& axis = out_.axes[*position(inner.symbol)];
    if (axis.is_exact || axis.is_scalar) continue;
    const BlockId one = builder_.index(cx_.lt(axis.symbol, axis.extent), DType::kBool);
    mask = mask ? builder_.op(BlockOp::kAndI, mask, one) : one;
  }
  return mask;
}

BlockId NestLowering::reduced(const Inst& inst, const loop::Stage& stage) {
  const bool is_arg = inst.reduce == loop::ReduceKind::kArgMax || inst.reduce == loop::ReduceKind::kArgMin;
  if (is_arg) return first_extreme(inst, stage);
  const ScalarLowering::Typed typed = values_.at(inst.operands[0]);
  BlockId value = typed.value;
  if (!value) return {};
  if (stage.inner.empty()) return value;
  loop::ReduceKind kind = inst.reduce;
  const bool logical = ir::is_bool(typed.dtype);
  if (logical) {
    value = builder_.op(BlockOp::kSelect, value, builder_.integer(1), builder_.integer(0));
    if (kind == loop::ReduceKind::kAny) kind = loop::ReduceKind::kMax;
    if (kind == loop::ReduceKind::kAll) kind = loop::ReduceKind::kMin;
  }
  // Sums of what is held in 32 bits may need 64.
  const bool grows = kind == loop::ReduceKind::kSum || kind == loop::ReduceKind::kProd;
  if (typed.dtype == DType::kI64 && grows) value = scalars_.wide(value);
  if (kind == loop::ReduceKind::kProd && ir::is_integer(typed.dtype)) return refuse("a product of integers");
  if (ir::is_integer(typed.dtype) && ir::dtype_bytes(typed.dtype) < 4 && grows)
    return refuse("a sum of integers below 32 bits");
  Inst fold = inst;
  fold.reduce = kind;
  const AxisSet inner = inner_axes(stage);
  value = builder_.broadcast(value, (builder_.type(value).axes & ~builder_.unit()) | inner);
  const DType dtype = builder_.type(value).dtype;
  if (const BlockId mask = inside(stage))
    value = builder_.op(BlockOp::kSelect, mask, value, scalars_.identity(kind, dtype));
  if (kind == loop::ReduceKind::kProd && tiling_.has_scalar_products) value = last_product(value, inner);
  if (builder_.open_loops() == stage_level_) {
    const BlockId result = finished(kind, value, inner & builder_.type(value).axes);
    return logical ? builder_.op(BlockOp::kNeI, result, builder_.integer(0)) : result;
  }
  Fold made;
  made.inst = fold;
  made.is_logical = logical;
  BlockId init = builder_.broadcast(scalars_.identity(kind, dtype), builder_.type(value).axes);
  for (uint32_t level = stage_level_ + 1; level <= builder_.open_loops(); ++level) {
    init = builder_.carry(level, init);
    made.insides.push_back(init);
  }
  builder_.set_next(init, scalars_.combined(kind, init, value));
  folds_.push_back(std::move(made));
  return {};
}

BlockId NestLowering::finished(loop::ReduceKind kind, BlockId value, AxisSet inner) {
  for (uint32_t k = static_cast<uint32_t>(out_.axes.size()); k-- > 0;)
    if (inner >> k & 1) value = builder_.reduce(kind, value, k);
  return value;
}

// A product is the last of the running ones: what else is there is left out of a sum, in which x + -0.0 is x.
BlockId NestLowering::last_product(BlockId value, AxisSet inner) {
  const BlockId none = scalars_.constant(builder_.type(value).dtype, {.real = -0.0});
  for (uint32_t k = static_cast<uint32_t>(out_.axes.size()); k-- > 0;) {
    if ((inner >> k & 1) == 0) continue;
    const BlockAxis& axis = out_.axes[k];
    const BlockId products = builder_.scan(loop::ScanKind::kProd, value, k);
    const Expr last = cx_.add(axis.first, axis.size - 1);
    const BlockId is_last = builder_.index(cx_.eq(axis.symbol, last), DType::kBool);
    value = builder_.op(BlockOp::kSelect, is_last, products, none);
    value = builder_.reduce(loop::ReduceKind::kSum, value, k);
  }
  return value;
}

// The least place of the extreme: the extreme first, then the least place that has it. A NaN is the extreme
// of any values that hold one, and equals nothing.
BlockId NestLowering::arg_of(loop::ReduceKind kind, BlockId values, BlockId places, AxisSet inner) {
  const bool is_max = kind == loop::ReduceKind::kArgMax;
  const BlockId extreme = finished(is_max ? loop::ReduceKind::kMax : loop::ReduceKind::kMin, values, inner);
  const bool is_real = ir::is_float(builder_.type(values).dtype);
  BlockId found = builder_.op(is_real ? BlockOp::kEqF : BlockOp::kEqI, values, extreme);
  if (is_real) found = builder_.op(BlockOp::kOrI, found, scalars_.is_nan(values));
  const BlockId candidate = builder_.op(BlockOp::kSelect, found, places, builder_.integer(INT32_MAX));
  return finished(loop::ReduceKind::kMin, candidate, inner);
}

BlockId NestLowering::first_extreme(const Inst& inst, const loop::Stage& stage) {
  const ScalarLowering::Typed typed = values_.at(inst.operands[0]);
  BlockId value = typed.value;
  BlockId place = values_.at(inst.operands[1]).value;
  if (!value || !place) return {};
  if (builder_.type(place).dtype != DType::kI32) return refuse("places beyond 31 bits");
  const AxisSet inner = inner_axes(stage);
  if (ir::is_bool(typed.dtype))
    value = builder_.op(BlockOp::kSelect, value, builder_.integer(1), builder_.integer(0));
  const AxisSet axes = (builder_.type(value).axes & ~builder_.unit()) | inner;
  value = builder_.broadcast(value, axes);
  place = builder_.broadcast(place, axes);
  const DType dtype = builder_.type(value).dtype;
  const BlockId identity = scalars_.identity(inst.reduce, dtype);
  if (const BlockId mask = inside(stage)) {
    value = builder_.op(BlockOp::kSelect, mask, value, identity);
    place = builder_.op(BlockOp::kSelect, mask, place, builder_.integer(INT32_MAX));
  }
  if (builder_.open_loops() == stage_level_) return arg_of(inst.reduce, value, place, inner);
  const bool is_real = ir::is_float(dtype);
  Fold made;
  made.inst = inst;
  BlockId best = builder_.broadcast(identity, axes);
  BlockId at = builder_.broadcast(builder_.integer(INT32_MAX), axes);
  for (uint32_t level = stage_level_ + 1; level <= builder_.open_loops(); ++level) {
    best = builder_.carry(level, best);
    at = builder_.carry(level, at);
    made.insides.push_back(best);
    made.places.push_back(at);
  }
  // Places rise from round to round, so an equal value later on does not matter, except the first one: the
  // identity itself may be a value.
  const bool is_max = inst.reduce == loop::ReduceKind::kArgMax;
  const BlockOp beyond =
      is_real ? (is_max ? BlockOp::kGtF : BlockOp::kLtF) : (is_max ? BlockOp::kGtI : BlockOp::kLtI);
  BlockId better = builder_.op(beyond, value, best);
  const BlockId untouched = builder_.op(BlockOp::kEqI, at, builder_.integer(INT32_MAX));
  better = builder_.op(BlockOp::kOrI, better, untouched);
  if (is_real) {
    const BlockId is_number = builder_.op(BlockOp::kEqF, best, best);
    better =
        builder_.op(BlockOp::kOrI, better, builder_.op(BlockOp::kAndI, scalars_.is_nan(value), is_number));
  }
  builder_.set_next(best, builder_.op(BlockOp::kSelect, better, value, best));
  builder_.set_next(at, builder_.op(BlockOp::kSelect, better, place, at));
  folds_.push_back(std::move(made));
  return {};
}

BlockId NestLowering::scanned(const Inst& inst, const loop::Stage& stage) {
  const ScalarLowering::Typed typed = values_.at(inst.operands[0]);
  if (!typed.value) return {};
  const uint32_t axis = *position(inst.axis);
  const bool is_looped = builder_.open_loops() > stage_level_;
  if (is_looped && stage.inner.size() > 1) return refuse("a scan in loops over several axes");
  if (out_.axes[axis].is_scalar) return refuse("a scan along a scalar axis");
  if (ir::is_low_precision(typed.dtype) || ir::is_bool(typed.dtype)) return refuse("a scan of narrow values");
  if (ir::is_integer(typed.dtype) && ir::dtype_bytes(typed.dtype) < 4)
    return refuse("a scan of integers below 32 bits");
  const BlockId value = typed.dtype == DType::kI64 ? scalars_.wide(typed.value) : typed.value;
  const AxisSet axes = (builder_.type(value).axes & ~builder_.unit()) | AxisSet{1} << axis;
  const BlockId block = builder_.broadcast(value, axes);
  const BlockId scan = builder_.scan(inst.scan, block, axis);
  return is_looped ? continued(inst, block, scan, axis) : scan;
}

// What has been folded in the blocks before goes into every element of a block. The last block may hold
// anything beyond the extent: nothing follows it.
BlockId NestLowering::continued(const Inst& inst, BlockId block, BlockId scan, uint32_t axis) {
  const loop::ReduceKind kind = inst.scan == loop::ScanKind::kSum    ? loop::ReduceKind::kSum
                                : inst.scan == loop::ScanKind::kProd ? loop::ReduceKind::kProd
                                : inst.scan == loop::ScanKind::kMax  ? loop::ReduceKind::kMax
                                                                     : loop::ReduceKind::kMin;
  const DType dtype = builder_.type(block).dtype;
  if (kind == loop::ReduceKind::kProd && ir::is_integer(dtype)) return refuse("a product of integers");
  const BlockId total = builder_.reduce(kind, block, axis);
  const BlockId init = builder_.broadcast(scalars_.identity(kind, dtype), builder_.type(total).axes);
  const BlockId before = builder_.carry(stage_level_ + 1, init);
  builder_.set_next(before, scalars_.combined(kind, before, total));
  return scalars_.combined(kind, builder_.broadcast(before, builder_.type(scan).axes), scan);
}

}  // namespace

std::optional<std::string> add_nest(const loop::Program& program, const PreparedNest& nest,
                                    const NestTiling& tiling, Arguments& arguments, BlockKernel& kernel) {
  BlockNest made;
  if (!kernel.nests.empty()) made.first_value = static_cast<uint32_t>(kernel.nests.back().values.size());
  const std::optional<std::string> refusal =
      NestLowering(program, nest, tiling, arguments, kernel, made).run();
  if (refusal) return refusal;
  if (tiling.has_two_buffers) mark_single_buffers(made, tiling.is_one_round);
  kernel.nests.push_back(std::move(made));
  return refusal;
}

}  // namespace jumar::tile::npu
