#include "driver/jit/process_symbols.h"

#include <math.h>
#include <string.h>

namespace jumar::driver::jit {
namespace {

using F1 = float (*)(float);
using F2 = float (*)(float, float);
using D1 = double (*)(double);
using D2 = double (*)(double, double);

template <class F>
void* address_of(F function) {
  return reinterpret_cast<void*>(function);
}

}  // namespace

// The casts choose the C function among the overloads that <math.h> declares in C++.
#define UNARY(name) \
  {#name, address_of<D1>(::name)}, { #name "f", address_of < F1>(::name##f) }
#define BINARY(name) \
  {#name, address_of<D2>(::name)}, { #name "f", address_of < F2>(::name##f) }

std::span<const ProcessSymbol> process_symbols() {
  static const ProcessSymbol kSymbols[] = {
      UNARY(acos),
      UNARY(acosh),
      UNARY(asin),
      UNARY(asinh),
      UNARY(atan),
      BINARY(atan2),
      UNARY(atanh),
      UNARY(cbrt),
      UNARY(ceil),
      UNARY(cos),
      UNARY(cosh),
      UNARY(erf),
      UNARY(erfc),
      UNARY(exp),
      UNARY(exp2),
      UNARY(expm1),
      UNARY(floor),
      BINARY(fmod),
      BINARY(hypot),
      UNARY(lgamma),
      UNARY(log),
      UNARY(log10),
      UNARY(log1p),
      UNARY(log2),
      BINARY(nextafter),
      BINARY(pow),
      BINARY(remainder),
      UNARY(rint),
      UNARY(round),
      UNARY(sin),
      UNARY(sinh),
      UNARY(sqrt),
      UNARY(tan),
      UNARY(tanh),
      UNARY(tgamma),
      UNARY(trunc),
      {"memcpy", reinterpret_cast<void*>(::memcpy)},
      {"memmove", reinterpret_cast<void*>(::memmove)},
      {"memset", reinterpret_cast<void*>(::memset)},
  };
  return kSymbols;
}

#undef UNARY
#undef BINARY

}  // namespace jumar::driver::jit
