#include "support/lexer.h"

#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>

namespace jumar {
namespace {

bool is_word_start(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

Lexer::Lexer(std::string_view text, std::string file) : text_(text), file_(std::move(file)) { advance(); }

void Lexer::reset(const Mark& mark) {
  offset_ = mark.offset;
  line_ = mark.line;
  column_ = mark.column;
  token_ = mark.token;
}

Token Lexer::next() {
  Token token = token_;
  advance();
  return token;
}

void Lexer::skip_space() {
  while (offset_ < text_.size()) {
    char c = text_[offset_];
    if (c == '\n') {
      ++line_;
      column_ = 1;
      ++offset_;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      ++column_;
      ++offset_;
    } else if (c == '#') {
      while (offset_ < text_.size() && text_[offset_] != '\n') ++offset_;
    } else {
      return;
    }
  }
}

void Lexer::take(TokenKind kind, size_t begin, size_t end) {
  token_.kind = kind;
  token_.text = text_.substr(begin, end - begin);
}

void Lexer::advance() {
  skip_space();
  token_ = Token{TokenKind::kEnd, {}, line_, column_, offset_};
  if (offset_ >= text_.size()) return;
  size_t begin = offset_;
  char c = text_[offset_];
  size_t end = offset_ + 1;
  if (is_word_start(c)) {
    while (end < text_.size() &&
           (is_word(text_[end]) || (text_[end] == '.' && end + 1 < text_.size() && is_word(text_[end + 1]))))
      ++end;
    take(TokenKind::kWord, begin, end);
  } else if (is_digit(c)) {
    lex_number();
    end = begin + token_.text.size();
  } else if ((c == '%' || c == '@') && end < text_.size() && is_word(text_[end])) {
    while (end < text_.size() && (is_word(text_[end]) || text_[end] == '.')) ++end;
    take(c == '%' ? TokenKind::kValue : TokenKind::kSymbol, begin + 1, end);
  } else if (c == '"') {
    lex_string();
    end = token_.kind == TokenKind::kString ? begin + token_.text.size() + 2 : text_.size();
  } else {
    std::string_view two = text_.substr(begin, 2);
    if (two == "->" || two == "//" || two == "<=" || two == ">=" || two == "==" || two == "!=") ++end;
    take(TokenKind::kPunct, begin, end);
  }
  column_ += static_cast<int>(end - begin);
  offset_ = end;
}

void Lexer::lex_number() {
  size_t begin = offset_;
  size_t end = begin;
  bool is_float = false;
  while (end < text_.size() && is_digit(text_[end])) ++end;
  if (end + 1 < text_.size() && text_[end] == '.' && is_digit(text_[end + 1])) {
    is_float = true;
    ++end;
    while (end < text_.size() && is_digit(text_[end])) ++end;
  }
  if (end < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
    size_t exponent = end + 1;
    if (exponent < text_.size() && (text_[exponent] == '+' || text_[exponent] == '-')) ++exponent;
    if (exponent < text_.size() && is_digit(text_[exponent])) {
      is_float = true;
      while (exponent < text_.size() && is_digit(text_[exponent])) ++exponent;
      end = exponent;
    }
  }
  take(is_float ? TokenKind::kFloat : TokenKind::kInt, begin, end);
}

void Lexer::lex_string() {
  size_t end = offset_ + 1;
  while (end < text_.size() && text_[end] != '"' && text_[end] != '\n') end += text_[end] == '\\' ? 2 : 1;
  if (end < text_.size() && text_[end] == '"')
    take(TokenKind::kString, offset_ + 1, end);
  else
    take(TokenKind::kPunct, offset_,
         std::min(end, text_.size()));  // an unterminated string: no rule takes it
}

bool Lexer::peek_word(std::string_view word) const {
  return token_.kind == TokenKind::kWord && token_.text == word;
}

bool Lexer::peek_punct(std::string_view punct) const {
  return token_.kind == TokenKind::kPunct && token_.text == punct;
}

bool Lexer::accept_word(std::string_view word) {
  bool match = peek_word(word);
  if (match) advance();
  return match;
}

bool Lexer::accept_punct(std::string_view punct) {
  bool match = peek_punct(punct);
  if (match) advance();
  return match;
}

Status Lexer::expect_word(std::string_view word) {
  if (accept_word(word)) return {};
  return expected(fmt::format("'{}'", word));
}

Status Lexer::expect_punct(std::string_view punct) {
  if (accept_punct(punct)) return {};
  return expected(fmt::format("'{}'", punct));
}

Result<std::string> Lexer::expect_any_word(std::string_view what) {
  if (token_.kind != TokenKind::kWord) return expected(what);
  return std::string(next().text);
}

Result<std::string> Lexer::expect_value() {
  if (token_.kind != TokenKind::kValue) return expected("a value such as '%x'");
  return std::string(next().text);
}

Result<std::string> Lexer::expect_symbol() {
  if (token_.kind != TokenKind::kSymbol) return expected("a symbol such as '@main'");
  return std::string(next().text);
}

Result<int64_t> Lexer::expect_int() {
  bool negative = accept_punct("-");
  if (token_.kind != TokenKind::kInt) return expected("an integer");
  // Read as unsigned so that the least int64 can be written.
  uint64_t magnitude = 0;
  auto [end, error] = std::from_chars(token_.text.data(), token_.text.data() + token_.text.size(), magnitude);
  uint64_t limit = static_cast<uint64_t>(INT64_MAX) + (negative ? 1 : 0);
  if (error != std::errc() || magnitude > limit)
    return error_at(token_,
                    fmt::format("integer '{}{}' does not fit 64 bits", negative ? "-" : "", token_.text));
  advance();
  return static_cast<int64_t>(negative ? 0 - magnitude : magnitude);
}

Result<double> Lexer::expect_float() {
  bool negative = accept_punct("-");
  double value = 0;
  if (peek_word("inf")) {
    value = std::numeric_limits<double>::infinity();
  } else if (peek_word("nan")) {
    value = std::numeric_limits<double>::quiet_NaN();
  } else if (token_.kind == TokenKind::kFloat || token_.kind == TokenKind::kInt) {
    auto [end, error] = std::from_chars(token_.text.data(), token_.text.data() + token_.text.size(), value);
    if (error != std::errc())
      return error_at(token_, fmt::format("number '{}' is out of the range of a double", token_.text));
  } else {
    return expected("a number");
  }
  advance();
  return negative ? -value : value;
}

Result<std::string> Lexer::expect_string() {
  if (token_.kind != TokenKind::kString) return expected("a string");
  std::string out;
  std::string_view raw = token_.text;
  for (size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] != '\\') {
      out += raw[i];
      continue;
    }
    char kind = ++i < raw.size() ? raw[i] : '\0';
    if (kind == 'n') {
      out += '\n';
    } else if (kind == 't') {
      out += '\t';
    } else if (kind == '"' || kind == '\\') {
      out += kind;
    } else if (kind == 'x' && i + 2 < raw.size() && hex_digit(raw[i + 1]) >= 0 &&
               hex_digit(raw[i + 2]) >= 0) {
      out += static_cast<char>(hex_digit(raw[i + 1]) * 16 + hex_digit(raw[i + 2]));
      i += 2;
    } else {
      return error_at(token_, "a string has an escape other than \\n, \\t, \\\", \\\\ and \\xHH");
    }
  }
  advance();
  return out;
}

Diagnostic Lexer::expected(std::string_view what) const {
  std::string found = token_.kind == TokenKind::kEnd      ? "the end of the text"
                      : token_.kind == TokenKind::kValue  ? fmt::format("'%{}'", token_.text)
                      : token_.kind == TokenKind::kSymbol ? fmt::format("'@{}'", token_.text)
                                                          : fmt::format("'{}'", token_.text);
  return error_at(token_, fmt::format("expected {}, found {}", what, found));
}

Diagnostic Lexer::error_at(const Token& token, std::string message, std::string code) const {
  return {std::move(code), std::move(message), {file_, token.line, token.column}, {}};
}

std::string float_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    unsigned char byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      out += std::string("\\") + c;
    else if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else if (byte < 0x20 || byte == 0x7f)
      out += fmt::format("\\x{:02x}", byte);
    else
      out += c;
  }
  return out + "\"";
}

}  // namespace jumar
