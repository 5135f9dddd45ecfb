#include "runtime/sim/guards.h"

#include <mlir/Dialect/Arith/IR/Arith.h>
#include <mlir/Dialect/ControlFlow/IR/ControlFlowOps.h>
#include <mlir/Dialect/LLVMIR/LLVMDialect.h>
#include <mlir/Dialect/Linalg/IR/Linalg.h>
#include <mlir/Dialect/MemRef/IR/MemRef.h>
#include <mlir/Dialect/SCF/IR/SCF.h>

#include <algorithm>

#include "runtime/sim/constants.h"
#include "runtime/sim/messages.h"
#include "runtime/sim/roots.h"

namespace jumar::runtime::sim {

namespace arith = mlir::arith;
namespace memref = mlir::memref;
using llvm::SmallVector;
using mlir::MemRefType;
using mlir::OpBuilder;
using mlir::Value;

namespace {

constexpr const char* kGuard = "jumar.guard";
constexpr const char* kReport = "jumar_sim_report";

void make_guard(OpBuilder& b, mlir::Location loc, llvm::ArrayRef<Value> operands, GuardKind kind,
                int64_t argument) {
  auto call = b.create<mlir::func::CallOp>(loc, kGuard, mlir::TypeRange{}, operands);
  call->setAttr("kind", b.getI64IntegerAttr(kind));
  call->setAttr("argument", b.getI64IntegerAttr(argument));
  call->setAttr("line", b.getI64IntegerAttr(place(loc).line));
}

// Index arithmetic that does at once what can be done at once.
class Arithmetic {
 public:
  Arithmetic(OpBuilder& builder, mlir::Location location) : b(builder), loc(location) {}

  Value constant(int64_t value) { return b.create<arith::ConstantIndexOp>(loc, value); }
  Value add(Value x, Value y) { return b.createOrFold<arith::AddIOp>(loc, x, y); }
  Value mul(Value x, Value y) { return b.createOrFold<arith::MulIOp>(loc, x, y); }
  Value min0(Value x) { return b.createOrFold<arith::MinSIOp>(loc, x, constant(0)); }
  Value max0(Value x) { return b.createOrFold<arith::MaxSIOp>(loc, x, constant(0)); }
  Value both(Value x, Value y) { return b.createOrFold<arith::AndIOp>(loc, x, y); }
  Value either(Value x, Value y) { return b.createOrFold<arith::OrIOp>(loc, x, y); }
  Value compare(arith::CmpIPredicate how, Value x, Value y) {
    return b.createOrFold<arith::CmpIOp>(loc, how, x, y);
  }

  OpBuilder& b;
  mlir::Location loc;
};

// Where a view's elements lie in its root: offset and strides, in elements.
struct Layout {
  Value offset;
  SmallVector<Value, 4> strides;
};

Layout layout_of(Arithmetic& a, Value view) {
  auto type = mlir::cast<MemRefType>(view.getType());
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  bool known = mlir::succeeded(mlir::getStridesAndOffset(type, strides, offset));
  Layout layout;
  bool constant = known && !mlir::ShapedType::isDynamic(offset) &&
                  llvm::none_of(strides, [](int64_t s) { return mlir::ShapedType::isDynamic(s); });
  if (constant) {
    layout.offset = a.constant(offset);
    for (int64_t stride : strides) layout.strides.push_back(a.constant(stride));
    return layout;
  }
  auto metadata = a.b.create<memref::ExtractStridedMetadataOp>(a.loc, view);
  layout.offset = mlir::ShapedType::isDynamic(offset) ? metadata.getOffset() : a.constant(offset);
  for (size_t i = 0; i < strides.size(); ++i) {
    layout.strides.push_back(mlir::ShapedType::isDynamic(strides[i]) ? metadata.getStrides()[i]
                                                                      : a.constant(strides[i]));
  }
  return layout;
}

class Guards {
 public:
  Guards(mlir::func::FuncOp kernel, unsigned first) : kernel_(kernel), first_(first) {}

  Status view(mlir::Operation* op, Value operand, GuardKind kind);
  Status element(mlir::Operation* op, Value operand, mlir::ValueRange indices, GuardKind kind);
  void shapes(mlir::linalg::LinalgOp op);

 private:
  Result<Root> root_of(mlir::Operation* op, Value value);
  Value size_of(Arithmetic& a, const Root& root);
  void emit(Arithmetic& a, const Root& root, Value unless, Value low, Value high, GuardKind kind);

  mlir::func::FuncOp kernel_;
  unsigned first_;
};

Result<Root> Guards::root_of(mlir::Operation* op, Value value) {
  std::optional<Root> root = find_root(kernel_, value);
  if (root) return *root;
  Diagnostic error = diagnostic("unsupported", "memory that may belong to more than one argument");
  error.where = place(op->getLoc());
  return error;
}

// How many elements the root has; null where nobody knows.
Value Guards::size_of(Arithmetic& a, const Root& root) {
  if (root.argument) return a.b.create<memref::DimOp>(a.loc, kernel_.getArgument(*root.argument), 0);
  return root.elements ? a.constant(*root.elements) : Value();
}

void Guards::emit(Arithmetic& a, const Root& root, Value unless, Value low, Value high, GuardKind kind) {
  Value size = size_of(a, root);
  if (!size) return;
  Value inside = a.both(a.compare(arith::CmpIPredicate::sge, low, a.constant(0)),
                        a.compare(arith::CmpIPredicate::slt, high, size));
  if (unless) inside = a.either(unless, inside);
  if (constant_of(inside) && *constant_of(inside) != 0) return;
  int64_t argument = root.argument ? int64_t(*root.argument) - first_ : -1;
  make_guard(a.b, a.loc, {inside, low, high, size}, root.argument ? kind : kBuffer, argument);
}

Status Guards::view(mlir::Operation* op, Value operand, GuardKind kind) {
  JUMAR_ASSIGN(Root root, root_of(op, operand));
  auto type = mlir::cast<MemRefType>(operand.getType());
  OpBuilder b(op);
  Arithmetic a(b, op->getLoc());
  Layout layout = layout_of(a, operand);
  Value low = layout.offset, high = layout.offset, empty;
  for (int64_t i = 0; i < type.getRank(); ++i) {
    Value size = type.isDynamicDim(i) ? b.createOrFold<memref::DimOp>(a.loc, operand, i)
                                      : a.constant(type.getDimSize(i));
    Value span = a.mul(a.add(size, a.constant(-1)), layout.strides[i]);
    low = a.add(low, a.min0(span));
    high = a.add(high, a.max0(span));
    Value none = a.compare(arith::CmpIPredicate::sle, size, a.constant(0));
    empty = empty ? a.either(empty, none) : none;
  }
  emit(a, root, empty, low, high, kind);
  return {};
}

// Whether the index lies in [0, size) without looking: a constant, or the variable of a loop over constants.
bool is_surely_below(Value index, int64_t size) {
  if (std::optional<int64_t> value = constant_of(index)) return *value >= 0 && *value < size;
  if (index.getDefiningOp<mlir::linalg::IndexOp>()) return true;
  auto argument = mlir::dyn_cast<mlir::BlockArgument>(index);
  auto loop = argument ? mlir::dyn_cast<mlir::scf::ForOp>(argument.getOwner()->getParentOp()) : nullptr;
  if (!loop || loop.getInductionVar() != index) return false;
  std::optional<int64_t> lower = constant_of(loop.getLowerBound()), upper = constant_of(loop.getUpperBound());
  return lower && upper && *lower >= 0 && *upper <= size;
}

Status Guards::element(mlir::Operation* op, Value operand, mlir::ValueRange indices, GuardKind kind) {
  JUMAR_ASSIGN(Root root, root_of(op, operand));
  auto type = mlir::cast<MemRefType>(operand.getType());
  if (!root.argument && type.hasStaticShape() && type.getLayout().isIdentity()) {
    bool surely = true;
    for (size_t i = 0; i < indices.size(); ++i) {
      surely = surely && is_surely_below(indices[i], type.getDimSize(static_cast<unsigned>(i)));
    }
    if (surely) return {};
  }
  OpBuilder b(op);
  Arithmetic a(b, op->getLoc());
  Layout layout = layout_of(a, operand);
  Value address = layout.offset;
  for (size_t i = 0; i < indices.size(); ++i) address = a.add(address, a.mul(indices[i], layout.strides[i]));
  emit(a, root, {}, address, address, kind);
  return {};
}

// The operands of an operation must agree about the sizes that it loops over.
void Guards::shapes(mlir::linalg::LinalgOp op) {
  OpBuilder b(op);
  Arithmetic a(b, op->getLoc());
  SmallVector<Value> sizes(op.getNumLoops());
  for (mlir::OpOperand& operand : op->getOpOperands()) {
    auto type = mlir::dyn_cast<MemRefType>(operand.get().getType());
    if (!type) continue;
    mlir::AffineMap map = op.getMatchingIndexingMap(&operand);
    for (unsigned i = 0; i < map.getNumResults(); ++i) {
      auto dim = mlir::dyn_cast<mlir::AffineDimExpr>(map.getResult(i));
      if (!dim) continue;
      Value size = type.isDynamicDim(i) ? b.createOrFold<memref::DimOp>(a.loc, operand.get(), i)
                                        : a.constant(type.getDimSize(i));
      Value& other = sizes[dim.getPosition()];
      if (other && other != size) {
        Value same = a.compare(arith::CmpIPredicate::eq, other, size);
        if (!constant_of(same) || *constant_of(same) == 0) make_guard(b, a.loc, {same, size, size, other}, kShape, -1);
      } else {
        other = size;
      }
    }
  }
}

}  // namespace

void declare_guard(mlir::ModuleOp module) {
  OpBuilder b(module.getBodyRegion());
  mlir::Type index = b.getIndexType(), word = b.getI64Type();
  mlir::Type pointer = mlir::LLVM::LLVMPointerType::get(module.getContext());
  auto guard_type = b.getFunctionType({b.getI1Type(), index, index, index}, {});
  b.create<mlir::func::FuncOp>(module.getLoc(), kGuard, guard_type).setPrivate();
  auto report_type = b.getFunctionType({pointer, word, word, index, index, index, word, word}, {});
  b.create<mlir::func::FuncOp>(module.getLoc(), kReport, report_type).setPrivate();
}

void guard(OpBuilder& b, mlir::Location loc, Value condition, GuardKind kind) {
  Value zero = b.create<arith::ConstantIndexOp>(loc, 0);
  make_guard(b, loc, {condition, zero, zero, zero}, kind, -1);
}

Status insert_guards(mlir::func::FuncOp kernel, unsigned first) {
  SmallVector<mlir::Operation*> ops;
  kernel.walk([&](mlir::Operation* op) {
    if (mlir::isa<mlir::linalg::LinalgOp, memref::LoadOp, memref::StoreOp>(op)) ops.push_back(op);
  });
  Guards guards(kernel, first);
  for (mlir::Operation* op : ops) {
    if (auto load = mlir::dyn_cast<memref::LoadOp>(op)) {
      JUMAR_RETURN_IF_ERROR(guards.element(op, load.getMemRef(), load.getIndices(), kRead));
    } else if (auto store = mlir::dyn_cast<memref::StoreOp>(op)) {
      JUMAR_RETURN_IF_ERROR(guards.element(op, store.getMemRef(), store.getIndices(), kWrite));
    } else {
      auto linalg = mlir::cast<mlir::linalg::LinalgOp>(op);
      for (mlir::OpOperand& operand : op->getOpOperands()) {
        if (!mlir::isa<MemRefType>(operand.get().getType())) continue;
        GuardKind kind = linalg.isDpsInit(&operand) ? kWrite : kRead;
        JUMAR_RETURN_IF_ERROR(guards.view(op, operand.get(), kind));
      }
      guards.shapes(linalg);
    }
  }
  return {};
}

void lower_guards(mlir::func::FuncOp kernel, Value fault, Value block) {
  SmallVector<mlir::func::CallOp> calls;
  kernel.walk([&](mlir::func::CallOp call) {
    if (call.getCallee() == kGuard) calls.push_back(call);
  });
  for (mlir::func::CallOp call : calls) {
    mlir::Location loc = call.getLoc();
    mlir::Block* before = call->getBlock();
    mlir::Block* after = before->splitBlock(call);
    mlir::Block* report = kernel.addBlock();
    OpBuilder b = OpBuilder::atBlockEnd(before);
    b.create<mlir::cf::CondBranchOp>(loc, call.getOperand(0), after, mlir::ValueRange{}, report,
                                     mlir::ValueRange{});
    b.setInsertionPointToEnd(report);
    auto word = [&](const char* name) -> Value {
      return b.create<arith::ConstantOp>(loc, mlir::cast<mlir::IntegerAttr>(call->getAttr(name)));
    };
    SmallVector<Value> operands = {fault,
                                   word("kind"),
                                   word("argument"),
                                   call.getOperand(1),
                                   call.getOperand(2),
                                   call.getOperand(3),
                                   block,
                                   word("line")};
    b.create<mlir::func::CallOp>(loc, kReport, mlir::TypeRange{}, operands);
    b.create<mlir::func::ReturnOp>(loc);
    call.erase();
  }
}

}  // namespace jumar::runtime::sim
