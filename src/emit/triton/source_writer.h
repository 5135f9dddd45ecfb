// Writes lines of a Triton function: names, literals, integer expressions.
#pragma once

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "tile/npu/block.h"

namespace jumar::emit::triton {

using sym::Expr;

// tl.float32, tl.int1, ...; in a signature fp32, i1, ...
std::string dtype_text(ir::DType dtype);
std::string signature_text(ir::DType dtype);
// [8, 768]
std::string shape_text(const std::vector<int64_t>& shape);

// Python expressions with what binds weakest in them.
enum class Binding : uint8_t { kCompare, kOr, kXor, kAnd, kSum, kProduct, kAtom };
struct Text {
  std::string text;
  Binding binding = Binding::kAtom;
};
// In parentheses if what surrounds it binds more strongly.
std::string within(const Text& text, Binding binding);
Text joined(const std::vector<Text>& parts, const char* op, Binding binding);
// 768*x0 and a + b, with constants behind and differences written as such.
Text sum_of(std::vector<Text> terms);
Text product_of(std::vector<Text> factors);

// Functions that a file has beside its kernel, where it needs them.
enum class Helper : uint8_t { kAdd, kMul, kMaximum, kMinimum, kFloorDiv, kFloorMod };

class SourceWriter {
 public:
  explicit SourceWriter(const sym::Facts& facts);

  void line(const std::string& text);
  void blank() { body_ += '\n'; }
  void indent(int by) { indent_ += by; }

  // A name like this that nothing else has.
  std::string unique(std::string_view like);
  // v0, v1, ...
  std::string fresh();

  // Scopes: what is known inside is forgotten at the end.
  void enter() { scopes_.emplace_back(); }
  void leave() { scopes_.pop_back(); }
  // The name that this text has in an open scope; or a new one now. Names themselves stay as they are.
  std::string named(const Text& text, std::string_view like);

  std::string_view helper(Helper which);
  void use_libdevice() { uses_libdevice_ = true; }

  void name_symbol(Expr symbol, std::string name, int bits) { symbols_[symbol] = {std::move(name), bits}; }
  // An expression without axes as i32 or i64; a predicate.
  Text scalar(Expr e, int bits);
  Text predicate(Expr e);
  // An operation of expressions, from its written operands.
  Text operation(Expr e, std::vector<Text> operands);
  int bits_of(Expr e) const;

  // The file around the lines.
  std::string text(const std::string& comment, const std::string& header, const std::string& signature) const;

 private:
  std::string body_;
  int indent_ = 1;
  const sym::Facts& facts_;
  std::set<std::string> used_;
  uint32_t count_ = 0;
  std::vector<std::unordered_map<std::string, std::string>> scopes_;
  struct Symbol {
    std::string name;
    int bits = 32;
  };
  std::unordered_map<Expr, Symbol> symbols_;
  std::set<Helper> helpers_;
  bool uses_libdevice_ = false;
};

}  // namespace jumar::emit::triton
