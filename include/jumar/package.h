// Loads and runs packages that `jumar compile` made: what a C++ program that serves models includes.
//
//   using namespace jumar::embed;
//   Result<Package> package = Package::load("bert.jumar.pt2");
//   if (!package) return fail(package.error().message);
//   std::vector<int64_t> tokens = ...;
//   Result<std::vector<Value>> results = package->run({TensorView::of(tokens.data(), {2, 128})});
//   const float* hidden = results->at(0).tensor().data<float>();
//
// C++17, no exceptions, no dependency but the C++ library; link jumar::package of CMake's
// find_package(jumar_package). Weights are mapped from the file and shared between all processes that load
// it; nothing is unpacked. A Package may be run by several threads at once and is cheap to copy: copies share
// the model. Packages of one process are independent of each other and of Jumar's version.
#ifndef JUMAR_PACKAGE_H_
#define JUMAR_PACKAGE_H_

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

struct DLManagedTensorVersioned;  // of DLPack 1.x

#define JUMAR_EMBED_API __attribute__((visibility("default")))

namespace jumar::embed {

// What went wrong. `code` is a stable word: "io" (a file), "input" (an argument, or what is in a package),
// "unsupported" (this processor, or what the package needs), "index", "check", "number", "operator",
// "memory".
struct Error {
  std::string code;
  std::string message;  // complete, for people
};

// A value, or an error.
template <class T>
class Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  T& value() {
    assert(ok());
    return *std::get_if<0>(&state_);
  }
  const T& value() const {
    assert(ok());
    return *std::get_if<0>(&state_);
  }
  T& operator*() { return value(); }
  const T& operator*() const { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  const Error& error() const {
    assert(!ok());
    return *std::get_if<1>(&state_);
  }

 private:
  std::variant<T, Error> state_;
};

enum class DType : uint8_t {
  kBool,
  kI8,
  kI16,
  kI32,
  kI64,
  kU8,
  kU16,
  kU32,
  kU64,
  kF16,
  kBF16,
  kF32,
  kF64,
  kC64,
  kC128,
  kF8E4M3,
  kF8E5M2,
  kOther
};
JUMAR_EMBED_API const char* dtype_name(DType dtype);  // "f32"
JUMAR_EMBED_API size_t dtype_bytes(DType dtype);      // 0 for kOther

template <class T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, bool>) return DType::kBool;
  if constexpr (std::is_same_v<T, float>) return DType::kF32;
  if constexpr (std::is_same_v<T, double>) return DType::kF64;
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    constexpr DType kSigned[] = {DType::kI8, DType::kI16, DType::kI32, DType::kI64};
    constexpr DType kUnsigned[] = {DType::kU8, DType::kU16, DType::kU32, DType::kU64};
    constexpr int k = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
    return std::is_signed_v<T> ? kSigned[k] : kUnsigned[k];
  }
  return DType::kOther;
}

// A tensor in memory that the caller keeps for the duration of a call.
struct TensorView {
  void* data = nullptr;  // the first element
  DType dtype = DType::kF32;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;  // in elements; empty: row-major

  // Elements are read, and written only where the model changes the argument.
  template <class T>
  static TensorView of(const T* data, std::vector<int64_t> sizes) {
    return {const_cast<T*>(data), dtype_of<T>(), std::move(sizes), {}};
  }
  // A view of a DLPack tensor, which stays the caller's. Of an element type that Jumar does not have: kOther.
  JUMAR_EMBED_API static TensorView of(const DLManagedTensorVersioned& tensor);
};

// A tensor that a call has made.
class Tensor {
 public:
  Tensor() = default;
  // Takes over the reference.
  explicit Tensor(DLManagedTensorVersioned* tensor) : tensor_(tensor) {}
  Tensor(Tensor&& other) noexcept : tensor_(std::exchange(other.tensor_, nullptr)) {}
  Tensor& operator=(Tensor&& other) noexcept {
    std::swap(tensor_, other.tensor_);
    return *this;
  }
  JUMAR_EMBED_API ~Tensor();

  JUMAR_EMBED_API void* raw_data() const;
  template <class T>
  const T* data() const {
    assert(dtype() == dtype_of<T>());
    return static_cast<const T*>(raw_data());
  }
  JUMAR_EMBED_API DType dtype() const;
  JUMAR_EMBED_API std::vector<int64_t> sizes() const;
  JUMAR_EMBED_API std::vector<int64_t> strides() const;  // in elements
  TensorView view() const { return {raw_data(), dtype(), sizes(), strides()}; }
  // The DLPack tensor, whose deleter the taker calls.
  DLManagedTensorVersioned* release() { return std::exchange(tensor_, nullptr); }

 private:
  DLManagedTensorVersioned* tensor_ = nullptr;
};

// An argument of a call.
using Argument = std::variant<TensorView, int64_t, double, bool>;

// A result of a call: a tensor, a number, or nothing.
class Value {
 public:
  Value() = default;
  template <class T>
  explicit Value(T value) : value_(std::move(value)) {}
  bool is_tensor() const { return std::holds_alternative<Tensor>(value_); }
  Tensor& tensor() {
    assert(is_tensor());
    return *std::get_if<Tensor>(&value_);
  }
  const Tensor& tensor() const {
    assert(is_tensor());
    return *std::get_if<Tensor>(&value_);
  }
  const std::variant<std::monostate, Tensor, int64_t, double, bool>& any() const { return value_; }

 private:
  std::variant<std::monostate, Tensor, int64_t, double, bool> value_;
};

enum class Kind : uint8_t { kNone, kTensor, kInt, kFloat, kBool };

// What an argument must be, or what a result is. Sizes and strides are numbers or expressions of the
// package's symbols: "128", "s0", "2*s0 + 1".
struct ValueInfo {
  std::string name;
  Kind kind = Kind::kTensor;
  DType dtype = DType::kOther;
  std::vector<std::string> sizes;
  std::vector<std::string> strides;

  JUMAR_EMBED_API std::string text() const;  // "f32[s0, 256]"
};

// A size that calls may choose, within limits.
struct Symbol {
  std::string name;
  int64_t least = 0;
  int64_t most = std::numeric_limits<int64_t>::max();
};

struct LoadOptions {
  std::string model;       // of a package that holds several; otherwise empty
  int threads = 0;         // of a model that does not use libtorch; 0: one per core that may be used
  int64_t pool_bytes = 0;  // memory kept for the next calls, at most; 0: 1 GiB
  std::string
      torch_library;  // a libtorch_cpu.so to load where the model calls libtorch and the process has none
};

class Package {
 public:
  JUMAR_EMBED_API static Result<Package> load(const std::string& path, const LoadOptions& options = {});
  // From memory that the caller keeps as long as any copy of the package lives. A model that changes its own
  // buffers changes them there.
  JUMAR_EMBED_API static Result<Package> load(void* data, size_t bytes, const LoadOptions& options = {});

  JUMAR_EMBED_API const std::vector<ValueInfo>& inputs() const;
  JUMAR_EMBED_API const std::vector<ValueInfo>& results() const;
  JUMAR_EMBED_API const std::vector<ValueInfo>& constants() const;  // by their names in the module
  JUMAR_EMBED_API const std::vector<Symbol>& symbols() const;

  // One argument for each input, in order. Every argument is checked against its type before anything is
  // read.
  JUMAR_EMBED_API Result<std::vector<Value>> run(const std::vector<Argument>& arguments) const;

  // Copies new elements of constants, all or none. Calls that are under way end first.
  JUMAR_EMBED_API Result<std::monostate> update_constants(
      const std::vector<std::pair<std::string, TensorView>>& constants) const;

 private:
  struct Impl;
  explicit Package(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

}  // namespace jumar::embed

#endif  // JUMAR_PACKAGE_H_
