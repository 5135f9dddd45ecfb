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

}  // namespace jumar::ir
