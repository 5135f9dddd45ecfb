#include "driver/run_arrays.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>

#include "runtime/memory.h"

namespace jumar::driver {
namespace {

using ir::DType;
using runtime::TensorView;

constexpr std::string_view kNumberPlace = "{}";

struct NpyRow {
  DType dtype;
  std::string_view type;
};
constexpr std::array<NpyRow, 13> kNpyTypes = {{{DType::kF32, "<f4"},
                                               {DType::kF64, "<f8"},
                                               {DType::kF16, "<f2"},
                                               {DType::kBF16, "<V2"},
                                               {DType::kI64, "<i8"},
                                               {DType::kI32, "<i4"},
                                               {DType::kI16, "<i2"},
                                               {DType::kI8, "|i1"},
                                               {DType::kU64, "<u8"},
                                               {DType::kU32, "<u4"},
                                               {DType::kU16, "<u2"},
                                               {DType::kU8, "|u1"},
                                               {DType::kBool, "|b1"}}};

std::optional<DType> dtype_of(std::string_view type) {
  if (type == "|V2") return DType::kBF16;
  const auto* row = std::ranges::find(kNpyTypes, type, &NpyRow::type);
  return row == kNpyTypes.end() ? std::nullopt : std::optional(row->dtype);
}

std::vector<int64_t> array_strides(const NpyArray& array) {
  std::vector<int64_t> strides(array.sizes.size());
  int64_t next = 1;
  for (size_t n = 0; n < strides.size(); ++n) {
    const size_t k = array.is_column_major ? n : strides.size() - 1 - n;
    strides[k] = next;
    next *= std::max<int64_t>(array.sizes[k], 1);
  }
  return strides;
}

// A program takes row-major tensors: the elements of others are moved.
void make_row_major(NpyArray& array, DType dtype) {
  if (!std::exchange(array.is_column_major, false)) return;
  NpyArray before = array;
  before.is_column_major = true;
  const std::vector<int64_t> from = array_strides(before);
  const std::vector<int64_t> to = array_strides(array);
  const int32_t rank = static_cast<int32_t>(array.sizes.size());
  runtime::copy_elements({before.elements.data(), dtype, rank, array.sizes.data(), from.data()},
                         {array.elements.data(), dtype, rank, array.sizes.data(), to.data()});
}

template <class T>
HostNumber number_at(const std::vector<uint8_t>& bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

template <class T>
NpyArray number_array(std::string_view type, T value) {
  NpyArray array{std::string(type), {}, false, std::vector<uint8_t>(sizeof value)};
  std::memcpy(array.elements.data(), &value, sizeof value);
  return array;
}

}  // namespace

Result<FileArray> FileArray::read(const std::string& path) {
  FileArray out;
  out.path_ = path;
  JUMAR_ASSIGN(out.array_, read_npy(path));
  out.dtype_ = *dtype_of(out.array_.type);
  make_row_major(out.array_, out.dtype_);
  out.strides_ = array_strides(out.array_);
  return out;
}

TensorView FileArray::view() {
  return {array_.elements.data(), dtype_, static_cast<int32_t>(array_.sizes.size()), array_.sizes.data(),
          strides_.data()};
}

Result<HostNumber> FileArray::number(HostKind kind) const {
  const std::vector<uint8_t>& bytes = array_.elements;
  if (kind == HostKind::kInt && dtype_ == DType::kI64 && bytes.size() == sizeof(int64_t))
    return number_at<int64_t>(bytes);
  if (kind == HostKind::kFloat && dtype_ == DType::kF64 && bytes.size() == sizeof(double))
    return number_at<double>(bytes);
  if (kind == HostKind::kBool && dtype_ == DType::kBool && bytes.size() == 1)
    return HostNumber(bytes[0] != 0);
  return diagnostic("input", "{} must hold one element of {}", path_,
                    kind == HostKind::kInt     ? "<i8"
                    : kind == HostKind::kFloat ? "<f8"
                                               : "|b1");
}

Result<NpyArray> array_of(const TensorView& tensor) {
  const auto* row = std::ranges::find(kNpyTypes, tensor.dtype, &NpyRow::dtype);
  if (row == kNpyTypes.end())
    return diagnostic("unsupported", "a result has elements of type {}, which .npy files have not",
                      ir::dtype_name(tensor.dtype));
  NpyArray array{std::string(row->type), {tensor.sizes, tensor.sizes + tensor.rank}, false, {}};
  int64_t bytes = ir::dtype_bytes(tensor.dtype);
  for (int64_t size : array.sizes) bytes *= size;
  array.elements.resize(static_cast<size_t>(bytes));
  const std::vector<int64_t> strides = array_strides(array);
  runtime::copy_elements(tensor,
                         {array.elements.data(), tensor.dtype, tensor.rank, tensor.sizes, strides.data()});
  return array;
}

NpyArray array_of(const HostNumber& number) {
  if (const auto* integer = std::get_if<int64_t>(&number)) return number_array("<i8", *integer);
  if (const auto* real = std::get_if<double>(&number)) return number_array("<f8", *real);
  return number_array("|b1", std::get<bool>(number));
}

Result<runtime::InputValue> input_of(FileArray& array, std::optional<HostKind> number) {
  runtime::InputValue value;
  if (!number) {
    value.tensor = array.view();
    return value;
  }
  JUMAR_ASSIGN(const HostNumber found, array.number(*number));
  if (const auto* integer = std::get_if<int64_t>(&found)) {
    value.kind = runtime::InputValue::Kind::kInt;
    value.integer = *integer;
  } else if (const auto* real = std::get_if<double>(&found)) {
    value.kind = runtime::InputValue::Kind::kFloat;
    value.number = *real;
  } else {
    value.kind = runtime::InputValue::Kind::kBool;
    value.integer = std::get<bool>(found);
  }
  return value;
}

Result<NpyArray> array_of(const runtime::torch::Api* torch, const runtime::Output& output,
                          std::span<const runtime::InputValue> inputs) {
  using Kind = runtime::Output::Kind;
  if (output.kind == Kind::kInt) return array_of(HostNumber(output.integer));
  if (output.kind == Kind::kFloat) return array_of(HostNumber(output.number));
  if (output.kind == Kind::kBool) return array_of(HostNumber(output.integer != 0));
  return array_of(runtime::output_view(torch, output, inputs));
}

Status write_result(const std::string& pattern, size_t number, const NpyArray& array) {
  std::string path = pattern;
  if (const size_t place = path.find(kNumberPlace); place != std::string::npos)
    path.replace(place, kNumberPlace.size(), fmt::format("{}", number));
  JUMAR_RETURN_IF_ERROR(write_npy(path, array));
  const std::string line = fmt::format("{}: {}[{}]\n", path, array.type, fmt::join(array.sizes, ", "));
  std::fwrite(line.data(), 1, line.size(), stdout);
  return {};
}

Status measure(int count, const std::function<Status()>& call) {
  std::vector<double> times;
  for (int k = 0; k < count; ++k) {
    const auto start = std::chrono::steady_clock::now();
    JUMAR_RETURN_IF_ERROR(call());
    times.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  if (times.empty()) return {};
  std::ranges::sort(times);
  const std::string line = fmt::format("{} calls, median {:.3f} ms, fastest {:.3f} ms\n", times.size(),
                                       times[times.size() / 2], times.front());
  std::fwrite(line.data(), 1, line.size(), stderr);
  return {};
}

}  // namespace jumar::driver
