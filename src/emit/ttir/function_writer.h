// Writes lines of a TTIR function: names, constants, integer expressions.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "tile/npu/block.h"

namespace jumar::emit::ttir {

using sym::Expr;

// The type of a scalar or tensor as text.
std::string element_text(ir::DType dtype);
std::string tensor_text(const std::vector<int64_t>& shape, const std::string& element);

// A value with its type.
struct Named {
  std::string name;
  std::string type;
};

class FunctionWriter {
 public:
  FunctionWriter(sym::Context& cx, const sym::Facts& facts) : cx_(cx), facts_(facts) { enter(); }

  // Appends `%<n> = text` and gives the name.
  std::string define(const std::string& text);
  void line(const std::string& text);
  std::string fresh() { return "%" + std::to_string(count_++); }

  // Scopes: what is known inside is forgotten at the end.
  void enter() { scopes_.emplace_back(); }
  void leave() { scopes_.pop_back(); }
  void indent(int by) { indent_ += by; }
  // What has been defined under this key in an open scope; or `text` as a definition now.
  std::string once(const std::string& key, const std::string& text);

  // Constants stand at the top of the function.
  std::string integer(int64_t value, int bits);
  std::string constant(ir::DType dtype, loop::Constant value, const std::vector<int64_t>& shape);

  void name_symbol(Expr symbol, std::string name, int bits) { symbols_[symbol] = {std::move(name), bits}; }
  // An expression without axes, as i32 or i64; a predicate as i1.
  std::string scalar(Expr e, int bits);
  // 64 if the value, or anything on the way to it, may leave 32 bits.
  int bits_of(Expr e) const;

  std::string text(const std::string& header) const;

 private:
  std::string chain(const char* op, std::span<const Expr> operands, int bits);
  std::string divided(Expr e, int bits);
  std::string compared(Expr e);
  bool is_nonnegative(Expr e) const { return sym::bounds(e, facts_).lo >= 0; }

  sym::Context& cx_;
  const sym::Facts& facts_;
  std::string body_;
  std::map<std::string, std::string> constants_;  // by what is right of the equals sign
  std::vector<std::string> constant_lines_;
  std::vector<std::unordered_map<std::string, std::string>> scopes_;
  struct Symbol {
    std::string name;
    int bits = 32;
  };
  std::unordered_map<Expr, Symbol> symbols_;
  int indent_ = 2;
  uint32_t count_ = 0;
};

}  // namespace jumar::emit::ttir
