#include "loop/effects.h"

#include <array>

namespace jumar::loop {

bool is_ordered_call(std::string_view op) {
  if (op.starts_with("python.")) return true;
  constexpr std::array kRandom = {"rand",    "bernoulli", "dropout", "multinomial", "normal",
                                  "uniform", "exponential", "poisson", "geometric", "cauchy",
                                  "philox",  "rng",       "_assert"};
  for (std::string_view word : kRandom)
    if (op.find(word) != std::string_view::npos) return true;
  // An operator outside ATen may have effects that its schema does not tell.
  return !op.starts_with("aten.");
}

}  // namespace jumar::loop
