// The constants of a loaded package: two banks, of which one is in use.
//
//   ConstantBanks banks(manifest, weights, pool);
//   banks.update(banks.inactive(), {{3, view, {}}});      // copies; the rest is the active bank's
//   banks.swap();
//
// A constant's memory is shared between banks until one of them gets its own. Not safe for several threads:
// the model guards it.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "runtime/executor.h"
#include "runtime/package/manifest.h"
#include "runtime/package/weights.h"

namespace jumar::runtime::package {

// A tensor and what keeps its memory alive. `view` points into the value itself, so values do not move.
struct ConstantValue {
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
  TensorView view;
  std::shared_ptr<void> owner;
};

// One new value of a constant. Without an owner the elements are copied.
struct ConstantUpdate {
  size_t index = 0;
  TensorView view;
  std::shared_ptr<void> owner;
};

class ConstantBanks {
 public:
  static Result<ConstantBanks> create(const Manifest& manifest, const std::shared_ptr<Weights>& weights,
                                      std::shared_ptr<Pool> pool);

  size_t active() const { return active_; }
  size_t inactive() const { return 1 - active_; }
  bool is_set(size_t bank) const { return banks_[bank].is_set; }
  const std::vector<std::shared_ptr<const ConstantValue>>& values(size_t bank) const {
    return banks_[bank].values;
  }
  // What the folding plan gave, by its results.
  const std::vector<std::shared_ptr<const ConstantValue>>& folded(size_t bank) const {
    return banks_[bank].folded;
  }
  void set_folded(size_t bank, std::vector<std::shared_ptr<const ConstantValue>> values) {
    banks_[bank].folded = std::move(values);
  }

  // Changes constants of a bank, all or none; what an empty bank does not get is the active one's.
  // Fails where a value has other sizes or another element type than the constant, or, when it is not
  // copied, other strides.
  Status update(const Manifest& manifest, size_t bank, const std::vector<ConstantUpdate>& updates);
  // Fails when the inactive bank is empty.
  Status swap();
  void free_inactive();

 private:
  struct Bank {
    bool is_set = false;
    std::vector<std::shared_ptr<const ConstantValue>> values;
    std::vector<std::shared_ptr<const ConstantValue>> folded;
  };
  explicit ConstantBanks(std::shared_ptr<Pool> pool) : pool_(std::move(pool)) {}
  Result<std::shared_ptr<const ConstantValue>> value_of(const Constant& constant,
                                                        const ConstantUpdate& update) const;

  std::shared_ptr<Pool> pool_;
  std::array<Bank, 2> banks_;
  size_t active_ = 0;
};

// A value with this layout on memory that `owner` keeps.
std::shared_ptr<const ConstantValue> constant_value(ir::DType dtype, std::vector<int64_t> sizes,
                                                    std::vector<int64_t> strides, void* data,
                                                    std::shared_ptr<void> owner);

}  // namespace jumar::runtime::package
