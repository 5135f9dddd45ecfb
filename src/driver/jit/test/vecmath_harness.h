// Compiles one function of VecMath into a loop over arrays and runs it.
//
//   Harness harness(cpu_target("x86-64-v3").value());
//   std::vector<float> y = harness.run<float>(find_function("exp"), 8, x, {});
#pragma once

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include <functional>
#include <string>
#include <vector>

#include "driver/jit/codegen.h"
#include "driver/jit/jit.h"
#include "emit/cpu/vecmath.h"

namespace jumar::driver::jit {

using emit::cpu::Accuracy;
using emit::cpu::VecMath;

struct MathFunction {
  std::string name;
  int arity;
  std::function<llvm::Value*(VecMath&, llvm::Value*, llvm::Value*)> emit;
  Accuracy accuracy = Accuracy::kDefault;
};

// Every public function of VecMath, plus "erf_fast" and "tanh_fast".
const std::vector<MathFunction>& math_functions();
const MathFunction& find_function(const std::string& name);

// void <symbol>(ptr x, ptr y, ptr out, i64 n), with n a multiple of `lanes`.
using ArrayFunction = void (*)(const void*, const void*, void*, int64_t);
void add_array_function(llvm::Module& module, const std::string& symbol, const MathFunction& function,
                        bool is_f64, int lanes);

class Harness {
 public:
  explicit Harness(const CpuTarget& target);

  ArrayFunction compiled(const MathFunction& function, bool is_f64, int lanes);

  // y may be empty for functions of one argument. Sizes need not be multiples of `lanes`.
  template <class T>
  std::vector<T> run(const MathFunction& function, int lanes, std::vector<T> x, std::vector<T> y) {
    const size_t size = x.size();
    const size_t padded = (size + lanes - 1) / lanes * lanes;
    x.resize(padded, T{1});
    y.resize(padded, T{1});
    std::vector<T> out(padded);
    compiled(function, sizeof(T) == 8, lanes)(x.data(), y.data(), out.data(), static_cast<int64_t>(padded));
    out.resize(size);
    return out;
  }

 private:
  Codegen codegen_;
  std::unique_ptr<Jit> jit_;
};

}  // namespace jumar::driver::jit
