// The one lexer of every Jumar text form.
//
// Tokens: words (`graph`, `aten.mm`, `i0`: letters, digits, `_`, and `.` between word characters), values
// (`%x`), symbols (`@main`), integers, floats (with `.`, exponent, or the words `inf`, `nan`, `-inf` handled
// by `parse_float`), strings ("..." with \" \\ \n \t \xHH), and punctuation (one character each, plus `->`,
// `//`,
// `<=`, `>=`, `==`, `!=`). A comment runs from `#` to the end of the line. Negative numbers are the token `-`
// followed by a number; `expect_int` and `expect_float` take both.
//
// A float is written as the shortest decimal that reads back to the same double, always with a `.`, an
// exponent, or as inf / nan, so that it can't be taken for an integer: see float_text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "support/result.h"

namespace jumar {

enum class TokenKind : uint8_t { kEnd, kWord, kValue, kSymbol, kInt, kFloat, kString, kPunct };

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string_view text;  // without the sigil for values and symbols; raw, between the quotes, for strings
  int line = 1;
  int column = 1;
  size_t offset = 0;
};

class Lexer {
 public:
  // `text` must outlive the lexer; `file` only names it in diagnostics.
  Lexer(std::string_view text, std::string file);

  const Token& peek() const { return token_; }
  Token next();
  bool at_end() const { return token_.kind == TokenKind::kEnd; }

  bool peek_word(std::string_view word) const;
  bool peek_punct(std::string_view punct) const;
  // Consumes the token when it matches.
  bool accept_word(std::string_view word);
  bool accept_punct(std::string_view punct);

  Status expect_word(std::string_view word);
  Status expect_punct(std::string_view punct);
  Result<std::string> expect_any_word(std::string_view what);
  Result<std::string> expect_value();
  Result<std::string> expect_symbol();
  Result<int64_t> expect_int();
  Result<double> expect_float();  // integers are taken too
  Result<std::string> expect_string();

  // A diagnostic at the current token: "expected <what>, found '<token>'".
  Diagnostic expected(std::string_view what) const;
  // A diagnostic with code "syntax" at the given token.
  Diagnostic error_at(const Token& token, std::string message, std::string code = "syntax") const;

  // Position for backtracking over a few tokens.
  struct Mark {
    size_t offset;
    int line;
    int column;
    Token token;
  };
  Mark mark() const { return {offset_, line_, column_, token_}; }
  void reset(const Mark& mark);

 private:
  void advance();
  void skip_space();
  void lex_number();
  void lex_string();
  void take(TokenKind kind, size_t begin, size_t end);

  std::string_view text_;
  std::string file_;
  size_t offset_ = 0;
  int line_ = 1;
  int column_ = 1;
  Token token_;
};

// Shortest text that reads back to the same double; never mistaken for an integer. -0.0 keeps its sign; every
// NaN is "nan".
std::string float_text(double value);
// With quotes and escapes.
std::string quoted(std::string_view text);

}  // namespace jumar
