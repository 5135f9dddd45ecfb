// f16 and bf16 by their bits.
//
//   half_bits(1.0f) == 0x3c00      half_value(0x3c00) == 1.0f      brain_bits(1.0f) == 0x3f80
//
// Rounding is to nearest, ties to even.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace jumar::runtime::sim {

inline uint16_t brain_bits(float value) {
  auto bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>((bits >> 16) | 0x40u);
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

inline float brain_value(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

inline float half_value(uint16_t bits) {
  uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
  uint32_t exponent = (bits >> 10) & 31u, fraction = bits & 0x3ffu;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | (fraction << 13));
  if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
  float small = static_cast<float>(fraction) * 0x1p-24f;
  return sign != 0 ? -small : small;
}

inline uint16_t half_bits(float value) {
  auto bits = std::bit_cast<uint32_t>(value);
  auto sign = static_cast<uint16_t>((bits >> 16) & 0x8000u);
  float size = std::fabs(value);
  if (std::isnan(value)) return static_cast<uint16_t>(sign | 0x7e00u | ((bits >> 13) & 0x1ffu));
  if (size >= 65520.0f) return static_cast<uint16_t>(sign | 0x7c00u);
  // Below the normal numbers the steps are equal: adding 0.5, whose last bit is one of them, rounds.
  if (size < 0x1p-14f) {
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(size + 0.5f) - std::bit_cast<uint32_t>(0.5f)));
  }
  uint32_t magnitude = bits & 0x7fffffffu;
  uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
  return static_cast<uint16_t>(sign | ((rounded >> 13) - (112u << 10)));
}

// A float that rounds to the f16 or bf16 that the double rounds to. Where the conversion to float loses
// something, its last bit is set, so that the float is never a tie that the double is not.
inline float for_rounding(double value) {
  auto narrow = static_cast<float>(value);
  if (!std::isfinite(narrow) || static_cast<double>(narrow) == value) return narrow;
  auto bits = std::bit_cast<uint32_t>(narrow);
  if (bits & 1u) return narrow;
  bool grew = std::fabs(static_cast<double>(narrow)) > std::fabs(value);
  return std::bit_cast<float>(grew ? bits - 1 : bits + 1);
}

}  // namespace jumar::runtime::sim
