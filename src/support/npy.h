// Arrays in NumPy's .npy files.
//
//   JUMAR_ASSIGN(NpyArray array, read_npy("x.npy"));
//   array.type       "<f4": NumPy's name of the element type
//   array.sizes      {2, 3}
//   array.elements   24 bytes
//   JUMAR_RETURN_IF_ERROR(write_npy("y.npy", array));
//
// The reader takes files of format 1 to 3 with elements of one number, in this machine's byte order (little
// endian), and nothing behind them. A file is untrusted: what is wrong with it is a diagnostic.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/result.h"

namespace jumar {

struct NpyArray {
  std::string type;
  std::vector<int64_t> sizes;
  bool is_column_major = false;  // the first index changes fastest
  std::vector<uint8_t> elements;
};

// Bytes of an element: 0 for a type that is not read. bf16, which NumPy does not have, is "<V2": two bytes
// without a meaning, as the packages that add the type write it.
int64_t npy_type_bytes(std::string_view type);

Result<NpyArray> parse_npy(std::span<const uint8_t> bytes, const std::string& file);
Result<NpyArray> read_npy(const std::string& path);
// What the file of an array holds. Its type must be one that is read, and its sizes those of its elements.
std::string npy_bytes(const NpyArray& array);
Status write_npy(const std::string& path, const NpyArray& array);

}  // namespace jumar
