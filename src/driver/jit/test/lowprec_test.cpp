// Runs the conversions of emit/cpu/lowprec.h on every 16-bit pattern and on the edges of the integer types.
#include "emit/cpu/lowprec.h"

#include <gtest/gtest.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include <bit>
#include <cmath>
#include <functional>
#include <limits>

#include "driver/jit/codegen.h"
#include "driver/jit/jit.h"

namespace jumar::driver::jit {
namespace {

using emit::cpu::F16Unit;
using llvm::Value;
using Emit = std::function<Value*(llvm::IRBuilder<>&, Value*)>;

// Applies `emit` to arrays, `kLanes` elements at a time.
class Conversion {
 public:
  static constexpr int kLanes = 8;

  Conversion(const std::function<llvm::Type*(llvm::LLVMContext&)>& element, const Emit& emit)
      : jit_(Jit::create().value()) {
    Codegen codegen(host_cpu_target().value());
    llvm::LLVMContext context;
    llvm::Module module("conversion", context);
    codegen.prepare(module);
    llvm::IRBuilder<> b(context);
    auto* type = llvm::FunctionType::get(b.getVoidTy(), {b.getPtrTy(), b.getPtrTy()}, false);
    auto* function = llvm::Function::Create(type, llvm::Function::ExternalLinkage, "f", module);
    b.SetInsertPoint(llvm::BasicBlock::Create(context, "entry", function));
    llvm::Type* in = llvm::FixedVectorType::get(element(context), kLanes);
    Value* x = b.CreateAlignedLoad(in, function->getArg(0), llvm::Align(1));
    b.CreateAlignedStore(emit(b, x), function->getArg(1), llvm::Align(1));
    b.CreateRetVoid();
    const ObjectHandle handle = jit_->add_object(codegen.object(module)).value();
    function_ = reinterpret_cast<void (*)(const void*, void*)>(jit_->lookup(handle, "f").value());
  }

  template <class Out, class In>
  std::vector<Out> operator()(std::vector<In> x) const {
    const size_t size = x.size();
    x.resize((size + kLanes - 1) / kLanes * kLanes);
    std::vector<Out> out(x.size());
    for (size_t k = 0; k < x.size(); k += kLanes) function_(&x[k], &out[k]);
    out.resize(size);
    return out;
  }

 private:
  std::unique_ptr<Jit> jit_;
  void (*function_)(const void*, void*);
};

llvm::Type* i16(llvm::LLVMContext& c) { return llvm::Type::getInt16Ty(c); }
llvm::Type* f32(llvm::LLVMContext& c) { return llvm::Type::getFloatTy(c); }
llvm::Type* f64(llvm::LLVMContext& c) { return llvm::Type::getDoubleTy(c); }

std::vector<uint16_t> all_patterns() {
  std::vector<uint16_t> all(65536);
  for (size_t k = 0; k < all.size(); ++k) all[k] = static_cast<uint16_t>(k);
  return all;
}

// The value of a 16-bit float with the given number of exponent bits, from its definition.
double value_of(uint16_t bits, int exponent_bits) {
  const int mantissa_bits = 15 - exponent_bits;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = (bits & 0x7fff) >> mantissa_bits;
  const int mantissa = bits & ((1 << mantissa_bits) - 1);
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == (1 << exponent_bits) - 1) {
    return mantissa != 0 ? std::numeric_limits<double>::quiet_NaN() : sign * INFINITY;
  }
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - bias - mantissa_bits);
  return sign * std::ldexp((1 << mantissa_bits) + mantissa, exponent - bias - mantissa_bits);
}

// Round to nearest even by search among the neighbours, as a second opinion on the bit arithmetic.
uint16_t nearest(float x, int exponent_bits, uint16_t quiet_nan) {
  if (std::isnan(x)) return quiet_nan;
  const uint16_t sign = std::signbit(x) ? 0x8000 : 0;
  const double a = std::fabs(static_cast<double>(x));
  const uint16_t infinity = static_cast<uint16_t>(((1 << exponent_bits) - 1) << (15 - exponent_bits));
  uint16_t low = 0;
  uint16_t high = infinity;
  while (high - low > 1) {
    const uint16_t middle = static_cast<uint16_t>((low + high) / 2);
    (value_of(middle, exponent_bits) <= a ? low : high) = middle;
  }
  // What would follow the largest number decides where infinity starts.
  const double below = value_of(low, exponent_bits);
  const double above =
      high == infinity ? 2 * below - value_of(low - 1, exponent_bits) : value_of(high, exponent_bits);
  if (std::isinf(a)) return sign | infinity;
  const bool up = a - below > above - a || (a - below == above - a && (low & 1) != 0);
  return sign | (up ? high : low);
}

std::vector<float> f32_samples(int exponent_bits) {
  std::vector<float> samples = {INFINITY, -INFINITY, NAN, 0.0f, -0.0f, 1e-45f, -1e-45f, 3.4e38f, -3.4e38f};
  for (uint32_t k = 0; k < 1u << 17; ++k)
    samples.push_back(std::bit_cast<float>(k << 15 | (k * 2654435761u & 0x7fff)));
  for (const uint16_t bits : all_patterns()) {
    const auto x = static_cast<float>(value_of(bits, exponent_bits));
    const auto next = static_cast<float>(value_of(static_cast<uint16_t>(bits + 1), exponent_bits));
    const float half = x + (next - x) / 2;
    for (const float y : {x, half, std::nextafter(half, 0.0f), std::nextafter(half, 1e38f)})
      samples.push_back(y);
  }
  return samples;
}

void expect_widened(const Conversion& convert, int exponent_bits) {
  const std::vector<float> got = convert.operator()<float>(all_patterns());
  for (size_t k = 0; k < got.size(); ++k) {
    const double want = value_of(static_cast<uint16_t>(k), exponent_bits);
    if (std::isnan(want)) {
      EXPECT_TRUE(std::isnan(got[k])) << k;
      continue;
    }
    EXPECT_EQ(std::bit_cast<uint32_t>(got[k]), std::bit_cast<uint32_t>(static_cast<float>(want))) << k;
  }
}

void expect_narrowed(const Conversion& convert, int exponent_bits, uint16_t quiet_nan) {
  const std::vector<float> samples = f32_samples(exponent_bits);
  const std::vector<uint16_t> got = convert.operator()<uint16_t>(samples);
  for (size_t k = 0; k < got.size(); ++k) {
    if (std::isnan(samples[k])) {
      EXPECT_EQ(got[k] & quiet_nan, quiet_nan) << samples[k];
      continue;
    }
    ASSERT_EQ(got[k], nearest(samples[k], exponent_bits, quiet_nan)) << samples[k];
  }
}

TEST(Lowprec, Bf16) {
  expect_widened(Conversion(i16, [](auto& b, Value* x) { return emit::cpu::widened_bf16(b, x); }), 8);
  const Conversion narrow(f32, [](auto& b, Value* x) { return emit::cpu::narrowed_bf16(b, x); });
  expect_narrowed(narrow, 8, 0x7fc0);
  const std::vector<float> nans = {std::bit_cast<float>(0xffc12345u), std::bit_cast<float>(0x7f800001u)};
  EXPECT_EQ(narrow.operator()<uint16_t>(nans), (std::vector<uint16_t>{0x7fc0, 0x7fc0}));
}

TEST(Lowprec, F16InBothForms) {
  for (const F16Unit unit : {F16Unit::kNative, F16Unit::kInteger}) {
    expect_widened(Conversion(i16, [&](auto& b, Value* x) { return emit::cpu::widened_f16(b, x, unit); }), 5);
    expect_narrowed(Conversion(f32, [&](auto& b, Value* x) { return emit::cpu::narrowed_f16(b, x, unit); }),
                    5, 0x7e00);
  }
}

TEST(Lowprec, F16FormsAgreeOnEveryNan) {
  std::vector<float> nans;
  for (uint32_t k = 1; k < 0x800000; k += 97) nans.push_back(std::bit_cast<float>(0x7f800000u | k));
  const auto narrow = [](F16Unit unit) {
    return Conversion(f32, [=](auto& b, Value* x) { return emit::cpu::narrowed_f16(b, x, unit); });
  };
  EXPECT_EQ(narrow(F16Unit::kNative).operator()<uint16_t>(nans),
            narrow(F16Unit::kInteger).operator()<uint16_t>(nans));
}

template <class Int>
void expect_ints(const std::vector<double>& values, const std::vector<Int>& want) {
  const emit::cpu::IntType type = {sizeof(Int) * 8, std::is_signed_v<Int>};
  const Emit emit = [&](auto& b, Value* x) { return emit::cpu::float_to_int(b, x, type); };
  EXPECT_EQ((Conversion(f64, emit).operator()<Int>(values)), want) << "from f64";
  const std::vector<float> narrow(values.begin(), values.end());
  EXPECT_EQ((Conversion(f32, emit).operator()<Int>(narrow)), want) << "from f32";
}

// The expected values are what torch 2.11 gives on x86-64; all inputs are exact in f32.
TEST(Lowprec, FloatsOutsideAnIntegersRangeConvertAsInEagerPyTorch) {
  const std::vector<double> values = {NAN,     INFINITY, -INFINITY, 3e9,      -3e9,    0x1p33 + 4096,
                                      -0x1p33, 0x1p61,   0x1p63,    0x1.8p63, -1,      -5.75,
                                      300.75,  -300.25,  70000.5,   0x1p31,   -0x1p31, -0.75};
  constexpr int32_t kMin32 = std::numeric_limits<int32_t>::min();
  constexpr int64_t kMin64 = std::numeric_limits<int64_t>::min();
  expect_ints<int8_t>(values, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, -5, 44, -44, 112, 0, 0, 0});
  expect_ints<uint8_t>(values, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 251, 44, 212, 112, 0, 0, 0});
  expect_ints<int16_t>(values, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, -5, 300, -300, 4464, 0, 0, 0});
  expect_ints<uint16_t>(values, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 65535, 65531, 300, 65236, 4464, 0, 0, 0});
  expect_ints<int32_t>(values, {kMin32, kMin32, kMin32, kMin32, kMin32, kMin32, kMin32, kMin32, kMin32,
                                kMin32, -1, -5, 300, -300, 70000, kMin32, kMin32, 0});
  constexpr uint32_t kTop32 = 1u << 31;
  expect_ints<uint32_t>(values, {kTop32, 0, kTop32, 3000000000u, kTop32, 0, kTop32, 0, 0, 0, 0xffffffffu,
                                 0xfffffffbu, 300, 0xfffffed4u, 70000, kTop32, kTop32, 0});
  expect_ints<int64_t>(values, {kMin64, kMin64, kMin64, 3000000000, -3000000000, (int64_t{1} << 33) + 4096,
                                -(int64_t{1} << 33), int64_t{1} << 61, kMin64, kMin64, -1, -5, 300, -300,
                                70000, int64_t{1} << 31, -(int64_t{1} << 31), 0});
  constexpr uint64_t kTop64 = uint64_t{1} << 63;
  expect_ints<uint64_t>(
      values, {kTop64, 0, kTop64, 3000000000u, static_cast<uint64_t>(-3000000000), (uint64_t{1} << 33) + 4096,
               static_cast<uint64_t>(-(int64_t{1} << 33)), uint64_t{1} << 61, kTop64, uint64_t{3} << 62,
               static_cast<uint64_t>(-1), static_cast<uint64_t>(-5), 300, static_cast<uint64_t>(-300), 70000,
               uint64_t{1} << 31, static_cast<uint64_t>(-(int64_t{1} << 31)), 0});
}

TEST(Lowprec, TruncatesFractionsBelowTheLeastInteger) {
  const Emit emit = [](auto& b, Value* x) { return emit::cpu::float_to_int(b, x, {32, true}); };
  const std::vector<double> values = {-2147483648.75, -2147483649.0, 2147483647.75, 2147483648.0};
  constexpr int32_t kMin = std::numeric_limits<int32_t>::min();
  EXPECT_EQ((Conversion(f64, emit).operator()<int32_t>(values)),
            (std::vector<int32_t>{kMin, kMin, std::numeric_limits<int32_t>::max(), kMin}));
}

}  // namespace
}  // namespace jumar::driver::jit
