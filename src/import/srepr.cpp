#include "import/srepr.h"

#include <algorithm>

#include "graph/graph.h"

namespace jumar::import {
namespace {

using sym::Context;
using sym::Expr;

constexpr int kDeepest = 100;
constexpr int64_t kLargestPower = 8;
constexpr size_t kMostTerms = 4096;
constexpr size_t kLongestName = 64;

// The parsed text: a word with arguments, a number or a quoted string.
struct Term {
  std::string_view head;  // "Add", "Integer", "true"
  std::vector<Term> args;
  std::optional<int64_t> number;
  std::string_view quoted;
};

class Parser {
 public:
  Parser(std::string_view text) : text_(text), lexer_(text, "expression") {}

  Result<Term> run() {
    JUMAR_ASSIGN(Term term, parsed(0));
    if (!lexer_.at_end()) return lexer_.expected("the end of the expression");
    return term;
  }

 private:
  Result<Term> parsed(int depth) {
    if (depth > kDeepest) return diagnostic("limit", "an expression is nested too deep");
    Term term;
    const Token at = lexer_.peek();
    if (at.kind == TokenKind::kInt || lexer_.peek_punct("-")) {
      JUMAR_ASSIGN(term.number, lexer_.expect_int());
      return term;
    }
    if (lexer_.accept_punct("'")) return quoted_text();
    if (at.kind != TokenKind::kWord) return lexer_.expected("a function, a number or a symbol");
    term.head = lexer_.next().text;
    if (lexer_.accept_punct("=")) return parsed(depth + 1);  // integer=True: an argument like the others
    if (!lexer_.accept_punct("(") || lexer_.accept_punct(")")) return term;
    do {
      JUMAR_ASSIGN(Term arg, parsed(depth + 1));
      term.args.push_back(std::move(arg));
    } while (lexer_.accept_punct(","));
    JUMAR_RETURN_IF_ERROR(lexer_.expect_punct(")"));
    return term;
  }

  // Strings in single quotes hold names and numbers, none of which has a quote inside.
  Result<Term> quoted_text() {
    Term term;
    const size_t begin = lexer_.peek().offset;
    while (!lexer_.at_end() && !lexer_.peek_punct("'")) lexer_.next();
    const size_t end = lexer_.peek().offset;
    JUMAR_RETURN_IF_ERROR(lexer_.expect_punct("'"));
    term.quoted = text_.substr(begin, end - begin);
    return term;
  }

  std::string_view text_;
  Lexer lexer_;
};

class Converter;
using Convert = Result<Expr> (Converter::*)(const Term&);

class Converter {
 public:
  explicit Converter(Context& cx) : cx_(cx) {}
  Result<Expr> operator()(const Term& term);

  Result<Expr> integer(const Term& t) {
    if (t.args.size() != 1 || !t.args[0].number) return malformed(t);
    return cx_.constant(*t.args[0].number);
  }

  Result<Expr> symbol(const Term& t) {
    if (t.args.empty() || t.args[0].quoted.empty()) return malformed(t);
    const std::string_view name = t.args[0].quoted;
    const bool is_word = std::all_of(name.begin(), name.end(), [](char c) {
      return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    });
    if (!is_word || name.size() > kLongestName || (name[0] >= '0' && name[0] <= '9'))
      return diagnostic("input", "'{}' cannot name a symbol", name);
    return cx_.symbol(graph::symbol_kind(name), name);
  }

  Result<Expr> boolean(const Term& t) { return cx_.constant(t.head == "true" || t.head == "True" ? 1 : 0); }

  // Functions of two integers, of any number, of two with the operands exchanged, and quotients.
  template <Expr (Context::*make)(Expr, Expr)>
  Result<Expr> binary(const Term& t) {
    JUMAR_ASSIGN(auto args, converted(t, 2));
    return (cx_.*make)(args[0], args[1]);
  }
  template <Expr (Context::*make)(Expr, Expr)>
  Result<Expr> converse(const Term& t) {
    JUMAR_ASSIGN(auto args, converted(t, 2));
    return (cx_.*make)(args[1], args[0]);
  }
  template <Expr (Context::*make)(Expr, Expr)>
  Result<Expr> divided_by(const Term& t) {
    JUMAR_ASSIGN(auto args, divided(t, 2));
    return (cx_.*make)(args[0], args[1]);
  }
  template <Expr (Context::*make)(Expr, Expr)>
  Result<Expr> joined(const Term& t) {
    return folded(t, [this](Expr a, Expr b) -> Result<Expr> { return (cx_.*make)(a, b); });
  }
  Result<Expr> product(const Term& t) {
    return folded(t, [this](Expr a, Expr b) { return multiplied(a, b); });
  }

  Result<Expr> power(const Term& t) {
    JUMAR_ASSIGN(auto args, converted(t, 2));
    const std::optional<int64_t> exponent = args[1].as_const();
    if (!exponent || *exponent < 0 || *exponent > kLargestPower)
      return diagnostic("unsupported", "a power with the exponent {}", sym::text(args[1]));
    Expr out = cx_.constant(1);
    for (int64_t k = 0; k < *exponent; ++k) {
      JUMAR_ASSIGN(out, multiplied(out, args[0]));
    }
    return out;
  }

  // (a // b) % c
  Result<Expr> modular_index(const Term& t) {
    JUMAR_ASSIGN(auto args, divided(t, 3));
    if (args[2].is_const(0)) return division_by_zero();
    return cx_.mod(cx_.floordiv(args[0], args[1]), args[2]);
  }

  Result<Expr> rounded(const Term& t) {
    if (t.args.size() != 1 || t.args[0].head != "IntTrueDiv")
      return diagnostic("unsupported", "the size {}({}...) rounds a float", t.head,
                        t.args.empty() ? "" : t.args[0].head);
    if (t.head == "CeilToInt") return divided_by<&Context::ceildiv>(t.args[0]);
    // Truncation is flooring for sizes, which are not negative; others cannot be told apart here.
    if (t.head == "TruncToInt") {
      JUMAR_ASSIGN(auto args, divided(t.args[0], 2));
      const bool positive = args[0].op() == sym::Op::kConst || args[0].is_symbol(sym::SymbolKind::kSize);
      if (!positive || !args[1].is_const() || args[1].const_value() < 0)
        return diagnostic("unsupported", "the size TruncToInt({}/{})", sym::text(args[0]),
                          sym::text(args[1]));
    }
    return divided_by<&Context::floordiv>(t.args[0]);
  }

  Result<Expr> inverted(const Term& t) {
    JUMAR_ASSIGN(auto args, converted(t, 1));
    return cx_.logical_not(args[0]);
  }
  Result<Expr> identity(const Term& t) {
    JUMAR_ASSIGN(auto args, converted(t, 1));
    return args[0];
  }
  Result<Expr> magnitude(const Term& t) {
    JUMAR_ASSIGN(auto args, converted(t, 1));
    return cx_.max(args[0], cx_.neg(args[0]));
  }
  // condition*a + (1 - condition)*b
  Result<Expr> choice(const Term& t) {
    JUMAR_ASSIGN(auto args, converted(t, 3));
    JUMAR_ASSIGN(Expr yes, multiplied(args[0], args[1]));
    JUMAR_ASSIGN(Expr no, multiplied(cx_.sub(cx_.constant(1), args[0]), args[2]));
    return cx_.add(yes, no);
  }

 private:
  static Diagnostic malformed(const Term& t) {
    return diagnostic("input", "a malformed {} in an expression", t.head);
  }
  static Diagnostic division_by_zero() { return diagnostic("input", "an expression divides by zero"); }

  Result<std::vector<Expr>> converted(const Term& t, size_t count) {
    if (t.args.size() != count)
      return diagnostic("input", "{} has {} arguments in an expression, expected {}", t.head, t.args.size(),
                        count);
    std::vector<Expr> out;
    for (const Term& arg : t.args) {
      JUMAR_ASSIGN(Expr e, (*this)(arg));
      out.push_back(e);
    }
    return out;
  }

  Result<std::vector<Expr>> divided(const Term& t, size_t count) {
    JUMAR_ASSIGN(auto args, converted(t, count));
    if (args[1].is_const(0)) return division_by_zero();
    return args;
  }

  template <class Join>
  Result<Expr> folded(const Term& t, Join&& join) {
    if (t.args.empty()) return malformed(t);
    JUMAR_ASSIGN(Expr out, (*this)(t.args[0]));
    for (size_t k = 1; k < t.args.size(); ++k) {
      JUMAR_ASSIGN(Expr next, (*this)(t.args[k]));
      JUMAR_ASSIGN(out, join(out, next));
    }
    return out;
  }

  // Products are expanded over sums, which must not become a bomb.
  Result<Expr> multiplied(Expr a, Expr b) {
    const auto terms = [](Expr e) { return e.op() == sym::Op::kAdd ? e.operands().size() : size_t{1}; };
    if (terms(a) * terms(b) > kMostTerms) return diagnostic("limit", "an expression has too many terms");
    return cx_.mul(a, b);
  }

  Context& cx_;
};

struct Row {
  std::string_view head;
  Convert convert;
};

constexpr Row kRows[] = {
    {"Symbol", &Converter::symbol},
    {"Integer", &Converter::integer},
    {"true", &Converter::boolean},
    {"false", &Converter::boolean},
    {"Add", &Converter::joined<&Context::add>},
    {"Mul", &Converter::product},
    {"Pow", &Converter::power},
    {"PowByNatural", &Converter::power},
    {"FloorDiv", &Converter::divided_by<&Context::floordiv>},
    {"CleanDiv", &Converter::divided_by<&Context::floordiv>},
    {"CeilDiv", &Converter::divided_by<&Context::ceildiv>},
    {"Mod", &Converter::divided_by<&Context::mod>},
    {"PythonMod", &Converter::divided_by<&Context::mod>},
    {"ModularIndexing", &Converter::modular_index},
    {"Min", &Converter::joined<&Context::min>},
    {"Max", &Converter::joined<&Context::max>},
    {"Abs", &Converter::magnitude},
    {"Identity", &Converter::identity},
    {"Where", &Converter::choice},
    {"CeilToInt", &Converter::rounded},
    {"FloorToInt", &Converter::rounded},
    {"TruncToInt", &Converter::rounded},
    {"Equality", &Converter::binary<&Context::eq>},
    {"Unequality", &Converter::binary<&Context::ne>},
    {"StrictLessThan", &Converter::binary<&Context::lt>},
    {"LessThan", &Converter::binary<&Context::le>},
    {"StrictGreaterThan", &Converter::converse<&Context::lt>},
    {"GreaterThan", &Converter::converse<&Context::le>},
    {"And", &Converter::joined<&Context::logical_and>},
    {"Or", &Converter::joined<&Context::logical_or>},
    {"Not", &Converter::inverted},
};

Result<Expr> Converter::operator()(const Term& term) {
  for (const Row& row : kRows) {
    if (row.head == term.head) return (this->*row.convert)(term);
  }
  if (term.number) return cx_.constant(*term.number);
  return diagnostic("unsupported", "'{}' in a size, which no integer expression says", term.head);
}

}  // namespace

Result<Expr> read_srepr(Context& cx, std::string_view text) {
  constexpr size_t kLongest = 1 << 16;
  if (text.size() > kLongest) return diagnostic("limit", "an expression of {} characters", text.size());
  JUMAR_ASSIGN(const Term term, Parser(text).run());
  return Converter(cx)(term);
}

}  // namespace jumar::import
