// The elements of a package's constants as one run of bytes: storages of the archive, as they are mapped, and
// copies of those weights that the plan wants in another layout.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "import/weights.h"
#include "ir/layout.h"

namespace jumar::driver {

class PackageWeights {
 public:
  // Every weight as it is.
  explicit PackageWeights(const std::vector<import::Weight>& weights);
  // `types[k]` is the layout that weight k shall have. A storage that weights share is there once.
  PackageWeights(const std::vector<import::Weight>& weights, const std::vector<ir::TensorType>& types);

  // Of the first element of weight k.
  uint64_t offset_bytes(size_t k) const { return offsets_[k]; }
  uint64_t bytes() const { return bytes_; }
  // In order. They point into the archive's memory and into this object.
  const std::vector<std::string_view>& pieces() const { return pieces_; }

 private:
  void add(std::string_view piece);
  void add_copy(const import::Weight& weight, const ir::TensorType& type);

  std::vector<std::string_view> pieces_;
  std::vector<uint64_t> offsets_;
  std::vector<std::string> copies_;
  std::map<std::string, uint64_t> storages_;  // by the archive's entry
  uint64_t bytes_ = 0;
};

// Sizes or strides of a weight, which are constants.
std::vector<int64_t> constants_of(const std::vector<sym::Expr>& exprs);

}  // namespace jumar::driver
