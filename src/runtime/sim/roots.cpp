#include "runtime/sim/roots.h"

#include <mlir/Dialect/Arith/IR/Arith.h>
#include <mlir/Dialect/MemRef/IR/MemRef.h>
#include <mlir/Dialect/SCF/IR/SCF.h>
#include <mlir/Interfaces/ViewLikeInterface.h>

#include <algorithm>

namespace jumar::runtime::sim {

using llvm::SmallVector;
using mlir::Value;

namespace {

bool step_back_argument(mlir::BlockArgument argument, llvm::SmallVectorImpl<Value>& sources) {
  mlir::Operation* parent = argument.getOwner()->getParentOp();
  unsigned number = argument.getArgNumber();
  if (auto loop = mlir::dyn_cast<mlir::scf::ForOp>(parent)) {
    if (number == 0) return false;
    sources.push_back(loop.getInitArgs()[number - 1]);
    sources.push_back(loop.getYieldedValues()[number - 1]);
    return true;
  }
  if (auto loop = mlir::dyn_cast<mlir::scf::WhileOp>(parent)) {
    if (argument.getOwner() == loop.getBeforeBody()) {
      sources.push_back(loop.getInits()[number]);
      sources.push_back(loop.getYieldOp().getOperand(number));
    } else {
      sources.push_back(loop.getConditionOp().getArgs()[number]);
    }
    return true;
  }
  return false;
}

bool step_back_result(mlir::OpResult result, llvm::SmallVectorImpl<Value>& sources) {
  mlir::Operation* op = result.getOwner();
  unsigned number = result.getResultNumber();
  if (auto view = mlir::dyn_cast<mlir::ViewLikeOpInterface>(op)) {
    sources.push_back(view.getViewSource());
  } else if (auto metadata = mlir::dyn_cast<mlir::memref::ExtractStridedMetadataOp>(op)) {
    sources.push_back(metadata.getSource());
  } else if (auto transpose = mlir::dyn_cast<mlir::memref::TransposeOp>(op)) {
    sources.push_back(transpose.getIn());
  } else if (auto select = mlir::dyn_cast<mlir::arith::SelectOp>(op)) {
    sources.push_back(select.getTrueValue());
    sources.push_back(select.getFalseValue());
  } else if (auto loop = mlir::dyn_cast<mlir::scf::ForOp>(op)) {
    sources.push_back(loop.getInitArgs()[number]);
    sources.push_back(loop.getYieldedValues()[number]);
  } else if (auto loop = mlir::dyn_cast<mlir::scf::WhileOp>(op)) {
    sources.push_back(loop.getConditionOp().getArgs()[number]);
  } else if (auto branch = mlir::dyn_cast<mlir::scf::IfOp>(op)) {
    sources.push_back(branch.thenYield().getOperand(number));
    sources.push_back(branch.elseYield().getOperand(number));
  } else {
    return false;
  }
  return true;
}

// The buffers that `value` may be, one step back; false where that is not known.
bool step_back(Value value, llvm::SmallVectorImpl<Value>& sources) {
  if (auto argument = mlir::dyn_cast<mlir::BlockArgument>(value)) return step_back_argument(argument, sources);
  return step_back_result(mlir::cast<mlir::OpResult>(value), sources);
}

}  // namespace

std::optional<Root> find_root(mlir::func::FuncOp kernel, Value buffer) {
  SmallVector<Value> todo = {buffer};
  llvm::DenseSet<Value> seen;
  std::optional<unsigned> argument;
  bool allocated = false, unknown_size = false;
  int64_t elements = INT64_MAX;
  while (!todo.empty()) {
    Value value = todo.pop_back_val();
    if (!seen.insert(value).second) continue;
    auto block_argument = mlir::dyn_cast<mlir::BlockArgument>(value);
    if (block_argument && block_argument.getOwner() == &kernel.front()) {
      if (argument && *argument != block_argument.getArgNumber()) return std::nullopt;
      argument = block_argument.getArgNumber();
    } else if (mlir::isa_and_nonnull<mlir::memref::AllocOp, mlir::memref::AllocaOp>(value.getDefiningOp())) {
      allocated = true;
      auto type = mlir::cast<mlir::MemRefType>(value.getType());
      if (type.hasStaticShape()) {
        elements = std::min(elements, type.getNumElements());
      } else {
        unknown_size = true;
      }
    } else if (!step_back(value, todo)) {
      return std::nullopt;
    }
  }
  if (argument.has_value() == allocated) return std::nullopt;
  Root root{argument, std::nullopt};
  if (allocated && !unknown_size) root.elements = elements;
  return root;
}

}  // namespace jumar::runtime::sim
