#include "ir/dtype.h"

#include "support/check.h"

namespace jumar::ir {
namespace {

struct Row {
  DType dtype;
  std::string_view name;
  int64_t bytes;
  DTypeClass kind;
  int32_t code;
};

constexpr Row kRows[] = {
#define JUMAR_DTYPE(name, text, bytes, kind, code) {DType::k##name, text, bytes, DTypeClass::k##kind, code},
#include "ir/dtype.def"
#undef JUMAR_DTYPE
};

const Row& row(DType dtype) {
  size_t index = static_cast<size_t>(dtype);
  CHECK(index < std::size(kRows), "dtype {}", index);
  return kRows[index];
}

}  // namespace

std::string_view dtype_name(DType dtype) { return row(dtype).name; }
int64_t dtype_bytes(DType dtype) { return row(dtype).bytes; }
DTypeClass dtype_class(DType dtype) { return row(dtype).kind; }
int32_t c10_code(DType dtype) { return row(dtype).code; }

std::optional<DType> dtype_from_name(std::string_view name) {
  for (const Row& r : kRows)
    if (r.name == name) return r.dtype;
  return std::nullopt;
}

std::optional<DType> dtype_from_c10(int32_t code) {
  for (const Row& r : kRows)
    if (r.code == code) return r.dtype;
  return std::nullopt;
}

int dtype_category(DType dtype) {
  switch (dtype_class(dtype)) {
    case DTypeClass::kBool:
      return 0;
    case DTypeClass::kSigned:
    case DTypeClass::kUnsigned:
      return 1;
    case DTypeClass::kFloat:
      return 2;
    case DTypeClass::kComplex:
      return 3;
  }
  return 0;
}

namespace {

DType promoted_integers(DType a, DType b) {
  const DType wide = dtype_bytes(a) >= dtype_bytes(b) ? a : b;
  const DType narrow = wide == a ? b : a;
  if (is_unsigned(wide) == is_unsigned(narrow)) return wide;
  if (is_unsigned(narrow) && dtype_bytes(narrow) < dtype_bytes(wide)) return wide;
  // A signed type that holds both.
  constexpr DType kSigned[] = {DType::kI8, DType::kI16, DType::kI32, DType::kI64};
  const DType holder = is_unsigned(wide) ? wide : narrow;
  for (const DType dtype : kSigned) {
    if (dtype_bytes(dtype) > dtype_bytes(holder)) return dtype;
  }
  return DType::kI64;
}

}  // namespace

DType promoted(DType a, DType b) {
  if (a == b) return a;
  if (dtype_category(a) != dtype_category(b)) {
    const DType high = dtype_category(a) > dtype_category(b) ? a : b;
    const DType low = high == a ? b : a;
    // A wider float with a narrower complex makes a wider complex.
    if (is_complex(high) && is_float(low) && dtype_bytes(low) * 2 > dtype_bytes(high))
      return dtype_bytes(low) == 8 ? DType::kC128 : DType::kC64;
    return high;
  }
  if (is_integer(a)) return promoted_integers(a, b);
  // Two narrow floats of different kinds meet in single precision.
  if (dtype_bytes(a) == dtype_bytes(b)) return DType::kF32;
  return dtype_bytes(a) > dtype_bytes(b) ? a : b;
}

}  // namespace jumar::ir
