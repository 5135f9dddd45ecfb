// The text form of expressions: writer and reader.
#include <algorithm>

#include "support/check.h"
#include "sym/node.h"

namespace jumar::sym {
namespace {

// How tightly a form binds, as in Python; an operand that binds less tightly than its place needs
// parentheses.
enum class Level { kOr, kAnd, kNot, kComparison, kSum, kProduct, kAtom };

Level level_of(Expr e) {
  switch (e.op()) {
    case Op::kConst:
      return e.const_value() < 0 ? Level::kProduct : Level::kAtom;
    case Op::kMul:
    case Op::kFloorDiv:
    case Op::kMod:
      return Level::kProduct;
    case Op::kAdd:
      return Level::kSum;
    case Op::kEq:
    case Op::kNe:
    case Op::kLt:
    case Op::kLe:
      return Level::kComparison;
    case Op::kAnd:
      return Level::kAnd;
    case Op::kOr:
      return Level::kOr;
    case Op::kNot:
      return Level::kNot;
    default:
      return Level::kAtom;
  }
}

const char* infix(Op op) {
  switch (op) {
    case Op::kFloorDiv:
      return "//";
    case Op::kMod:
      return " % ";
    case Op::kEq:
      return " == ";
    case Op::kNe:
      return " != ";
    case Op::kLt:
      return " < ";
    case Op::kLe:
      return " <= ";
    case Op::kAnd:
      return " and ";
    case Op::kOr:
      return " or ";
    default:
      return "*";
  }
}

class Writer {
 public:
  std::string take() { return std::move(out_); }

  void write(Expr e, Level place) {
    bool enclosed = level_of(e) < place;
    if (enclosed) out_ += '(';
    write_open(e);
    if (enclosed) out_ += ')';
  }

 private:
  void write_open(Expr e) {
    switch (e.op()) {
      case Op::kConst:
        out_ += std::to_string(e.const_value());
        return;
      case Op::kSymbol:
        out_ += e.symbol_name();
        return;
      case Op::kAdd:
        return write_sum(e.operands());
      case Op::kMul:
        return write_product(e.operands());
      case Op::kFloorDiv:
      case Op::kMod:
        return write_joined(e, Level::kAtom);
      case Op::kMin:
      case Op::kMax:
        return write_call(e);
      case Op::kNot:
        out_ += "not ";
        return write(e.operands()[0], Level::kNot);
      case Op::kAnd:
        return write_joined(e, Level::kNot);
      case Op::kOr:
        return write_joined(e, Level::kAnd);
      default:
        return write_joined(e, Level::kSum);
    }
  }

  void write_joined(Expr e, Level place) {
    bool first = true;
    for (Expr operand : e.operands()) {
      if (!first) out_ += infix(e.op());
      first = false;
      write(operand, place);
    }
  }

  void write_call(Expr e) {
    out_ += e.op() == Op::kMin ? "min(" : "max(";
    bool first = true;
    for (Expr operand : e.operands()) {
      if (!first) out_ += ", ";
      first = false;
      write(operand, Level::kOr);
    }
    out_ += ')';
  }

  // Constants come last: `i0 + 4*s0 - 3`.
  void write_sum(std::span<const Expr> terms) {
    bool first = true;
    for (bool constants : {false, true}) {
      for (Expr term : terms) {
        if (term.is_const() != constants) continue;
        write_summand(term, first);
        first = false;
      }
    }
  }

  void write_summand(Expr summand, bool first) {
    Term term = term_of(summand);
    // The magnitude of the least integer can't be written, so it keeps its sign.
    bool subtracted = !first && term.coefficient < 0 && term.coefficient != INT64_MIN;
    if (!first) out_ += subtracted ? " - " : " + ";
    if (!subtracted) return write(summand, Level::kProduct);
    if (!term.monomial) {
      out_ += std::to_string(-term.coefficient);
    } else if (term.coefficient == -1) {
      write(term.monomial, Level::kProduct);
    } else {
      out_ += std::to_string(-term.coefficient) + "*";
      write_factors(factors(term.monomial));
    }
  }

  void write_product(std::span<const Expr> operands) {
    if (operands.front().is_const(-1)) {
      out_ += '-';
      operands = operands.subspan(1);
    } else if (operands.front().is_const()) {
      out_ += std::to_string(operands.front().const_value()) + "*";
      operands = operands.subspan(1);
    }
    write_factors(operands);
  }

  void write_factors(std::span<const Expr> operands) {
    bool first = true;
    for (Expr factor : operands) {
      if (!first) out_ += '*';
      first = false;
      write(factor, Level::kAtom);
    }
  }

  std::string out_;
};

class Reader {
 public:
  Reader(Context& cx, Lexer& lexer, const std::function<Expr(std::string_view)>& resolve)
      : cx_(cx), lexer_(lexer), resolve_(resolve) {}

  Result<Expr> read() { return read_or(); }

 private:
  Result<Expr> read_or() {
    JUMAR_ASSIGN(Expr result, read_and());
    while (lexer_.accept_word("or")) {
      JUMAR_ASSIGN(Expr right, read_and());
      result = cx_.logical_or(result, right);
    }
    return result;
  }

  Result<Expr> read_and() {
    JUMAR_ASSIGN(Expr result, read_not());
    while (lexer_.accept_word("and")) {
      JUMAR_ASSIGN(Expr right, read_not());
      result = cx_.logical_and(result, right);
    }
    return result;
  }

  Result<Expr> read_not() {
    bool negated = false;
    while (lexer_.accept_word("not")) negated = !negated;
    JUMAR_ASSIGN(Expr operand, read_comparison());
    return negated ? cx_.logical_not(operand) : operand;
  }

  bool at_comparison() const {
    for (std::string_view sign : {"==", "!=", "<", "<=", ">", ">="})
      if (lexer_.peek_punct(sign)) return true;
    return false;
  }

  Result<Expr> read_comparison() {
    JUMAR_ASSIGN(Expr left, read_sum());
    if (!at_comparison()) return left;
    std::string_view sign = lexer_.next().text;
    JUMAR_ASSIGN(Expr right, read_sum());
    if (at_comparison())
      return lexer_.error_at(lexer_.peek(), "comparisons do not chain: join two of them with 'and'");
    if (sign == "==") return cx_.eq(left, right);
    if (sign == "!=") return cx_.ne(left, right);
    if (sign == "<") return cx_.lt(left, right);
    if (sign == "<=") return cx_.le(left, right);
    return sign == ">" ? cx_.lt(right, left) : cx_.le(right, left);
  }

  Result<Expr> read_sum() {
    JUMAR_ASSIGN(Expr result, read_product());
    while (true) {
      if (lexer_.accept_punct("+")) {
        JUMAR_ASSIGN(Expr right, read_product());
        result = cx_.add(result, right);
      } else if (lexer_.accept_punct("-")) {
        JUMAR_ASSIGN(Expr right, read_product());
        result = cx_.sub(result, right);
      } else {
        return result;
      }
    }
  }

  Result<Expr> read_product() {
    JUMAR_ASSIGN(Expr result, read_unary());
    while (true) {
      if (lexer_.accept_punct("*")) {
        JUMAR_ASSIGN(Expr right, read_unary());
        result = cx_.mul(result, right);
        continue;
      }
      bool divides = lexer_.peek_punct("//");
      if (!divides && !lexer_.peek_punct("%")) return result;
      lexer_.next();
      Token divisor_token = lexer_.peek();
      JUMAR_ASSIGN(Expr right, read_unary());
      if (right.is_const(0)) return lexer_.error_at(divisor_token, "division by zero");
      result = divides ? cx_.floordiv(result, right) : cx_.mod(result, right);
    }
  }

  Result<Expr> read_unary() {
    Lexer::Mark start = lexer_.mark();
    bool negated = false;
    while (lexer_.accept_punct("-")) {
      if (!negated && lexer_.peek().kind == TokenKind::kInt) {
        lexer_.reset(start);
        return read_int();
      }
      negated = !negated;
      start = lexer_.mark();
    }
    JUMAR_ASSIGN(Expr operand, read_atom());
    return negated ? cx_.neg(operand) : operand;
  }

  Result<Expr> read_int() {
    JUMAR_ASSIGN(int64_t value, lexer_.expect_int());
    return cx_.constant(value);
  }

  Result<Expr> read_atom() {
    Token token = lexer_.peek();
    if (token.kind == TokenKind::kInt) return read_int();
    if (token.kind == TokenKind::kValue) return read_symbol(fmt::format("%{}", token.text));
    if (lexer_.accept_punct("(")) {
      JUMAR_ASSIGN(Expr inner, read_nested(token));
      JUMAR_RETURN_IF_ERROR(lexer_.expect_punct(")"));
      return inner;
    }
    bool reserved = token.text == "and" || token.text == "or" || token.text == "not";
    if (token.kind != TokenKind::kWord || reserved) return lexer_.expected("an expression");
    if (token.text == "min" || token.text == "max") return read_call();
    return read_symbol(std::string(token.text));
  }

  Result<Expr> read_symbol(const std::string& name) {
    Token token = lexer_.next();
    if (Expr symbol = resolve_(name)) return symbol;
    return lexer_.error_at(token, fmt::format("unknown symbol '{}'", name));
  }

  Result<Expr> read_call() {
    Token name = lexer_.next();
    JUMAR_RETURN_IF_ERROR(lexer_.expect_punct("("));
    JUMAR_ASSIGN(Expr result, read_nested(name));
    if (!lexer_.peek_punct(",")) return lexer_.expected("','");
    while (lexer_.accept_punct(",")) {
      JUMAR_ASSIGN(Expr next, read_nested(name));
      result = name.text == "min" ? cx_.min(result, next) : cx_.max(result, next);
    }
    JUMAR_RETURN_IF_ERROR(lexer_.expect_punct(")"));
    return result;
  }

  // The reader recurses only here.
  Result<Expr> read_nested(const Token& at) {
    constexpr int kMaxDepth = 200;
    if (depth_ == kMaxDepth)
      return lexer_.error_at(at, fmt::format("more than {} nested parentheses", kMaxDepth), "limit");
    ++depth_;
    JUMAR_ASSIGN(Expr inner, read_or());
    --depth_;
    return inner;
  }

  Context& cx_;
  Lexer& lexer_;
  const std::function<Expr(std::string_view)>& resolve_;
  int depth_ = 0;
};

}  // namespace

std::string text(Expr e) {
  if (!e) return "<empty>";
  Writer writer;
  writer.write(e, Level::kOr);
  return writer.take();
}

Result<Expr> read_expr(Context& cx, Lexer& lexer, const std::function<Expr(std::string_view)>& resolve) {
  return Reader(cx, lexer, resolve).read();
}

}  // namespace jumar::sym
