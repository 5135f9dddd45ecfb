// Affine maps of MLIR: several integer expressions of the same parameters.
//
//   JUMAR_ASSIGN(const AffineMap map, AffineMap::parse("(d0)[s0] -> (s0 mod 2, d0 + 256)"));
//   map.values({7, 3})       // {1, 263}
//
// The parameters are the dimensions and then the symbols, in their order.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "support/result.h"

namespace jumar::driver::toolchain {

class AffineMap {
 public:
  static Result<AffineMap> parse(std::string_view text);

  size_t parameters() const { return parameters_; }
  size_t results() const { return results_.size(); }
  int64_t value(size_t result, std::span<const int64_t> arguments) const;

 private:
  friend class AffineParser;
  enum class Op : uint8_t { kParameter, kConstant, kAdd, kSub, kMul, kFloorDiv, kCeilDiv, kMod };
  // Longer expressions are refused; the compiler's have a handful of steps.
  static constexpr size_t kMostSteps = 64;
  // Operands before their operation.
  struct Step {
    Op op;
    int64_t number = 0;
  };

  size_t parameters_ = 0;
  std::vector<std::vector<Step>> results_;
};

}  // namespace jumar::driver::toolchain
