#include "runtime/sim/buffers.h"

#include <mlir/Dialect/Linalg/IR/Linalg.h>
#include <mlir/Dialect/MemRef/IR/MemRef.h>
#include <mlir/Dialect/SCF/IR/SCF.h>
#include <mlir/IR/Builders.h>

#include "runtime/sim/messages.h"

namespace jumar::runtime::sim {

namespace memref = mlir::memref;
using llvm::SmallVector;
using mlir::MemRefType;
using mlir::OpBuilder;
using mlir::Value;

namespace {

// A place of its own for a buffer of this type; null where none of that layout can be had.
Value make_slot(OpBuilder& at_start, mlir::Location loc, MemRefType type) {
  if (!type.hasStaticShape()) return {};
  auto plain = MemRefType::get(type.getShape(), type.getElementType());
  Value slot = at_start.create<memref::AllocOp>(loc, plain);
  if (plain == type) return slot;
  if (!memref::CastOp::areCastCompatible(plain, type)) return {};
  return at_start.create<memref::CastOp>(loc, type, slot);
}

// Copies operand `numbers` of a loop's terminator into slots and hands the slots on. What is copied may itself
// be a slot of the same loop, so several go through places in between.
Status copy_operands(mlir::func::FuncOp kernel, mlir::Operation* terminator, llvm::ArrayRef<unsigned> numbers) {
  OpBuilder start(&kernel.front(), kernel.front().begin());
  OpBuilder b(terminator);
  mlir::Location loc = terminator->getLoc();
  SmallVector<Value> slots, between;
  for (unsigned number : numbers) {
    auto type = mlir::cast<MemRefType>(terminator->getOperand(number).getType());
    slots.push_back(make_slot(start, loc, type));
    between.push_back(numbers.size() > 1 ? make_slot(start, loc, type) : Value());
    if (!slots.back()) {
      Diagnostic error = diagnostic("unsupported", "a loop carries a tensor whose size is not constant");
      error.where = place(loc);
      return error;
    }
  }
  for (size_t i = 0; i < numbers.size(); ++i) {
    Value from = terminator->getOperand(numbers[i]);
    b.create<mlir::linalg::CopyOp>(loc, from, between[i] ? between[i] : slots[i]);
  }
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (between[i]) b.create<mlir::linalg::CopyOp>(loc, between[i], slots[i]);
    terminator->setOperand(numbers[i], slots[i]);
  }
  return {};
}

SmallVector<unsigned> carried_by(mlir::scf::ForOp loop) {
  SmallVector<unsigned> numbers;
  for (unsigned i = 0; i < loop.getNumRegionIterArgs(); ++i) {
    Value yielded = loop.getYieldedValues()[i];
    if (mlir::isa<MemRefType>(yielded.getType()) && yielded != loop.getRegionIterArg(i)) numbers.push_back(i);
  }
  return numbers;
}

SmallVector<unsigned> carried_by(mlir::scf::WhileOp loop) {
  SmallVector<unsigned> numbers;
  mlir::ValueRange yielded = loop.getYieldOp().getOperands(), passed = loop.getConditionOp().getArgs();
  for (unsigned i = 0; i < yielded.size(); ++i) {
    if (!mlir::isa<MemRefType>(yielded[i].getType())) continue;
    auto argument = mlir::dyn_cast<mlir::BlockArgument>(yielded[i]);
    bool unchanged = argument && argument.getOwner() == loop.getAfterBody() &&
                     passed[argument.getArgNumber()] == loop.getBeforeArguments()[i];
    if (!unchanged) numbers.push_back(i);
  }
  return numbers;
}

}  // namespace

Status copy_carried_buffers(mlir::func::FuncOp kernel) {
  SmallVector<mlir::scf::ForOp> for_loops;
  SmallVector<mlir::scf::WhileOp> while_loops;
  kernel.walk([&](mlir::Operation* op) {
    if (auto loop = mlir::dyn_cast<mlir::scf::ForOp>(op)) for_loops.push_back(loop);
    if (auto loop = mlir::dyn_cast<mlir::scf::WhileOp>(op)) while_loops.push_back(loop);
  });
  for (mlir::scf::ForOp loop : for_loops) {
    SmallVector<unsigned> numbers = carried_by(loop);
    if (!numbers.empty()) {
      JUMAR_RETURN_IF_ERROR(copy_operands(kernel, loop.getBody()->getTerminator(), numbers));
    }
  }
  for (mlir::scf::WhileOp loop : while_loops) {
    SmallVector<unsigned> numbers = carried_by(loop);
    if (!numbers.empty()) JUMAR_RETURN_IF_ERROR(copy_operands(kernel, loop.getYieldOp(), numbers));
  }
  return {};
}

void place_buffers(mlir::func::FuncOp kernel) {
  SmallVector<memref::AllocOp> allocations;
  SmallVector<memref::DeallocOp> releases;
  kernel.walk([&](mlir::Operation* op) {
    if (auto allocation = mlir::dyn_cast<memref::AllocOp>(op)) allocations.push_back(allocation);
    if (auto release = mlir::dyn_cast<memref::DeallocOp>(op)) releases.push_back(release);
  });
  for (memref::DeallocOp release : releases) release.erase();
  OpBuilder start(kernel.getContext());
  for (memref::AllocOp allocation : allocations) {
    if (!allocation.getType().hasStaticShape()) {
      allocation.removeAlignmentAttr();
      continue;
    }
    start.setInsertionPointToStart(&kernel.front());
    Value place = start.create<memref::AllocaOp>(allocation.getLoc(), allocation.getType());
    allocation.getResult().replaceAllUsesWith(place);
    allocation.erase();
  }
}

}  // namespace jumar::runtime::sim
