#include "driver/link/host_object.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <array>
#include <map>

#include "driver/jit/codegen.h"
#include "jumar/device.h"

namespace jumar::driver::link {
namespace {

using llvm::Constant;
using llvm::Value;
using sym::Expr;
using sym::Op;

constexpr std::array<std::string_view, 2> kArchitectures = {"x86_64", "aarch64"};

struct LessExpr {
  bool operator()(Expr a, Expr b) const { return sym::compare(a, b) < 0; }
};
using Symbols = std::map<Expr, uint32_t, LessExpr>;

// One function of jumar_device_launch: integer expressions as docs/sym.md defines them. What has no value is
// noted in a flag, and computing goes on with a number that traps nowhere.
class WordFunction {
 public:
  WordFunction(llvm::Module& module, const Symbols& symbols, const std::string& name)
      : symbols_(symbols), builder_(module.getContext()) {
    llvm::Type* pointer = llvm::PointerType::getUnqual(module.getContext());
    auto* type = llvm::FunctionType::get(builder_.getInt32Ty(), {pointer, pointer}, false);
    function_ = llvm::Function::Create(type, llvm::GlobalValue::PrivateLinkage, name, module);
    builder_.SetInsertPoint(llvm::BasicBlock::Create(module.getContext(), "", function_));
    is_bad_ = builder_.getFalse();
  }

  llvm::Function* made(const std::vector<Expr>& words) {
    for (size_t k = 0; k < words.size(); ++k)
      builder_.CreateStore(value(words[k]), place(function_->getArg(1), k));
    builder_.CreateRet(builder_.CreateZExt(is_bad_, builder_.getInt32Ty()));
    return function_;
  }

 private:
  Value* place(Value* base, size_t index) {
    return builder_.CreateConstGEP1_64(builder_.getInt64Ty(), base, index);
  }
  void note(Value* is_bad) { is_bad_ = builder_.CreateOr(is_bad_, is_bad); }
  Value* number(int64_t n) { return builder_.getInt64(static_cast<uint64_t>(n)); }

  Value* value(Expr e) {
    const auto [it, is_new] = values_.try_emplace(e, nullptr);
    // `computed` adds to the map, which keeps its places.
    if (is_new) it->second = computed(e);
    return it->second;
  }

  Value* computed(Expr e) {
    if (e.is_const()) return number(e.const_value());
    if (e.is_symbol())
      return builder_.CreateLoad(builder_.getInt64Ty(), place(function_->getArg(0), symbols_.at(e)));
    std::vector<Value*> operands;
    for (const Expr operand : e.operands()) operands.push_back(value(operand));
    if (e.op() == Op::kNot) return flag(builder_.CreateICmpEQ(operands[0], number(0)));
    Value* out = operands[0];
    for (size_t k = 1; k < operands.size(); ++k) out = combined(e.op(), out, operands[k]);
    return out;
  }

  Value* combined(Op op, Value* a, Value* b) {
    switch (op) {
      case Op::kMul:
        return checked(llvm::Intrinsic::smul_with_overflow, a, b);
      case Op::kAdd:
        return checked(llvm::Intrinsic::sadd_with_overflow, a, b);
      case Op::kFloorDiv:
        return divided(a, b).first;
      case Op::kMod:
        return divided(a, b).second;
      case Op::kMin:
        return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, a, b);
      case Op::kMax:
        return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, a, b);
      case Op::kEq:
        return flag(builder_.CreateICmpEQ(a, b));
      case Op::kNe:
        return flag(builder_.CreateICmpNE(a, b));
      case Op::kLt:
        return flag(builder_.CreateICmpSLT(a, b));
      case Op::kLe:
        return flag(builder_.CreateICmpSLE(a, b));
      case Op::kAnd:
        return flag(builder_.CreateAnd(truth(a), truth(b)));
      case Op::kOr:
        return flag(builder_.CreateOr(truth(a), truth(b)));
      default:
        CHECK(false, "no operator of two operands");
    }
  }

  Value* truth(Value* a) { return builder_.CreateICmpNE(a, number(0)); }
  Value* flag(Value* a) { return builder_.CreateZExt(a, builder_.getInt64Ty()); }

  Value* checked(llvm::Intrinsic::ID id, Value* a, Value* b) {
    Value* pair = builder_.CreateBinaryIntrinsic(id, a, b);
    note(builder_.CreateExtractValue(pair, 1));
    return builder_.CreateExtractValue(pair, 0);
  }

  // Quotient rounded to minus infinity, and the remainder that goes with it.
  std::pair<Value*, Value*> divided(Value* a, Value* b) {
    Value* is_zero = builder_.CreateICmpEQ(b, number(0));
    Value* overflows =
        builder_.CreateAnd(builder_.CreateICmpEQ(a, number(INT64_MIN)), builder_.CreateICmpEQ(b, number(-1)));
    Value* is_bad = builder_.CreateOr(is_zero, overflows);
    note(is_bad);
    Value* divisor = builder_.CreateSelect(is_bad, number(1), b);
    Value* quotient = builder_.CreateSDiv(a, divisor);
    Value* rest = builder_.CreateSRem(a, divisor);
    Value* is_down =
        builder_.CreateAnd(truth(rest), builder_.CreateICmpSLT(builder_.CreateXor(rest, divisor), number(0)));
    return {builder_.CreateSub(quotient, flag(is_down)),
            builder_.CreateAdd(rest, builder_.CreateSelect(is_down, divisor, number(0)))};
  }

  const Symbols& symbols_;
  llvm::IRBuilder<> builder_;
  llvm::Function* function_;
  Value* is_bad_;
  std::map<Expr, Value*, LessExpr> values_;
};

class Builder {
 public:
  explicit Builder(llvm::Module& module) : module_(module), cx_(module.getContext()) {}

  void build(const HostProgram& program) {
    std::vector<Constant*> members = {word(JUMAR_DEVICE_FORMAT), text(program.target)};
    append(members, plan(program.main, "main"));
    append(members, plan(program.folding, "folding"));
    std::vector<Constant*> kernels;
    for (const HostKernel& kernel : program.kernels) kernels.push_back(this->kernel(kernel));
    members.insert(members.end(), {array(kernels), word(kernels.size())});
    define(llvm::ConstantStruct::getAnon(members), "jumar_device_program", 8);
  }

 private:
  static void append(std::vector<Constant*>& to, const std::vector<Constant*>& from) {
    to.insert(to.end(), from.begin(), from.end());
  }
  Constant* word(uint64_t value) { return llvm::ConstantInt::get(llvm::Type::getInt64Ty(cx_), value); }
  Constant* half(uint64_t value) { return llvm::ConstantInt::get(llvm::Type::getInt32Ty(cx_), value); }
  Constant* null() { return llvm::ConstantPointerNull::get(llvm::PointerType::getUnqual(cx_)); }

  Constant* define(Constant* value, const std::string& name, uint64_t alignment) {
    const auto linkage =
        name.empty() ? llvm::GlobalValue::PrivateLinkage : llvm::GlobalValue::ExternalLinkage;
    auto* global = new llvm::GlobalVariable(module_, value->getType(), true, linkage, value, name);
    global->setAlignment(llvm::Align(alignment));
    return global;
  }
  Constant* bytes(std::string_view data, bool has_end) {
    return define(llvm::ConstantDataArray::getString(cx_, {data.data(), data.size()}, has_end), "",
                  has_end ? 1 : 8);
  }
  Constant* text(std::string_view data) { return data.empty() ? null() : bytes(data, true); }
  Constant* array(const std::vector<Constant*>& rows) {
    if (rows.empty()) return null();
    return define(llvm::ConstantArray::get(llvm::ArrayType::get(rows[0]->getType(), rows.size()), rows), "",
                  8);
  }

  std::vector<Constant*> plan(const HostPlan& plan, const std::string& name) {
    if (plan.bytes.empty()) return {null(), word(0), null(), word(0), null(), word(0)};
    Symbols symbols;
    for (const HostLaunch& launch : plan.launches)
      for (const Expr e : launch.words)
        for (const Expr symbol : sym::symbols_of(e)) symbols.emplace(symbol, 0);
    std::vector<Constant*> names;
    for (auto& [symbol, place] : symbols) {
      place = static_cast<uint32_t>(names.size());
      names.push_back(bytes(symbol.symbol_name(), true));
    }
    std::vector<Constant*> launches;
    for (const HostLaunch& launch : plan.launches) {
      WordFunction function(module_, symbols, fmt::format("{}_{}", name, launch.step));
      launches.push_back(llvm::ConstantStruct::getAnon(
          {half(launch.step), half(launch.kernel), half(launch.words.size()), function.made(launch.words)}));
    }
    return {bytes(plan.bytes, false), word(plan.bytes.size()), array(names),
            word(names.size()),       array(launches),         word(launches.size())};
  }

  Constant* kernel(const HostKernel& kernel) {
    std::vector<Constant*> bits;
    for (const uint8_t each : kernel.integer_bits)
      bits.push_back(llvm::ConstantInt::get(llvm::Type::getInt8Ty(cx_), each));
    return llvm::ConstantStruct::getAnon(
        {text(kernel.name), text(kernel.function), text(kernel.linalg), text(kernel.binary),
         text(kernel.binary_function), half(static_cast<uint64_t>(kernel.pointers)),
         half(kernel.integer_bits.size()), half(static_cast<uint64_t>(kernel.numbers)),
         half(kernel.in_turn ? 1 : 0), array(bits), word(static_cast<uint64_t>(kernel.workspace_bytes)),
         word(static_cast<uint64_t>(kernel.locks))});
  }

  llvm::Module& module_;
  llvm::LLVMContext& cx_;
};

}  // namespace

std::span<const std::string_view> host_architectures() { return kArchitectures; }

std::string_view own_architecture() {
#if defined(__x86_64__)
  return kArchitectures[0];
#else
  return kArchitectures[1];
#endif
}

jit::CpuTarget host_architecture(std::string_view name) {
  const bool is_x86 = name == kArchitectures[0];
  CHECK(is_x86 || name == kArchitectures[1], "no architecture of a host: {}", name);
  jit::CpuTarget target;
  target.triple = fmt::format("{}-unknown-linux-gnu", name);
  target.cpu = is_x86 ? "x86-64" : "generic";
  target.vector_bits = 128;
  return target;
}

std::vector<uint8_t> host_object(const jit::CpuTarget& target, const HostProgram& program) {
  llvm::LLVMContext context;
  llvm::Module module("host", context);
  jit::Codegen codegen(target);
  codegen.prepare(module);
  Builder(module).build(program);
  return codegen.object(module);
}

}  // namespace jumar::driver::link
