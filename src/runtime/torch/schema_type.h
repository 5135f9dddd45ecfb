// The types that operator schemas name, as far as a call needs them: "Tensor?[]", "SymInt[2]?", "Scalar".
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace jumar::runtime::torch {

struct SchemaType {
  enum class Base : uint8_t {
    kTensor,
    kInt,  // int, SymInt
    kFloat,
    kBool,
    kStr,
    kDType,
    kLayout,
    kDevice,
    kMemoryFormat,
    kScalar,
    kGenerator,
    kOther,
  };
  Base base = Base::kOther;
  bool list = false;
  bool optional = false;          // of the whole: T?, T[]?
  bool optional_element = false;  // of a list's elements: T?[]
  uint32_t count = 0;             // of int[2]; 0 means any
};

// kOther for what no call can carry.
SchemaType parsed_schema_type(std::string_view text);

}  // namespace jumar::runtime::torch
