#include "driver/package_weights.h"

#include "runtime/memory.h"
#include "runtime/package/weights.h"

namespace jumar::driver {
namespace {

constexpr uint64_t kAlignmentBytes = runtime::package::kWeightsAlignmentBytes;
constexpr char kZeros[kAlignmentBytes] = {};

std::vector<ir::TensorType> types_of(const std::vector<import::Weight>& weights) {
  std::vector<ir::TensorType> types;
  types.reserve(weights.size());
  for (const import::Weight& weight : weights) types.push_back(weight.type);
  return types;
}

}  // namespace

std::vector<int64_t> constants_of(const std::vector<sym::Expr>& exprs) {
  std::vector<int64_t> out;
  out.reserve(exprs.size());
  for (const sym::Expr e : exprs) out.push_back(e.const_value());
  return out;
}

PackageWeights::PackageWeights(const std::vector<import::Weight>& weights)
    : PackageWeights(weights, types_of(weights)) {}

PackageWeights::PackageWeights(const std::vector<import::Weight>& weights,
                               const std::vector<ir::TensorType>& types) {
  copies_.reserve(weights.size());  // pieces point into them
  for (size_t k = 0; k < weights.size(); ++k) {
    const import::Weight& weight = weights[k];
    if (types[k].strides != weight.type.strides) {
      add_copy(weight, types[k]);
      continue;
    }
    const auto [it, is_new] = storages_.try_emplace(weight.path, bytes_);
    if (is_new) add({reinterpret_cast<const char*>(weight.storage.data()), weight.storage.size()});
    offsets_.push_back(it->second +
                       static_cast<uint64_t>(weight.storage_offset * ir::dtype_bytes(weight.type.dtype)));
  }
}

void PackageWeights::add(std::string_view piece) {
  pieces_.push_back(piece);
  bytes_ += piece.size();
  const uint64_t over = bytes_ % kAlignmentBytes;
  if (over == 0) return;
  pieces_.emplace_back(kZeros, kAlignmentBytes - over);
  bytes_ += kAlignmentBytes - over;
}

void PackageWeights::add_copy(const import::Weight& weight, const ir::TensorType& type) {
  const std::vector<int64_t> sizes = constants_of(type.sizes);
  const std::vector<int64_t> from_strides = constants_of(weight.type.strides);
  const std::vector<int64_t> to_strides = constants_of(type.strides);
  const auto rank = static_cast<int32_t>(sizes.size());
  runtime::TensorView to{nullptr, type.dtype, rank, sizes.data(), to_strides.data(), runtime::kDlCpu};
  std::string& copy = copies_.emplace_back(static_cast<size_t>(runtime::extent_bytes(to)), '\0');
  to.data = copy.data();
  // Only read.
  auto* data = const_cast<uint8_t*>(weight.data());
  runtime::copy_elements({data, type.dtype, rank, sizes.data(), from_strides.data(), runtime::kDlCpu}, to);
  offsets_.push_back(bytes_);
  add(copy);
}

}  // namespace jumar::driver
