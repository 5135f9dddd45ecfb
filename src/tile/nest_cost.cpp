#include "tile/nest_cost.h"

#include <algorithm>
#include <cmath>

#include "loop/walk.h"
#include "tile/quotients.h"
#include "tile/transpose.h"

namespace jumar::tile {

using ir::DType;
using loop::Inst;
using loop::InstKind;
using loop::Nest;
using loop::ScalarOp;
using loop::Stage;
using sym::Expr;

namespace {

// One element with its address; as many for each lane that lies by itself.
constexpr double kScalarAccess = 2;

double op_work(const Inst& inst) {
  switch (inst.op) {
    case ScalarOp::kDiv:
    case ScalarOp::kSqrt:
    case ScalarOp::kRsqrt:
    case ScalarOp::kReciprocal:
      return 4;
    case ScalarOp::kTruncDiv:
    case ScalarOp::kFloorDiv:
    case ScalarOp::kFmod:
    case ScalarOp::kRemainder:
      return ir::is_float(inst.type) ? 12 : 30;
    case ScalarOp::kCast:
    case ScalarOp::kDemote:
      return 2;
    default:
      break;
  }
  const bool math = inst.op >= ScalarOp::kExp && inst.op <= ScalarOp::kPow;
  return math ? 12 : 1;
}

// Work of an access whose lanes' addresses lie so: the same, next to each other, reversed, a few apart, far
// apart. Lanes that are far apart also need a cache line each.
double access_work(const loop::Program& program, const sym::Facts& facts, Expr address, Expr axis,
                   uint32_t lanes, const std::vector<bool>& varying) {
  constexpr double kSame = 0.3, kReversed = 1.5;
  const double far = kScalarAccess * lanes;
  sym::Context& cx = program.cx();
  bool indirect = false;
  for (Expr symbol : sym::symbols_of(address)) {
    if (symbol.is_symbol(sym::SymbolKind::kValue)) indirect |= varying[loop::value_of_symbol(symbol).index()];
  }
  if (indirect) return far;
  if (!sym::mentions(address, axis)) return kSame;
  address = with_common_quotients(cx, address, axis, lanes, facts, [&](Expr) { return cx.constant(0); });
  const std::optional<sym::Linear> linear = sym::linear_in(cx, address, axis);
  if (!linear || !linear->coefficient.is_const()) return far + (linear ? 0 : lanes);
  const int64_t stride = linear->coefficient.const_value();
  if (stride == 0) return kSame;
  if (stride == 1) return 1;
  if (stride == -1) return kReversed;
  if (stride >= 2 && stride <= 4) return 1.5 * static_cast<double>(stride);
  return stride >= -8 && stride <= 16 ? 1.2 * lanes : far;
}

bool expr_varies(Expr e, Expr axis, const std::vector<bool>& varying) {
  for (Expr symbol : sym::symbols_of(e)) {
    if (symbol == axis) return true;
    if (symbol.is_symbol(sym::SymbolKind::kValue) && varying[loop::value_of_symbol(symbol).index()])
      return true;
  }
  return false;
}

}  // namespace

bool has_fold(const Stage& stage) {
  return std::ranges::any_of(stage.body, [](const Stage::Line& line) {
    return line.inst.kind == InstKind::kReduce || line.inst.kind == InstKind::kScan;
  });
}

std::vector<bool> varying_values(const Nest& nest, Expr axis) {
  std::vector<bool> varying(nest.value_count);
  const bool kept = std::ranges::any_of(nest.kept, [&](const loop::Axis& k) { return k.symbol == axis; });
  for (const Stage& stage : nest.stages) {
    for (const Stage::Line& line : stage.body) {
      if (!line.inst.defines_value()) continue;
      // Folding over the stage's own axis leaves one value.
      if (line.inst.kind == InstKind::kReduce && !kept) continue;
      bool varies = line.inst.kind == InstKind::kLoadLocal && kept;
      loop::for_each_use(line.inst, [&](loop::ValueId id) { varies = varies || varying[id.index()]; });
      loop::for_each_expr(line.inst, [&](Expr e) { varies = varies || expr_varies(e, axis, varying); });
      varying[line.result.index()] = varies;
    }
  }
  return varying;
}

uint32_t natural_lanes(const Nest& nest, const CpuModel& model) {
  int64_t real = 0;
  int64_t integer = 0;
  int64_t moved = 0;
  for (const Stage& stage : nest.stages) {
    for (const Stage::Line& line : stage.body) {
      const DType type = line.inst.type;
      const int64_t bytes = ir::dtype_bytes(type);
      const bool computes = line.inst.kind == InstKind::kOp || line.inst.kind == InstKind::kReduce ||
                            line.inst.kind == InstKind::kScan;
      if (computes && ir::is_float(type) && bytes >= 4) real = std::max(real, bytes);
      if (computes && ir::is_integer(type)) integer = std::max(integer, bytes);
      if (line.inst.kind == InstKind::kLoad || line.inst.kind == InstKind::kStore)
        moved = std::max(moved, bytes);
    }
  }
  const int64_t bytes = real != 0 ? real : integer != 0 ? integer : std::max<int64_t>(moved, 1);
  return static_cast<uint32_t>(model.vector_bytes / std::max<int64_t>(bytes, 2));
}

double round_work(const loop::Program& program, const Nest& nest, const Stage& stage, Expr axis,
                  uint32_t lanes, Expr by) {
  constexpr double kTransposed = 5;
  const std::vector<bool> varying = axis ? varying_values(nest, axis) : std::vector<bool>(nest.value_count);
  sym::Facts facts = program.facts();
  for (const loop::Axis& kept : nest.kept) facts.set_extent(kept.symbol, kept.extent);
  for (const loop::Axis& inner : stage.inner) facts.set_extent(inner.symbol, inner.extent);
  double work = 0.5;
  for (const Stage::Line& line : stage.body) {
    const Inst& inst = line.inst;
    switch (inst.kind) {
      case InstKind::kOp:
        // What is the same for all lanes leaves the loop, or runs beside the vectors.
        work += axis && !varying[line.result.index()] ? 0.1 : op_work(inst);
        break;
      case InstKind::kLoad:
      case InstKind::kStore: {
        if (!axis) {
          work += kScalarAccess + (inst.guard ? 1 : 0);
          break;
        }
        if (by && is_transposed_load(program.cx(), inst, axis, by)) {
          work += kTransposed;
          break;
        }
        const double access = access_work(program, facts, inst.address, axis, lanes, varying);
        const bool folds = inst.kind == InstKind::kStore && inst.mode != loop::StoreMode::kSet;
        // Stores that fold go one lane after the other unless lanes are neighbours.
        work += folds && access != 1 ? 4.0 * lanes : access;
        if (inst.guard && expr_varies(inst.guard, axis, varying)) work += 2;
        break;
      }
      case InstKind::kReduce:
      case InstKind::kScan:
        work += loop::is_arg_reduce(inst.reduce) && inst.kind == InstKind::kReduce ? 8 : 1;
        break;
      case InstKind::kWrapIndex:
      case InstKind::kCheckIndex:
        work += 3;
        break;
      case InstKind::kLoadLocal:
      case InstKind::kStoreLocal:
        work += 1;
        break;
      default:
        break;
    }
  }
  return work;
}

double rounds(int64_t points, uint32_t lanes, const CpuModel& model) {
  if (lanes == 1) return static_cast<double>(points);
  const int64_t full = points / lanes;
  const int64_t rest = points % lanes;
  return static_cast<double>(full) + (rest == 0 ? 0.0 : model.cheap_masks ? 1.5 : static_cast<double>(rest));
}

}  // namespace jumar::tile
