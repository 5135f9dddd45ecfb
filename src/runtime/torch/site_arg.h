// Arguments of a prepared call, and the values that a run supplies for them.
//
// An argument is a constant, or names a place in the tables of CallValues that the executor fills: the k-th
// tensor operand, the k-th integer, the k-th number. Lists hold arguments.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/torch/tensor.h"

namespace jumar::runtime::torch {

struct SiteArg {
  enum class Kind : uint8_t {
    kNone,
    kTensor,
    kInt,
    kFloat,
    kBool,
    kString,
    kDType,         // the word in `text`, libtorch's code in `integer`
    kLayout,        // as kDType
    kMemoryFormat,  // as kDType
    kDevice,        // a device of the CPU; the word in `text`
    kList,
  };
  Kind kind = Kind::kNone;
  bool is_slot = false;  // the value is CallValues' at `slot`; always so for tensors
  uint32_t slot = 0;
  int64_t integer = 0;
  double number = 0;
  std::string text;
  std::vector<SiteArg> items;
};

struct CallValues {
  const Handle* tensors = nullptr;  // borrowed
  const int64_t* ints = nullptr;
  const double* numbers = nullptr;  // bools are 0 and 1
};

// Numbers convert as Python's do where a schema asks for another kind; other kinds of argument give 0.
inline int64_t int_of(const SiteArg& arg, const CallValues& values) {
  if (!arg.is_slot) return arg.integer;
  return arg.kind == SiteArg::Kind::kInt ? values.ints[arg.slot]
                                         : static_cast<int64_t>(values.numbers[arg.slot]);
}
inline double float_of(const SiteArg& arg, const CallValues& values) {
  if (arg.kind == SiteArg::Kind::kFloat) return arg.is_slot ? values.numbers[arg.slot] : arg.number;
  return static_cast<double>(int_of(arg, values));
}

}  // namespace jumar::runtime::torch
