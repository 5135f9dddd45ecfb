#include <llvm/ADT/APFloat.h>

#include <algorithm>

#include "emit/cpu/nest_emitter.h"
#include "loop/walk.h"
#include "support/check.h"
#include "tile/guards.h"

namespace jumar::emit::cpu {

using ir::DType;
using loop::Inst;
using loop::InstKind;
using loop::ScalarOp;
using loop::Stage;
using loop::ValueId;
using sym::Expr;

namespace {

const llvm::fltSemantics& semantics(DType type) {
  switch (type) {
    case DType::kBF16:
      return llvm::APFloat::BFloat();
    case DType::kF16:
      return llvm::APFloat::IEEEhalf();
    case DType::kF8E5M2:
      return llvm::APFloat::Float8E5M2();
    case DType::kF8E4M3FN:
      return llvm::APFloat::Float8E4M3FN();
    case DType::kF8E5M2FNUZ:
      return llvm::APFloat::Float8E5M2FNUZ();
    default:
      CHECK(type == DType::kF8E4M3FNUZ, "{} is no low-precision float", ir::dtype_name(type));
      return llvm::APFloat::Float8E4M3FNUZ();
  }
}

}  // namespace

Value* NestEmitter::constant(DType type, loop::Constant constant) {
  llvm::Type* t = register_type(b_.getContext(), type);
  if (!ir::is_float(type)) return b_.int_of(t, constant.integer);
  if (!ir::is_low_precision(type)) return b_.real_of(t, constant.real);
  llvm::APFloat number(constant.real);
  bool inexact = false;
  number.convert(semantics(type), llvm::APFloat::rmNearestTiesToEven, &inexact);
  return llvm::ConstantInt::get(t, number.bitcastToAPInt());
}

void NestEmitter::define(ValueId id, Value* value) {
  values_[id.index()] = value;
  if (!is_index_[id.index()]) return;
  const bool is_signed = ir::dtype_class(type(id)) == ir::DTypeClass::kSigned;
  llvm::Type* wide = Builder::widened(b_.getInt64Ty(), Builder::width_of(value));
  scope_.bindings[cx_.value(id.index())] = {b_.CreateIntCast(value, wide, is_signed), b_.depth()};
}

// Between the cuts of a vector axis a guard that they decide has one value, that at the lowest point.
Value* NestEmitter::predicate(Expr e) {
  if (!walk_ || !sym::mentions(e, walk_->axis.symbol)) return index_.predicate(e);
  if (!tile::is_decided(cx_, e, walk_->axis.symbol, walk_->axis.extent, walk_->cuts, facts_))
    return index_.predicate(e);
  const Lanes lanes = scope_.lanes;
  scope_.lanes = {lanes.axis, 1, scope_.low, nullptr, false};
  Value* holds = index_.predicate(e);
  scope_.lanes = lanes;
  return holds;
}

Value* NestEmitter::guard(Expr e) {
  if (!e) return nullptr;
  Value* holds = predicate(e);
  const auto* known = llvm::dyn_cast<llvm::ConstantInt>(holds);
  return known && known->isOne() ? nullptr : holds;
}

Value* NestEmitter::load(const Inst& inst) {
  if (const auto square = squares_.find(&inst); square != squares_.end())
    return memory_.to_register(inst.type,
                               memory_.load_at(square->second, square->second.base, square_at_, width()));
  Value* condition = guard(inst.guard);
  if (!condition) return memory_.load(function_.buffer(inst.buffer), inst.address, nullptr, nullptr);
  Value* otherwise = constant(inst.type, inst.constant);
  const auto* known = llvm::dyn_cast<llvm::ConstantInt>(condition);
  if (known && known->isZero()) return otherwise;
  return memory_.load(function_.buffer(inst.buffer), inst.address, condition, otherwise);
}

void NestEmitter::store(const Inst& inst) {
  Value* condition = guard(inst.guard);
  if (const auto* known = llvm::dyn_cast_or_null<llvm::ConstantInt>(condition); known && known->isZero())
    return;
  memory_.store(function_.buffer(inst.buffer), inst.address, value(inst.operands[0]), inst.mode, condition);
}

Value* NestEmitter::checked_index(const Inst& inst) {
  Value* index = value(inst.operands[0]);
  const unsigned lanes = Builder::width_of(index);
  Value* size = index_.value(inst.address);
  Value* sizes = b_.spread(size, lanes);
  Value* result = index;
  if (inst.kind == InstKind::kWrapIndex) {
    Value* negative = b_.CreateICmpSLT(index, b_.int_of(index->getType(), 0));
    result = b_.CreateSelect(negative, b_.CreateAdd(index, sizes), index);
  }
  Value* bad = b_.CreateICmpUGE(result, sizes);
  if (lanes == 1) {
    function_.leave_if(bad, index, size);
    return result;
  }
  if (scope_.lanes.mask) bad = b_.CreateAnd(bad, scope_.lanes.mask);
  b_.when(b_.CreateOrReduce(bad), [&] {
    llvm::Type* bits = b_.getIntNTy(lanes);
    Value* first = b_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, b_.CreateBitCast(bad, bits), b_.getTrue());
    function_.leave_if(b_.getTrue(),
                       b_.CreateExtractElement(index, b_.CreateZExtOrTrunc(first, b_.getInt64Ty())), size);
  });
  return result;
}

Value* NestEmitter::operation(const Stage::Line& line) {
  const Inst& inst = line.inst;
  const bool select = inst.op == ScalarOp::kSelect;
  DType in = type(inst.operands[select ? 1 : 0]);
  Values operands;
  for (int k = 0; k < loop::operand_count(inst); ++k) operands.push_back(value(inst.operands[k]));
  const uint32_t source = inst.operands[0].index();
  if (inst.op == ScalarOp::kDemote && in == DType::kF32 && !function_.program().strict)
    unrounded_[line.result.index()] = operands[0];
  if (inst.op == ScalarOp::kCast && ir::is_low_precision(in) && !ir::is_low_precision(inst.type) &&
      unrounded_[source]) {
    operands[0] = unrounded_[source];
    in = DType::kF32;
  }
  if (inst.op == ScalarOp::kExp && value_facts_.is_nonpositive(inst.operands[0]))
    return scalars_.exp_nonpositive(operands[0]);
  b_.spread_alike(operands);
  return scalars_.op(inst.op, in, inst.type, operands);
}

Value* NestEmitter::evaluated(const Stage::Line& line) {
  const Inst& inst = line.inst;
  switch (inst.kind) {
    case InstKind::kConst:
      return constant(inst.type, inst.constant);
    case InstKind::kIndex: {
      if (inst.type == DType::kBool) return predicate(inst.address);
      Value* index = index_.value(inst.address);
      llvm::Type* t = register_type(b_.getContext(), inst.type);
      return b_.CreateIntCast(index, Builder::widened(t, Builder::width_of(index)), true);
    }
    case InstKind::kParam:
      return function_.number(inst.number);
    case InstKind::kOp:
      return operation(line);
    case InstKind::kLoad:
      return load(inst);
    case InstKind::kLoadLocal:
      return memory_.load(local(inst.local), inst.address, nullptr, nullptr);
    default:
      CHECK(inst.kind == InstKind::kWrapIndex || inst.kind == InstKind::kCheckIndex,
            "a line without a value");
      return checked_index(inst);
  }
}

// One more item for a reduction or scan. Where lanes are points of the folded axis, those that a mask leaves
// out keep their state.
void NestEmitter::fold(const Folding& folding, Values& carried) {
  const auto found = std::ranges::find(classes_, width());
  CHECK(found != classes_.end(), "no state for {} lanes", width());
  const size_t offset = folding.state[static_cast<size_t>(found - classes_.begin())];
  const size_t size = folding.fold.state_size();
  Values items;
  for (size_t k = 0; k < size; ++k) items.push_back(value(folding.inst->operands[k]));
  const Values state(carried.begin() + offset, carried.begin() + offset + size);
  const bool over_lanes = !tiling_.vector_axis;
  Fold step = folding.fold;
  const Values next = step.step(state, items, over_lanes ? scope_.lanes.mask : nullptr);
  std::copy(next.begin(), next.end(), carried.begin() + offset);
  if (folding.inst->kind == InstKind::kScan) define(folding.result, step.result(next));
}

void NestEmitter::run_body(size_t s, Values& carried) {
  const Stage& stage = nest_.stages[s];
  for (const Stage::Line& line : stage.body) {
    switch (line.inst.kind) {
      case InstKind::kStore:
        store(line.inst);
        break;
      case InstKind::kStoreLocal:
        memory_.store(local(line.inst.local), line.inst.address, value(line.inst.operands[0]),
                      loop::StoreMode::kSet, nullptr);
        break;
      case InstKind::kReduce:
      case InstKind::kScan: {
        const auto found = std::ranges::find(foldings_, line.result, &Folding::result);
        if (found != foldings_.end()) {
          fold(*found, carried);
        } else {
          // A reduction of a stage without inner axes is the value, or the position, itself.
          define(line.result, value(line.inst.operands[loop::operand_count(line.inst) - 1]));
        }
        break;
      }
      default:
        define(line.result, evaluated(line));
        break;
    }
  }
}

}  // namespace jumar::emit::cpu
