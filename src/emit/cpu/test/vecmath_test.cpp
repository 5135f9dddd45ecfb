// The IR that VecMath writes: what it calls, where it leaves the builder, what it does to the builder's
// flags. Values are tested in driver/jit, where code can run.
#include "emit/cpu/vecmath.h"

#include <gtest/gtest.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include <set>

#include "emit/cpu/lowprec.h"
#include "emit/cpu/vecmath_ops.h"
#include "support/check.h"

namespace jumar::emit::cpu {
namespace {

using llvm::Value;

// A function of one vector argument; the builder stands in its entry block.
struct Fixture {
  explicit Fixture(bool is_f64 = false, int lanes = 8) : module("test", context), b(context) {
    llvm::Type* element = is_f64 ? b.getDoubleTy() : b.getFloatTy();
    llvm::Type* type = lanes > 1 ? llvm::FixedVectorType::get(element, lanes) : element;
    function = llvm::Function::Create(llvm::FunctionType::get(type, {type, type}, false),
                                      llvm::Function::ExternalLinkage, "f", module);
    b.SetInsertPoint(llvm::BasicBlock::Create(context, "entry", function));
  }

  Value* x() { return function->getArg(0); }
  Value* y() { return function->getArg(1); }

  void expect_valid() {
    std::string problems;
    llvm::raw_string_ostream stream(problems);
    EXPECT_FALSE(llvm::verifyModule(module, &stream)) << stream.str();
  }

  llvm::LLVMContext context;
  llvm::Module module;
  llvm::IRBuilder<> b;
  llvm::Function* function;
};

using Unary = Value* (VecMath::*)(Value*);

const Unary kUnary[] = {&VecMath::exp,     &VecMath::exp_nonpositive,
                        &VecMath::exp2,    &VecMath::expm1,
                        &VecMath::log,     &VecMath::log2,
                        &VecMath::log10,   &VecMath::log1p,
                        &VecMath::sqrt,    &VecMath::rsqrt,
                        &VecMath::sigmoid, &VecMath::sin,
                        &VecMath::cos,     &VecMath::tan,
                        &VecMath::asin,    &VecMath::acos,
                        &VecMath::atan,    &VecMath::sinh,
                        &VecMath::cosh,    &VecMath::tanh,
                        &VecMath::asinh,   &VecMath::acosh,
                        &VecMath::atanh,   &VecMath::erf,
                        &VecMath::erfc,    &VecMath::erfinv,
                        &VecMath::lgamma,  &VecMath::digamma,
                        &VecMath::floor,   &VecMath::ceil,
                        &VecMath::trunc,   &VecMath::round_half_even,
                        &VecMath::abs};

// Everything VecMath offers, applied to the arguments, in one function.
void emit_all(Fixture& t) {
  VecMath math(t.b);
  VecOps o(t.b, t.x()->getType());
  Value* sum = t.x();
  for (const Unary function : kUnary) sum = o.add(sum, (math.*function)(t.x()));
  for (Value* value : {math.pow(t.x(), t.y()), math.atan2(t.x(), t.y()), math.fmod(t.x(), t.y()),
                       math.maximum(t.x(), t.y()), math.minimum(t.x(), t.y())}) {
    sum = o.add(sum, value);
  }
  t.b.CreateRet(sum);
}

// Intrinsics that become instructions, or a few of them, on every processor that kernels are made for.
const std::set<std::string> kCheapIntrinsics = {
    "llvm.fma",  "llvm.fabs",  "llvm.sqrt",      "llvm.copysign",         "llvm.floor",
    "llvm.ceil", "llvm.trunc", "llvm.roundeven", "llvm.vector.reduce.or", "llvm.ctlz",
    "llvm.umin", "llvm.smin",  "llvm.smax"};

TEST(VecMath, CallsOnlyItsOwnFunctionsAndCheapIntrinsics) {
  for (const bool is_f64 : {false, true}) {
    for (const int lanes : {1, 2, 4, 8, 16}) {
      Fixture t(is_f64, lanes);
      emit_all(t);
      t.expect_valid();
      for (const llvm::Function& function : t.module) {
        if (!function.isDeclaration()) {
          EXPECT_TRUE(&function == t.function || function.hasLocalLinkage()) << function.getName().str();
          continue;
        }
        ASSERT_TRUE(function.isIntrinsic()) << function.getName().str();
        const std::string name = llvm::Intrinsic::getBaseName(function.getIntrinsicID()).str();
        EXPECT_TRUE(kCheapIntrinsics.contains(name)) << name;
      }
    }
  }
}

TEST(VecMath, NeedsAndUsesNoFastMathFlags) {
  Fixture t;
  llvm::FastMathFlags flags;
  flags.setFast();
  t.b.setFastMathFlags(flags);
  emit_all(t);
  EXPECT_TRUE(t.b.getFastMathFlags().isFast()) << "the builder's flags were not put back";
  for (const llvm::Function& function : t.module) {
    for (const llvm::Instruction& instruction : llvm::instructions(function)) {
      if (llvm::isa<llvm::FPMathOperator>(instruction) && !llvm::isa<llvm::PHINode>(instruction) &&
          !llvm::isa<llvm::CallInst>(instruction)) {
        EXPECT_FALSE(instruction.getFastMathFlags().any());
      }
    }
  }
}

TEST(VecMath, SharesItsOutOfLineParts) {
  Fixture t;
  VecMath math(t.b);
  VecOps o(t.b, t.x()->getType());
  Value* sum = o.add(o.add(math.sin(t.x()), math.cos(t.x())), o.add(math.lgamma(t.x()), math.lgamma(t.y())));
  t.b.CreateRet(sum);
  t.expect_valid();
  int defined = 0;
  for (const llvm::Function& function : t.module) defined += function.isDeclaration() ? 0 : 1;
  EXPECT_EQ(defined, 3) << "f, the reduction and lgamma";
}

TEST(VecMath, SplitsABlockThatIsAlreadyTerminated) {
  Fixture t;
  llvm::Instruction* end = t.b.CreateRet(t.x());
  t.b.SetInsertPoint(end);
  VecMath math(t.b);
  Value* result = math.sin(t.x());
  EXPECT_NE(t.b.GetInsertBlock(), &t.function->getEntryBlock());
  EXPECT_EQ(t.b.GetInsertBlock()->getTerminator(), end);
  end->setOperand(0, result);
  t.expect_valid();
}

TEST(VecMath, KeepsThePhisOfAFollowingBlockRight) {
  Fixture t;
  auto* next = llvm::BasicBlock::Create(t.context, "next", t.function);
  llvm::Instruction* jump = t.b.CreateBr(next);
  llvm::BasicBlock* entry = t.b.GetInsertBlock();
  t.b.SetInsertPoint(next);
  llvm::PHINode* phi = t.b.CreatePHI(t.x()->getType(), 1);
  phi->addIncoming(t.y(), entry);
  t.b.CreateRet(phi);
  t.b.SetInsertPoint(jump);
  VecMath(t.b).tan(t.x());
  t.expect_valid();
}

TEST(VecMath, OneRangeTestPerSlowFunction) {
  Fixture t;
  VecMath math(t.b);
  t.b.CreateRet(math.cos(t.x()));
  int branches = 0;
  for (const llvm::Instruction& instruction : llvm::instructions(*t.function)) {
    const auto* branch = llvm::dyn_cast<llvm::BranchInst>(&instruction);
    if (branch == nullptr || !branch->isConditional()) continue;
    ++branches;
    EXPECT_NE(branch->getMetadata(llvm::LLVMContext::MD_prof), nullptr);
    EXPECT_TRUE(branch->getSuccessor(0)->getName().starts_with("out_of_range"));
  }
  EXPECT_EQ(branches, 1);
}

TEST(VecMath, RefusesOtherTypes) {
  Fixture t;
  VecMath math(t.b);
  EXPECT_THROW(math.exp(llvm::ConstantFP::get(t.b.getHalfTy(), 1)), InternalError);
  EXPECT_THROW(math.exp(t.b.getInt32(1)), InternalError);
}

TEST(Lowprec, NeverEmitsHalfTypesWithoutTheUnit) {
  Fixture t;
  Value* narrow = narrowed_f16(t.b, t.x(), F16Unit::kInteger);
  Value* wide = widened_f16(t.b, narrow, F16Unit::kInteger);
  t.b.CreateRet(widened_bf16(t.b, narrowed_bf16(t.b, wide)));
  t.expect_valid();
  for (const llvm::Instruction& instruction : llvm::instructions(*t.function)) {
    EXPECT_FALSE(instruction.getType()->getScalarType()->is16bitFPTy());
  }
}

}  // namespace
}  // namespace jumar::emit::cpu
