#include "runtime/package/constants.h"

#include <algorithm>

#include "runtime/memory.h"

namespace jumar::runtime::package {
namespace {

TensorView view_of(const Constant& c, void* data) {
  return {data, c.dtype, static_cast<int32_t>(c.sizes.size()), c.sizes.data(), c.strides.data(), kDlCpu};
}

}  // namespace

std::shared_ptr<const ConstantValue> constant_value(ir::DType dtype, std::vector<int64_t> sizes,
                                                    std::vector<int64_t> strides, void* data,
                                                    std::shared_ptr<void> owner) {
  auto value = std::make_shared<ConstantValue>();
  value->sizes = std::move(sizes);
  value->strides = std::move(strides);
  value->view = {
      data,  dtype, static_cast<int32_t>(value->sizes.size()), value->sizes.data(), value->strides.data(),
      kDlCpu};
  value->owner = std::move(owner);
  return value;
}

Result<ConstantBanks> ConstantBanks::create(const Manifest& manifest, const std::shared_ptr<Weights>& weights,
                                            std::shared_ptr<Pool> pool) {
  ConstantBanks banks(std::move(pool));
  banks.banks_[0].is_set = true;
  const std::span<uint8_t> bytes = weights->bytes();
  if (bytes.size() < manifest.weights_bytes) {
    return diagnostic("input", "the package's weights have {} bytes, but {} are needed", bytes.size(),
                      manifest.weights_bytes);
  }
  for (const Constant& c : manifest.constants) {
    const auto extent = static_cast<uint64_t>(extent_bytes(view_of(c, nullptr)));
    CHECK(c.offset_bytes <= bytes.size() && extent <= bytes.size() - c.offset_bytes,
          "constant '{}' is outside the weights", c.fqn);
    banks.banks_[0].values.push_back(
        constant_value(c.dtype, c.sizes, c.strides, bytes.data() + c.offset_bytes, weights));
  }
  return banks;
}

Result<std::shared_ptr<const ConstantValue>> ConstantBanks::value_of(const Constant& c,
                                                                     const ConstantUpdate& update) const {
  const TensorView& view = update.view;
  const bool same = view.dtype == c.dtype && view.rank == static_cast<int32_t>(c.sizes.size()) &&
                    view.device_type == kDlCpu && std::equal(c.sizes.begin(), c.sizes.end(), view.sizes);
  const TensorView wanted = view_of(c, nullptr);
  if (!same) {
    return diagnostic("input", "constant '{}' is {}, but its new value is {}", c.fqn, type_text(wanted),
                      type_text(view));
  }
  if (update.owner != nullptr) {
    if (!same_places(view.rank, view.sizes, view.strides, c.strides.data())) {
      return diagnostic(
          "input", "constant '{}' is {}, but the tensor to use in its place is {}: its strides must be equal",
          c.fqn, type_text(wanted), type_text(view));
    }
    return constant_value(c.dtype, c.sizes, c.strides, view.data, update.owner);
  }
  Block block = pool_->take(extent_bytes(wanted));
  if (!block)
    return diagnostic("memory", "no memory for {} bytes of constant '{}'", extent_bytes(wanted), c.fqn);
  void* data = block.data();
  auto owner = std::make_shared<Block>(std::move(block));
  std::shared_ptr<const ConstantValue> value =
      constant_value(c.dtype, c.sizes, c.strides, data, std::move(owner));
  copy_elements(view, value->view);
  return value;
}

Status ConstantBanks::update(const Manifest& manifest, size_t bank,
                             const std::vector<ConstantUpdate>& updates) {
  std::vector<std::shared_ptr<const ConstantValue>> values =
      is_set(bank) ? banks_[bank].values : banks_[active_].values;
  for (const ConstantUpdate& update : updates) {
    JUMAR_ASSIGN(values[update.index], value_of(manifest.constants[update.index], update));
  }
  banks_[bank].values = std::move(values);
  banks_[bank].is_set = true;
  return {};
}

Status ConstantBanks::swap() {
  if (!is_set(inactive())) {
    return diagnostic("input", "there are no other constants to swap to: update the inactive ones first");
  }
  active_ = inactive();
  return {};
}

void ConstantBanks::free_inactive() { banks_[inactive()] = {}; }

}  // namespace jumar::runtime::package
