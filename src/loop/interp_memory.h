// The memory of one buffer in the interpreter, with what the sanitizer knows about each element.
#pragma once

#include <string>

#include "loop/interp.h"
#include "loop/scalar_eval.h"

namespace jumar::loop {

// Who touches memory: a kept point of a nest, numbered within its kernel's run, and how.
struct Access {
  enum class Kind : uint8_t { kRead, kSet, kAdd, kMul, kMax, kMin };
  uint64_t kernel_run = 0;
  uint64_t point = 0;
  Kind kind = Kind::kRead;
};
Access::Kind access_kind(StoreMode mode);

class BufferMemory {
 public:
  // Memory of its own, unwritten.
  BufferMemory(ir::DType dtype, std::vector<int64_t> sizes, std::vector<int64_t> strides);
  // An input's memory, all of it written.
  explicit BufferMemory(const TensorView& input);

  const TensorView& view() const { return view_; }
  int64_t extent() const { return extent_; }

  // Nothing, or why the access is wrong ("bounds", "poison", "race").
  struct Fault {
    const char* code = nullptr;
    std::string message;
  };
  std::optional<Fault> check(int64_t element, const Access& access);

  Scalar load(int64_t element) const;
  void store(int64_t element, Scalar value);
  // The address of an element, for views; whether it was written.
  bool is_written(int64_t element) const { return is_input_ || written_[element]; }
  void mark_all_written();

 private:
  // Accesses of the latest kernel run: by one point, in one way or several, or by many, all in one way.
  struct History {
    uint64_t kernel_run = 0;
    uint64_t point = 0;
    Access::Kind kind = Access::Kind::kRead;
    bool is_mixed = false;
    bool is_shared = false;
  };
  bool races(History& history, const Access& access) const;

  TensorView view_;
  int64_t extent_ = 0;
  bool is_input_ = false;
  std::vector<std::byte> bytes_;
  std::vector<bool> written_;
  std::vector<History> histories_;
};

}  // namespace jumar::loop
