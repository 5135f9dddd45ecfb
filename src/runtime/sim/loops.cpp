#include "runtime/sim/loops.h"

#include <mlir/Dialect/Linalg/IR/Linalg.h>
#include <mlir/Dialect/Linalg/Passes.h>
#include <mlir/Dialect/Linalg/Transforms/Transforms.h>
#include <mlir/Dialect/MemRef/IR/MemRef.h>
#include <mlir/Pass/PassManager.h>
#include <mlir/Transforms/GreedyPatternRewriteDriver.h>
#include <mlir/Transforms/Passes.h>

namespace jumar::runtime::sim {

namespace linalg = mlir::linalg;

namespace {

// linalg.map as linalg.generic, whose body gets the output as well.
void generalize_map(mlir::IRRewriter& rewriter, linalg::MapOp map) {
  auto type = mlir::cast<mlir::RankedTensorType>(map.getInit().getType());
  auto identity = rewriter.getMultiDimIdentityMap(static_cast<unsigned>(type.getRank()));
  llvm::SmallVector<mlir::AffineMap> maps(map.getInputs().size() + 1, identity);
  llvm::SmallVector<mlir::utils::IteratorType> iterators(type.getRank(), mlir::utils::IteratorType::parallel);
  auto generic = rewriter.create<linalg::GenericOp>(
      map.getLoc(), type, map.getInputs(), mlir::ValueRange{map.getInit()}, maps, iterators,
      [&](mlir::OpBuilder& body, mlir::Location, mlir::ValueRange arguments) {
        mlir::IRMapping values;
        for (auto [from, to] : llvm::zip(map.getMapper().getArguments(), arguments)) values.map(from, to);
        for (mlir::Operation& op : map.getMapper().front()) body.clone(op, values);
      });
  rewriter.replaceOp(map, generic);
}

// Every named operation on tensors as a linalg.generic. In a matrix product the column becomes the innermost
// loop: it is contiguous, and the sum over k keeps its order.
mlir::LogicalResult generalize(mlir::ModuleOp module) {
  llvm::SmallVector<linalg::LinalgOp> named;
  module.walk([&](linalg::LinalgOp op) {
    if (op.hasPureTensorSemantics() && !mlir::isa<linalg::GenericOp>(op)) named.push_back(op);
  });
  mlir::IRRewriter rewriter(module.getContext());
  for (linalg::LinalgOp op : named) {
    unsigned loops = op.getNumLoops();
    bool is_product = mlir::isa<linalg::MatmulOp, linalg::BatchMatmulOp>(op.getOperation());
    rewriter.setInsertionPoint(op);
    if (auto map = mlir::dyn_cast<linalg::MapOp>(op.getOperation())) {
      generalize_map(rewriter, map);
      continue;
    }
    mlir::FailureOr<linalg::GenericOp> generic = linalg::generalizeNamedOp(rewriter, op);
    if (failed(generic)) return mlir::failure();
    if (!is_product) continue;
    llvm::SmallVector<unsigned> order(loops);
    for (unsigned i = 0; i < loops; ++i) order[i] = i;
    std::swap(order[loops - 1], order[loops - 2]);
    if (failed(linalg::interchangeGenericOp(rewriter, *generic, order))) return mlir::failure();
  }
  return mlir::success();
}

// What costs nothing to do again for each of its uses.
bool is_cheap(mlir::Operation* producer) {
  auto generic = mlir::dyn_cast<linalg::GenericOp>(producer);
  if (!generic || generic.getNumDpsInputs() > 1) return false;
  int64_t ops = 0;
  for (mlir::Operation& op : generic.getBody()->without_terminator()) {
    if (!mlir::isa<linalg::IndexOp>(op) && op.getName().getStringRef() != "arith.index_cast") ++ops;
  }
  return ops == 0;
}

}  // namespace

mlir::LogicalResult to_loops_over_elements(mlir::ModuleOp module) {
  mlir::PassManager manager(module.getContext());
  manager.enableVerifier(false);
  manager.addPass(mlir::createCanonicalizerPass());
  manager.addPass(mlir::createCSEPass());
  manager.addPass(mlir::createConvertElementwiseToLinalgPass());
  if (failed(manager.run(module)) || failed(generalize(module))) return mlir::failure();
  mlir::RewritePatternSet patterns(module.getContext());
  linalg::populateElementwiseOpsFusionPatterns(patterns, [](mlir::OpOperand* fused) {
    mlir::Operation* producer = fused->get().getDefiningOp();
    return producer && (producer->hasOneUse() || is_cheap(producer));
  });
  linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
  // Whether it came to an end or stopped after its number of rounds makes no difference.
  static_cast<void>(mlir::applyPatternsAndFoldGreedily(module, std::move(patterns)));
  return mlir::success();
}

void copy_by_loops(mlir::func::FuncOp kernel) {
  kernel.walk([](mlir::memref::CopyOp copy) {
    mlir::OpBuilder b(copy);
    b.create<linalg::CopyOp>(copy.getLoc(), copy.getSource(), copy.getTarget());
    copy.erase();
  });
}

}  // namespace jumar::runtime::sim
