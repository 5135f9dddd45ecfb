#include "runtime/torch/schema_type.h"

#include <charconv>

namespace jumar::runtime::torch {
namespace {

using Base = SchemaType::Base;

struct Name {
  std::string_view text;
  Base base;
};
constexpr Name kNames[] = {
    {"Tensor", Base::kTensor}, {"int", Base::kInt},        {"SymInt", Base::kInt},
    {"float", Base::kFloat},   {"SymFloat", Base::kFloat}, {"bool", Base::kBool},
    {"SymBool", Base::kBool},  {"str", Base::kStr},        {"ScalarType", Base::kDType},
    {"Layout", Base::kLayout}, {"Device", Base::kDevice},  {"MemoryFormat", Base::kMemoryFormat},
    {"Scalar", Base::kScalar}, {"number", Base::kScalar},  {"Generator", Base::kGenerator},
};

}  // namespace

SchemaType parsed_schema_type(std::string_view text) {
  size_t end = text.find_first_of("?[");
  std::string_view word = text.substr(0, end);
  SchemaType type;
  for (const Name& name : kNames)
    if (name.text == word) type.base = name.base;
  std::string_view rest = end == std::string_view::npos ? "" : text.substr(end);
  bool question = !rest.empty() && rest.front() == '?';
  if (question) rest.remove_prefix(1);
  if (rest.empty()) {
    type.optional = question;
    return type;
  }
  size_t close = rest.find(']');
  if (rest.front() != '[' || close == std::string_view::npos) return {};
  type.list = true;
  type.optional_element = question;
  if (close > 1) {
    auto [stop, error] = std::from_chars(rest.data() + 1, rest.data() + close, type.count);
    if (error != std::errc() || stop != rest.data() + close) return {};
  }
  rest.remove_prefix(close + 1);
  type.optional = rest == "?";
  if (!rest.empty() && !type.optional) return {};
  return type;
}

}  // namespace jumar::runtime::torch
