#include "runtime/dlpack.h"

namespace jumar::runtime {
namespace {

using ir::DType;

// Codes of the standard: 0 int, 1 uint, 2 float, 4 bfloat, 5 complex, 6 bool, 8-bit floats from 7 on.
struct Row {
  DType dtype;
  uint8_t code;
  uint8_t bits;
};
constexpr Row kRows[] = {
    {DType::kU8, 1, 8},      {DType::kI8, 0, 8},          {DType::kI16, 0, 16},
    {DType::kI32, 0, 32},    {DType::kI64, 0, 64},        {DType::kF16, 2, 16},
    {DType::kF32, 2, 32},    {DType::kF64, 2, 64},        {DType::kC32, 5, 32},
    {DType::kC64, 5, 64},    {DType::kC128, 5, 128},      {DType::kBool, 6, 8},
    {DType::kBF16, 4, 16},   {DType::kF8E4M3FN, 10, 8},   {DType::kF8E4M3FNUZ, 11, 8},
    {DType::kF8E5M2, 12, 8}, {DType::kF8E5M2FNUZ, 13, 8}, {DType::kU16, 1, 16},
    {DType::kU32, 1, 32},    {DType::kU64, 1, 64},
};

}  // namespace

DLDataType dl_dtype(DType dtype) {
  for (const Row& row : kRows)
    if (row.dtype == dtype) return {row.code, row.bits, 1};
  return {3, 64, 1};  // an opaque handle: no row is missing, a test says so
}

std::optional<DType> dtype_from_dl(DLDataType type) {
  if (type.lanes != 1) return std::nullopt;
  for (const Row& row : kRows)
    if (row.code == type.code && row.bits == type.bits) return row.dtype;
  return std::nullopt;
}

}  // namespace jumar::runtime
