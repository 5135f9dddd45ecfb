#include "loop/interp_memory.h"

namespace jumar::loop {

int64_t TensorView::element_count() const {
  int64_t count = 1;
  for (int64_t size : sizes) count *= size;
  return count;
}

int64_t extent_elems(const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides) {
  int64_t last = 0;
  for (size_t k = 0; k < sizes.size(); ++k) {
    if (sizes[k] == 0) return 0;
    last += (sizes[k] - 1) * strides[k];
  }
  return last + 1;
}

void for_each_offset(const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides,
                     const std::function<void(int64_t)>& visit) {
  std::vector<int64_t> index(sizes.size(), 0);
  for (int64_t size : sizes)
    if (size <= 0) return;
  int64_t offset = 0;
  while (true) {
    visit(offset);
    size_t k = sizes.size();
    while (k > 0 && index[k - 1] + 1 == sizes[k - 1]) {
      offset -= index[k - 1] * strides[k - 1];
      index[k - 1] = 0;
      --k;
    }
    if (k == 0) return;
    ++index[k - 1];
    offset += strides[k - 1];
  }
}

HostTensor HostTensor::make(ir::DType dtype, std::vector<int64_t> sizes, std::vector<int64_t> strides) {
  size_t bytes = static_cast<size_t>(extent_elems(sizes, strides) * ir::dtype_bytes(dtype));
  return {dtype, std::move(sizes), std::move(strides), std::vector<std::byte>(bytes)};
}

HostTensor HostTensor::contiguous(ir::DType dtype, std::vector<int64_t> sizes) {
  std::vector<int64_t> strides(sizes.size());
  int64_t stride = 1;
  for (size_t k = sizes.size(); k-- > 0;) {
    strides[k] = stride;
    stride *= std::max<int64_t>(sizes[k], 1);
  }
  return make(dtype, std::move(sizes), std::move(strides));
}

TensorView HostTensor::view() { return {bytes.data(), dtype, sizes, strides}; }

Access::Kind access_kind(StoreMode mode) {
  switch (mode) {
    case StoreMode::kSet:
      return Access::Kind::kSet;
    case StoreMode::kAdd:
      return Access::Kind::kAdd;
    case StoreMode::kMul:
      return Access::Kind::kMul;
    case StoreMode::kMax:
      return Access::Kind::kMax;
    case StoreMode::kMin:
      return Access::Kind::kMin;
  }
  return Access::Kind::kSet;
}

BufferMemory::BufferMemory(ir::DType dtype, std::vector<int64_t> sizes, std::vector<int64_t> strides)
    : extent_(extent_elems(sizes, strides)),
      bytes_(static_cast<size_t>(extent_ * ir::dtype_bytes(dtype)), std::byte{0xcd}),
      written_(static_cast<size_t>(extent_)),
      histories_(static_cast<size_t>(extent_)) {
  view_ = {bytes_.data(), dtype, std::move(sizes), std::move(strides)};
}

BufferMemory::BufferMemory(const TensorView& input)
    : view_(input),
      extent_(extent_elems(input.sizes, input.strides)),
      is_input_(true),
      histories_(static_cast<size_t>(extent_)) {}

// Two points may touch an element if both only read it, or both only store to it in one mode other than
// `set`.
bool BufferMemory::races(History& history, const Access& access) const {
  if (history.kernel_run != access.kernel_run) {
    history = {access.kernel_run, access.point, access.kind, false, false};
    return false;
  }
  if (!history.is_shared && history.point == access.point) {
    history.is_mixed |= history.kind != access.kind;
    return false;
  }
  history.is_shared = true;
  return history.is_mixed || history.kind != access.kind || access.kind == Access::Kind::kSet;
}

std::optional<BufferMemory::Fault> BufferMemory::check(int64_t element, const Access& access) {
  if (element < 0 || element >= extent_)
    return Fault{"bounds", fmt::format("element {} of a buffer of {}", element, extent_)};
  if (access.kind != Access::Kind::kSet && !is_written(element))
    return Fault{"poison", fmt::format("element {} is read and was never written", element)};
  if (races(histories_[element], access))
    return Fault{"race", fmt::format("another point of this kernel touches element {} too", element)};
  return std::nullopt;
}

Scalar BufferMemory::load(int64_t element) const {
  const std::byte* base = static_cast<const std::byte*>(view_.data);
  return load_scalar(base + element * ir::dtype_bytes(view_.dtype), view_.dtype);
}

void BufferMemory::store(int64_t element, Scalar value) {
  store_scalar(static_cast<std::byte*>(view_.data) + element * ir::dtype_bytes(view_.dtype), value);
  if (!is_input_) written_[element] = true;
}

void BufferMemory::mark_all_written() {
  if (!is_input_) written_.assign(written_.size(), true);
}

}  // namespace jumar::loop
