// Operators of libtorch as a program names them, and the arguments it passes.
//
//   Operator<Handle, Handle, Handle> mm{"aten.mm.default", "aoti_torch_cpu_mm_out"};
//   Dispatched topk{"aten.topk.default", "aten::topk", "", "tt"};
//
// An Operator has a C function of its own. A Dispatched goes through libtorch's dispatcher, which takes every
// argument of the schema in order; `results` has a letter for each result: t a tensor, l a list of tensors, i
// an int, b a bool.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <tuple>

#include "emit/host/wrapper/tensor.h"
#include "emit/host/wrapper/torch.h"

namespace jumar::wrapper {

template <class... Parameters>
struct Operator {
  const char* name;
  Error (*function)(Parameters...);

  Operator(const char* op, const char* symbol)
      : name(op), function(reinterpret_cast<Error (*)(Parameters...)>(needed_torch_symbol(symbol))) {}
};

struct Dispatched {
  const char* name;
  const char* op;
  const char* overload;
  const char* results;
};

// A tensor in a list of tensors.
struct TensorRef {
  const Tensor* tensor;
  TensorRef(const Tensor& value) : tensor(&value) {}
};

struct None {};
constexpr None none;

// Enumerations whose numbers only libtorch knows.
enum class Format : uint8_t { kStrided, kContiguous, kPreserve, kChannelsLast, kChannelsLast3d };
constexpr Format strided = Format::kStrided;
constexpr Format contiguous = Format::kContiguous;
constexpr Format preserve = Format::kPreserve;
constexpr Format channels_last = Format::kChannelsLast;
constexpr Format channels_last_3d = Format::kChannelsLast3d;

struct Device {
  int32_t index;
};
constexpr Device cpu{-1};
constexpr Device cpu_0{0};

// An argument of a dispatched operator; valid within the expression that makes it.
struct Arg {
  enum class Kind : uint8_t { kNone, kTensor, kInt, kFloat, kText, kDevice, kFormat, kList };
  Kind kind = Kind::kNone;
  bool is_optional = false;  // its schema type is, so libtorch wants a cell
  const Tensor* tensor = nullptr;
  int64_t integer = 0;
  double number = 0;
  const char* text = nullptr;
  const Arg* items = nullptr;  // of a list of `integer` items

  Arg(None) {}
  Arg(const Tensor& value) : kind(Kind::kTensor), tensor(&value) {}
  Arg(Int value) : kind(Kind::kInt), integer(value.value()) {}
  Arg(int64_t value) : kind(Kind::kInt), integer(value) {}
  Arg(int value) : kind(Kind::kInt), integer(value) {}
  Arg(bool value) : kind(Kind::kInt), integer(value) {}
  Arg(double value) : kind(Kind::kFloat), number(value) {}
  Arg(const char* value) : kind(Kind::kText), text(value) {}
  Arg(const DType& value) : kind(Kind::kInt), integer(value.code) {}
  Arg(Device value) : kind(Kind::kDevice), integer(value.index) {}
  Arg(Format value) : kind(Kind::kFormat), integer(static_cast<int64_t>(value)) {}
};

inline Arg list() {
  Arg out(none);
  out.kind = Arg::Kind::kList;
  return out;
}
inline Arg list(std::initializer_list<Arg> items) {
  Arg out = list();
  out.integer = static_cast<int64_t>(items.size());
  out.items = items.begin();
  return out;
}
inline Arg some(Arg value) {
  value.is_optional = true;
  return value;
}

// Lists of numbers and tensors for operators with C functions of their own.
struct Ints {
  std::initializer_list<Int> items;
};
inline Ints ints(std::initializer_list<Int> items) { return {items}; }
inline Ints ints() { return {}; }
struct Tensors {
  std::initializer_list<TensorRef> items;
};
inline Tensors tensors(std::initializer_list<TensorRef> items) { return {items}; }
// A tensor where none may stand.
struct MaybeTensor {
  const Tensor* tensor;
};
inline MaybeTensor maybe(const Tensor& tensor) { return {&tensor}; }
inline MaybeTensor maybe(None) { return {nullptr}; }

}  // namespace jumar::wrapper
