// Text of operator arguments and schemas, the same in every IR.
//
//   none, %x, 4*s0 + 1, 2.5, true, "text", dtype(f32), device("cpu"), [1, none, %x]
//   schema aten.mm.default(Tensor self, Tensor mat2) -> (Tensor)
//
// An IR passes how its references print and read: `write_arg(arg, [&](BufferId b) { return name(b); })`, with
// an overload per kind of reference, and `read_arg<Arg>(cx, lexer, resolve, [&](const Token& t) ->
// Result<Arg>
// {...})`, which gets the token of `%name`.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "ir/arg.h"
#include "support/lexer.h"

namespace jumar::ir {

// dtype(f32), device("cpu").
std::string word_text(const WordArg& word);
// Whether the word `name` begins such an argument.
std::optional<WordArg::Kind> word_kind_from_name(std::string_view name);
// Reads the whole argument; the current token is the kind's name.
Result<WordArg> read_word(Lexer& lexer);
// Whether the current tokens begin a float: `2.5`, `-1.0`, `inf`, `-nan`.
bool starts_float(Lexer& lexer);

// `schema op(type name, ...) -> (type, ...)`, without a line end. The reader is called after the word
// `schema`.
std::string schema_text(std::string_view op, const Schema& schema);
Result<std::pair<std::string, Schema>> read_schema(Lexer& lexer);

// Lists nest at most this deep: more can only be a broken text, and would cost the reader's stack.
constexpr int kMaxListDepth = 16;

template <class A, class RefText>
std::string write_args(const std::vector<A>& args, const RefText& ref_text);

template <class... Refs, class RefText>
std::string write_arg(const BasicArg<Refs...>& arg, const RefText& ref_text) {
  return std::visit(
      [&](const auto& v) -> std::string {
        using V = std::decay_t<decltype(v)>;
        if constexpr ((std::is_same_v<V, Refs> || ...)) {
          return ref_text(v);
        } else if constexpr (std::is_same_v<V, NoneArg>) {
          return "none";
        } else if constexpr (std::is_same_v<V, sym::Expr>) {
          return sym::text(v);
        } else if constexpr (std::is_same_v<V, double>) {
          return float_text(v);
        } else if constexpr (std::is_same_v<V, bool>) {
          return v ? "true" : "false";
        } else if constexpr (std::is_same_v<V, std::string>) {
          return quoted(v);
        } else if constexpr (std::is_same_v<V, WordArg>) {
          return word_text(v);
        } else {
          return fmt::format("[{}]", write_args(v, ref_text));
        }
      },
      arg.data);
}

// Arguments separated by commas, without brackets.
template <class A, class RefText>
std::string write_args(const std::vector<A>& args, const RefText& ref_text) {
  std::string out;
  for (size_t k = 0; k < args.size(); ++k) {
    if (k > 0) out += ", ";
    out += write_arg(args[k], ref_text);
  }
  return out;
}

using ResolveSymbol = std::function<sym::Expr(std::string_view)>;

template <class A, class ReadRef>
Result<A> read_arg(sym::Context& cx, Lexer& lexer, const ResolveSymbol& resolve, const ReadRef& read_ref,
                   int depth = 0);

// Arguments up to and with the closing bracket; the opening one is consumed already.
template <class A, class ReadRef>
Result<std::vector<A>> read_args(sym::Context& cx, Lexer& lexer, const ResolveSymbol& resolve,
                                 const ReadRef& read_ref, std::string_view close, int depth = 0) {
  std::vector<A> args;
  if (lexer.accept_punct(close)) return args;
  while (true) {
    JUMAR_ASSIGN(A arg, read_arg<A>(cx, lexer, resolve, read_ref, depth));
    args.push_back(std::move(arg));
    if (lexer.accept_punct(close)) return args;
    if (!lexer.accept_punct(",")) return lexer.expected(fmt::format("',' or '{}'", close));
  }
}

template <class A, class ReadRef>
Result<A> read_arg(sym::Context& cx, Lexer& lexer, const ResolveSymbol& resolve, const ReadRef& read_ref,
                   int depth) {
  Token at = lexer.peek();
  if (at.kind == TokenKind::kValue) {
    lexer.next();
    return read_ref(at);
  }
  if (at.kind == TokenKind::kString) {
    JUMAR_ASSIGN(std::string text, lexer.expect_string());
    return A(std::move(text));
  }
  if (lexer.accept_punct("[")) {
    if (depth >= kMaxListDepth) return lexer.error_at(at, "lists are nested too deep");
    JUMAR_ASSIGN(std::vector<A> items, (read_args<A>(cx, lexer, resolve, read_ref, "]", depth + 1)));
    return A(std::move(items));
  }
  if (lexer.accept_word("none")) return A();
  if (lexer.accept_word("true")) return A(true);
  if (lexer.accept_word("false")) return A(false);
  if (at.kind == TokenKind::kWord && word_kind_from_name(at.text)) {
    JUMAR_ASSIGN(WordArg word, read_word(lexer));
    return A(std::move(word));
  }
  if (starts_float(lexer)) {
    JUMAR_ASSIGN(double number, lexer.expect_float());
    return A(number);
  }
  if (at.kind == TokenKind::kEnd || (at.kind == TokenKind::kPunct && at.text != "(" && at.text != "-"))
    return lexer.expected("an argument");
  JUMAR_ASSIGN(sym::Expr expr, sym::read_expr(cx, lexer, resolve));
  return A(expr);
}

}  // namespace jumar::ir
