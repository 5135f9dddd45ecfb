// The inputs of one call: kinds, then symbols, then types are checked, before any tensor's memory is read.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "emit/host/wrapper/program.h"
#include "emit/host/wrapper/tensor.h"

namespace jumar::wrapper {

// A number that a symbol is bound from, and where it was found.
struct Found {
  int64_t number = 0;
  uint32_t input = 0;
  const char* what = "";  // "", ", size " or ", stride "
  int32_t dim = -1;
};

// A symbol of the sizes, with the values for which the program was made.
struct Symbol {
  const char* name;
  int64_t lo = INT64_MIN;
  int64_t hi = INT64_MAX;
};

inline std::string range_text(const Symbol& symbol) {
  const std::string lo = symbol.lo == INT64_MIN ? "-inf" : std::to_string(symbol.lo);
  const std::string hi = symbol.hi == INT64_MAX ? "inf" : std::to_string(symbol.hi);
  return "[" + lo + ", " + hi + "]";
}

class Inputs {
 public:
  Inputs(const ProgramInfo& info, const Input* values, size_t count) : info_(info), values_(values) {
    if (count != info.input_count)
      fail(FailureKind::kInput, "the plan takes " + std::to_string(info.input_count) +
                                    " inputs, the call passes " + std::to_string(count));
    for (uint32_t k = 0; k < info.input_count; ++k) check_kind(k);
  }

  const Input& operator[](uint32_t k) const { return values_[k]; }

  Found integer(uint32_t k) const { return {values_[k].integer, k, "", -1}; }
  Found size(uint32_t k, int32_t dim) const { return {values_[k].sizes[dim], k, ", size ", dim}; }
  Found stride(uint32_t k, int32_t dim) const {
    const Input& value = values_[k];
    if (value.strides) return {value.strides[dim], k, ", stride ", dim};
    int64_t stride = 1;
    for (int32_t d = value.rank - 1; d > dim; --d) stride *= value.sizes[d] > 1 ? value.sizes[d] : 1;
    return {stride, k, ", stride ", dim};
  }
  double number(uint32_t k) const {
    const Input& value = values_[k];
    if (info_.inputs[k].kind == ValueKind::kBool) return value.integer != 0;
    return value.kind == ValueKind::kInt ? static_cast<double>(value.integer) : value.number;
  }

  // The symbol for which coefficient*symbol + rest is the number.
  Int symbol(const Found& found, const Symbol& symbol, Int coefficient = 1, Int rest = 0) {
    const int64_t divisor = coefficient.value();
    int64_t difference = 0;
    if (divisor == 0 || __builtin_sub_overflow(found.number, rest.value(), &difference) ||
        (difference == INT64_MIN && divisor == -1))
      fail(FailureKind::kInput, where(found.input) + ": " + symbol.name + " cannot be computed from " +
                                    std::to_string(found.number));
    const int64_t value = difference / divisor;
    if (value < symbol.lo || value > symbol.hi) {
      std::string place = where(found.input) + found.what;
      if (found.dim >= 0) place += std::to_string(found.dim);
      fail(FailureKind::kInput, place + ": " + symbol.name + " = " + std::to_string(value) +
                                    " is outside the range that the plan was compiled for, " +
                                    range_text(symbol));
    }
    symbols_[symbol_count_++ % kShownSymbols] = {symbol.name, value};
    return value;
  }

  // The number must be the value of an expression.
  void expect(const Found& found, Int value, const char* expression) const {
    if (found.number == value.value()) return;
    fail(FailureKind::kInput, where(found.input) + ": " + (found.dim < 0 ? "its value" : "a size or stride") +
                                  " is " + std::to_string(found.number) + ", which no value of " +
                                  expression + " gives");
  }

  void check_type(uint32_t k, const Layout& wanted) const {
    const Input& given = values_[k];
    const bool same = given.dtype == wanted.dtype.code && given.device == 1 && has_sizes(given, wanted) &&
                      (given.strides ? same_places(wanted.rank, given.sizes, given.strides, wanted.strides)
                                     : is_row_major(given, wanted));
    if (!same) fail(FailureKind::kInput, mismatch(k, wanted));
    if (!given.data && wanted.extent_bytes > 0) fail(FailureKind::kInput, where(k) + " has no memory");
  }

 private:
  static constexpr uint32_t kShownSymbols = 16;

  std::string where(uint32_t k) const {
    return "input " + std::to_string(k) + " (%" + info_.inputs[k].name + ")";
  }

  static const char* kind_text(ValueKind kind) {
    switch (kind) {
      case ValueKind::kInt:
        return "an int";
      case ValueKind::kFloat:
        return "a float";
      case ValueKind::kBool:
        return "a bool";
      default:
        return "a tensor";
    }
  }

  void check_kind(uint32_t k) const {
    const InputInfo& wanted = info_.inputs[k];
    const Input& given = values_[k];
    const bool widens = wanted.kind == ValueKind::kFloat && given.kind == ValueKind::kInt;
    if (given.kind != wanted.kind && !widens)
      fail(FailureKind::kInput, where(k) + " is " + kind_text(given.kind) + "; the plan was compiled for " +
                                    kind_text(wanted.kind));
    if (wanted.kind == ValueKind::kTensor && given.rank != wanted.rank)
      fail(FailureKind::kInput, where(k) + " has " + std::to_string(given.rank) +
                                    " dimensions; the plan was compiled for " + std::to_string(wanted.rank));
  }

  static bool has_sizes(const Input& given, const Layout& wanted) {
    bool same = true;
    for (int32_t d = 0; d < wanted.rank; ++d) same = same && given.sizes[d] == wanted.sizes[d];
    return same;
  }
  static bool is_row_major(const Input& given, const Layout& wanted) {
    bool same = true;
    bool is_empty = false;
    int64_t next = 1;
    for (int32_t d = wanted.rank - 1; d >= 0; --d) {
      is_empty = is_empty || given.sizes[d] == 0;
      same = same && (wanted.strides[d] == next || given.sizes[d] == 1);
      next *= given.sizes[d] > 1 ? given.sizes[d] : 1;
    }
    return same || is_empty;
  }

  std::string mismatch(uint32_t k, const Layout& wanted) const {
    const Input& given = values_[k];
    const std::string compiled_for = "; the plan was compiled for ";
    if (given.device != 1)
      return where(k) + " is on a device of DLPack type " + std::to_string(given.device) + compiled_for +
             "the CPU";
    const std::string type = info_.inputs[k].type;
    std::string values;
    for (uint32_t n = 0; n < symbol_count_ && n < kShownSymbols; ++n) {
      if (!mentions(type, symbols_[n].first)) continue;
      values += values.empty() ? "" : ", ";
      values += std::string(symbols_[n].first) + " = " + std::to_string(symbols_[n].second);
    }
    if (!values.empty()) values = ", that is " + type + " with " + values;
    return where(k) + " is " + type_text(given.dtype, given.rank, given.sizes, given.strides) + compiled_for +
           type_text(wanted) + values;
  }

  static bool mentions(const std::string& text, const std::string& word) {
    auto is_part = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '_'; };
    for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
      const size_t end = at + word.size();
      if ((at == 0 || !is_part(text[at - 1])) && (end == text.size() || !is_part(text[end]))) return true;
    }
    return false;
  }

  const ProgramInfo& info_;
  const Input* values_;
  // For messages.
  std::pair<const char*, int64_t> symbols_[kShownSymbols];
  uint32_t symbol_count_ = 0;
};

}  // namespace jumar::wrapper
