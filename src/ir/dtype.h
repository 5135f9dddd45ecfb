// Element types of tensors and of scalar values in loop bodies; the rows are in ir/dtype.def.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace jumar::ir {

enum class DType : uint8_t {
#define JUMAR_DTYPE(name, text, bytes, kind, code) k##name,
#include "ir/dtype.def"
#undef JUMAR_DTYPE
};

enum class DTypeClass : uint8_t { kBool, kSigned, kUnsigned, kFloat, kComplex };

std::string_view dtype_name(DType dtype);
std::optional<DType> dtype_from_name(std::string_view name);
int64_t dtype_bytes(DType dtype);
DTypeClass dtype_class(DType dtype);
// c10::ScalarType numbers, as torch's C functions use them.
int32_t c10_code(DType dtype);
std::optional<DType> dtype_from_c10(int32_t code);
// 0 to 3 for bool, integers, floats and complex: the higher one decides where types are mixed.
int dtype_category(DType dtype);
// The type of an operation on both, for tensors of the same rank category (c10::promoteTypes).
DType promoted(DType a, DType b);

inline bool is_float(DType d) { return dtype_class(d) == DTypeClass::kFloat; }
inline bool is_complex(DType d) { return dtype_class(d) == DTypeClass::kComplex; }
inline bool is_bool(DType d) { return d == DType::kBool; }
inline bool is_integer(DType d) {
  return dtype_class(d) == DTypeClass::kSigned || dtype_class(d) == DTypeClass::kUnsigned;
}
inline bool is_unsigned(DType d) { return dtype_class(d) == DTypeClass::kUnsigned; }
// Floats below 32 bits: stored narrow, computed in f32.
inline bool is_low_precision(DType d) { return is_float(d) && dtype_bytes(d) < 4; }

}  // namespace jumar::ir
