#include "runtime/sim/runtime_symbols.h"

#include <math.h>  // NOLINT: C's names, one for each type

#include <string.h>  // NOLINT

#include <atomic>
#include <bit>

#include "runtime/sim/api.h"
#include "runtime/sim/frames.h"
#include "runtime/sim/half.h"

namespace jumar::runtime::sim {

namespace {

// How compiled code passes an f16 or bf16: in the low half of the register of a float.
float as_register(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits)); }
uint16_t from_register(float value) { return static_cast<uint16_t>(std::bit_cast<uint32_t>(value)); }

float float_to_half(float value) { return as_register(half_bits(value)); }
float double_to_half(double value) { return as_register(half_bits(for_rounding(value))); }
float half_to_float(float half) { return half_value(from_register(half)); }
float float_to_brain(float value) { return as_register(brain_bits(value)); }
float double_to_brain(double value) { return as_register(brain_bits(for_rounding(value))); }

float hmf_recip(float x) { return 1.0f / x; }
float hmf_relu(float x) { return x > 0 || x != x ? x : 0.0f; }
float hmf_ldexp(float x, float exponent) { return ldexpf(x, static_cast<int>(exponent)); }
float hmf_ilogb(float x) { return static_cast<float>(ilogbf(x)); }
bool hmf_isnan(float x) { return x != x; }
bool hmf_isinf(float x) { return std::isinf(x); }
template <float (*function)(float)>
float on_half(float half) {
  return as_register(half_bits(function(half_value(from_register(half)))));
}

void* frame_take(FramePool* pool) { return pool->take(); }
void frame_give(FramePool* pool, Frame* frame) { pool->give(frame); }
void* frame_begin(Frame* frame) { return frame->begin_block(); }
void* frame_grow(Frame* frame, int64_t bytes) { return frame->grow(bytes); }

void report(jumar_sim_fault* fault, int64_t kind, int64_t argument, int64_t low, int64_t high, int64_t size,
            int64_t block, int64_t line) {
  int64_t none = 0;
  if (!std::atomic_ref<int64_t>(fault->flag).compare_exchange_strong(none, 1)) return;
  fault->element = low < 0 || kind == JUMAR_SIM_SHAPE ? low : (low >= size ? low : high);
  fault->size = size;
  fault->argument = argument;
  fault->kind = kind;
  fault->block = block;
  fault->place = line;
}

template <class Function>
void* address(Function* function) {
  return reinterpret_cast<void*>(function);
}

// The C library's functions, of which C++ has several by one name.
std::vector<RuntimeSymbol> make_symbols() {
  return {
#define JUMAR_LIBM(name) \
  {#name, address<double(double)>(&::name)}, {#name "f", address<float(float)>(&::name##f)},
#define JUMAR_LIBM2(name) \
  {#name, address<double(double, double)>(&::name)}, {#name "f", address<float(float, float)>(&::name##f)},
#define JUMAR_LIBM3(name)                                 \
  {#name, address<double(double, double, double)>(&::name)}, \
      {#name "f", address<float(float, float, float)>(&::name##f)},
#include "runtime/sim/runtime_symbols.def"
#undef JUMAR_LIBM3
#undef JUMAR_LIBM2
#undef JUMAR_LIBM
      {"memcpy", address(&::memcpy)},
      {"memmove", address(&::memmove)},
      {"memset", address(&::memset)},
      {"__truncsfhf2", address(&float_to_half)},
      {"__truncdfhf2", address(&double_to_half)},
      {"__extendhfsf2", address(&half_to_float)},
      {"__truncsfbf2", address(&float_to_brain)},
      {"__truncdfbf2", address(&double_to_brain)},
      {"__hmf_tanhf", address(&::tanhf)},
      {"__hmf_tanf", address(&::tanf)},
      {"__hmf_atanf", address(&::atanf)},
      {"__hmf_log1pf", address(&::log1pf)},
      {"__hmf_roundf", address(&::roundf)},
      {"__hmf_powf", address(&::powf)},
      {"__hmf_recipf", address(&hmf_recip)},
      {"__hmf_reluf", address(&hmf_relu)},
      {"__hmf_ldexpf", address(&hmf_ldexp)},
      {"__hmf_ilogbf", address(&hmf_ilogb)},
      {"__hmf_isnan", address(&hmf_isnan)},
      {"__hmf_isinf", address(&hmf_isinf)},
      {"__hmf_tanhDh", address(&on_half<::tanhf>)},
      {"__hmf_atanDh", address(&on_half<::atanf>)},
      {"__hmf_log1pDh", address(&on_half<::log1pf>)},
      {"__hmf_recipDh", address(&on_half<hmf_recip>)},
      {"__hmf_reluDh", address(&on_half<hmf_relu>)},
      {"jumar_sim_frame_take", address(&frame_take)},
      {"jumar_sim_frame_give", address(&frame_give)},
      {"jumar_sim_frame_begin", address(&frame_begin)},
      {"jumar_sim_frame_grow", address(&frame_grow)},
      {"jumar_sim_report", address(&report)},
  };
}

}  // namespace

std::vector<RuntimeSymbol> runtime_symbols() { return make_symbols(); }

}  // namespace jumar::runtime::sim
