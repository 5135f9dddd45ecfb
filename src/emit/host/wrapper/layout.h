// Element types, and the layouts that are made of them: F32({s0, 256}) is contiguous, F32({4, s0}, {1, 4})
// has strides of its own.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

#include "emit/host/wrapper/integer.h"

// Dimensions of a tensor, at most.
#ifndef JUMAR_WRAPPER_MOST_DIMS
#define JUMAR_WRAPPER_MOST_DIMS 8
#endif

namespace jumar::wrapper {

constexpr int32_t kMostDims = JUMAR_WRAPPER_MOST_DIMS;

struct Layout;

struct DType {
  int32_t code;   // c10's number
  int32_t bytes;  // of an element
  const char* name;

  Layout operator()() const;
  Layout operator()(std::initializer_list<int64_t> sizes) const;
  Layout operator()(std::initializer_list<Int> sizes) const;
  Layout operator()(std::initializer_list<int64_t> sizes, std::initializer_list<int64_t> strides) const;
  Layout operator()(std::initializer_list<Int> sizes, std::initializer_list<Int> strides) const;
};

struct Layout {
  DType dtype;
  int32_t rank = 0;
  // False where a size or a stride is negative, or the last element is beyond 63 bits.
  bool is_possible = true;
  int64_t extent_bytes = 0;  // from the first element to the end of the last
  int64_t sizes[kMostDims];
  int64_t strides[kMostDims];

  explicit Layout(DType type) : dtype(type) {}
  Layout(const Layout& other) : dtype(other.dtype), rank(other.rank), is_possible(other.is_possible) {
    extent_bytes = other.extent_bytes;
    for (int32_t k = 0; k < rank; ++k) {
      sizes[k] = other.sizes[k];
      strides[k] = other.strides[k];
    }
  }
  Layout& operator=(const Layout&) = delete;

  void measure() {
    int64_t last = 0;
    bool empty = false;
    for (int32_t k = 0; k < rank; ++k) {
      int64_t span = 0;
      empty = empty || sizes[k] == 0;
      is_possible = is_possible && sizes[k] >= 0 && (strides[k] >= 0 || sizes[k] <= 1);
      if (sizes[k] > 1)
        is_possible = is_possible && !__builtin_mul_overflow(sizes[k] - 1, strides[k], &span) &&
                      !__builtin_add_overflow(last, span, &last);
    }
    int64_t bytes = 0;
    if (!empty)
      is_possible =
          is_possible && last < INT64_MAX && !__builtin_mul_overflow(last + 1, int64_t{dtype.bytes}, &bytes);
    extent_bytes = is_possible ? bytes : 0;
  }
};

inline int64_t value_of(int64_t value) { return value; }
inline int64_t value_of(Int value) { return value.value(); }

template <class T>
Layout strided_layout(DType dtype, std::initializer_list<T> sizes, std::initializer_list<T> strides) {
  Layout out(dtype);
  out.rank = static_cast<int32_t>(sizes.size());
  const T* size = sizes.begin();
  const T* stride = strides.begin();
  for (int32_t k = 0; k < out.rank; ++k) {
    out.sizes[k] = value_of(size[k]);
    out.strides[k] = value_of(stride[k]);
  }
  out.measure();
  return out;
}

template <class T>
Layout contiguous_layout(DType dtype, std::initializer_list<T> sizes) {
  Layout out(dtype);
  out.rank = static_cast<int32_t>(sizes.size());
  const T* size = sizes.begin();
  Int next = 1;
  for (int32_t k = out.rank - 1; k >= 0; --k) {
    out.sizes[k] = value_of(size[k]);
    out.strides[k] = next.value();
    next = next * size[k];
  }
  out.measure();
  return out;
}

inline Layout DType::operator()() const {
  Layout out(*this);
  out.extent_bytes = bytes;
  return out;
}
inline Layout DType::operator()(std::initializer_list<int64_t> sizes) const {
  return contiguous_layout(*this, sizes);
}
inline Layout DType::operator()(std::initializer_list<Int> sizes) const {
  return contiguous_layout(*this, sizes);
}
inline Layout DType::operator()(std::initializer_list<int64_t> sizes,
                                std::initializer_list<int64_t> strides) const {
  return strided_layout(*this, sizes, strides);
}
inline Layout DType::operator()(std::initializer_list<Int> sizes, std::initializer_list<Int> strides) const {
  return strided_layout(*this, sizes, strides);
}

#define JUMAR_DTYPE(name, text, bytes, kind, code) constexpr DType name{code, bytes, text};
#include "ir/dtype.def"
#undef JUMAR_DTYPE

constexpr DType kDTypes[] = {
#define JUMAR_DTYPE(name, text, bytes, kind, code) {code, bytes, text},
#include "ir/dtype.def"
#undef JUMAR_DTYPE
};

inline const char* dtype_name(int32_t code) {
  for (const DType& dtype : kDTypes)
    if (dtype.code == code) return dtype.name;
  return "an unknown type";
}

// Whether strides name the same places as `wanted`: those of dimensions of size 1 do not matter, and none
// does in an empty tensor.
inline bool same_places(int64_t rank, const int64_t* sizes, const int64_t* strides, const int64_t* wanted) {
  bool same = true;
  for (int64_t k = 0; k < rank; ++k) {
    if (sizes[k] == 0) return true;
    same = same && (strides[k] == wanted[k] || sizes[k] == 1);
  }
  return same;
}

// "f32[2, 3]{1, 2}"; without strides that are as usual.
inline std::string type_text(int32_t dtype, int64_t rank, const int64_t* sizes, const int64_t* strides) {
  std::string size_text;
  std::string stride_text;
  int64_t next = 1;
  bool is_usual = true;
  bool is_empty = false;
  for (int64_t k = rank - 1; k >= 0; --k) {
    const char* comma = k + 1 < rank ? ", " : "";
    size_text = std::to_string(sizes[k]) + comma + size_text;
    is_empty = is_empty || sizes[k] == 0;
    if (strides) {
      stride_text = std::to_string(strides[k]) + comma + stride_text;
      is_usual = is_usual && (strides[k] == next || sizes[k] == 1);
    }
    next *= sizes[k] > 1 ? sizes[k] : 1;
  }
  std::string out = std::string(dtype_name(dtype)) + "[" + size_text + "]";
  return is_usual || is_empty ? out : out + "{" + stride_text + "}";
}
inline std::string type_text(const Layout& layout) {
  return type_text(layout.dtype.code, layout.rank, layout.sizes, layout.strides);
}

}  // namespace jumar::wrapper
