#include <algorithm>
#include <array>
#include <unordered_map>

#include "graph/graph.h"
#include "ir/arg_text.h"

namespace jumar::graph {
namespace {

using sym::Expr;

// Names that a symbol may not have, because arguments and expressions use them otherwise.
constexpr std::array<std::string_view, 13> kReserved = {
    "none",          "true",   "false", "inf", "nan", "dtype", "layout",
    "memory_format", "device", "min",   "max", "and", "or"};

bool is_reserved(std::string_view word) {
  return word == "not" || std::find(kReserved.begin(), kReserved.end(), word) != kReserved.end();
}

class Reader {
 public:
  Reader(std::string_view text, const std::string& file)
      : lexer_(text, file), graph_(std::make_shared<sym::Context>()) {
    resolve_ = [this](std::string_view word) {
      auto found = symbols_.find(std::string(word));
      return found == symbols_.end() ? Expr() : found->second;
    };
  }

  Result<Graph> graph() {
    JUMAR_RETURN_IF_ERROR(header());
    while (lexer_.peek_word("schema")) JUMAR_RETURN_IF_ERROR(schema());
    while (!lexer_.peek_word("return")) JUMAR_RETURN_IF_ERROR(statement());
    lexer_.next();
    JUMAR_RETURN_IF_ERROR(outputs());
    JUMAR_RETURN_IF_ERROR(lexer_.expect_punct("}"));
    if (!lexer_.at_end()) return lexer_.expected("the end of the text");
    return std::move(graph_);
  }

 private:
  Status header() {
    JUMAR_RETURN_IF_ERROR(lexer_.expect_word("graph"));
    JUMAR_ASSIGN(graph_.name, lexer_.expect_symbol());
    if (lexer_.accept_word("symbols")) {
      JUMAR_RETURN_IF_ERROR(lexer_.expect_punct("("));
      do {
        JUMAR_RETURN_IF_ERROR(symbol());
      } while (lexer_.accept_punct(","));
      JUMAR_RETURN_IF_ERROR(lexer_.expect_punct(")"));
    }
    return lexer_.expect_punct("{");
  }

  // s0 in [2, 4096] hint 128
  Status symbol() {
    Token at = lexer_.peek();
    JUMAR_ASSIGN(std::string name, lexer_.expect_any_word("a symbol's name such as s0"));
    if (is_reserved(name) || name.find('.') != std::string::npos)
      return lexer_.error_at(at, fmt::format("'{}' cannot name a symbol", name));
    if (symbols_.contains(name)) return lexer_.error_at(at, fmt::format("symbol {} is declared twice", name));
    SymbolInfo info;
    info.symbol = graph_.cx().symbol(symbol_kind(name), name);
    JUMAR_RETURN_IF_ERROR(lexer_.expect_word("in"));
    JUMAR_RETURN_IF_ERROR(lexer_.expect_punct("["));
    JUMAR_ASSIGN(info.range.lo, bound());
    JUMAR_RETURN_IF_ERROR(lexer_.expect_punct(","));
    JUMAR_ASSIGN(info.range.hi, bound());
    if (info.range.lo > info.range.hi)
      return lexer_.error_at(at, fmt::format("the range of symbol {} is empty", name));
    JUMAR_RETURN_IF_ERROR(lexer_.expect_punct("]"));
    if (lexer_.accept_word("hint")) {
      JUMAR_ASSIGN(info.hint, lexer_.expect_int());
    }
    symbols_[name] = info.symbol;
    graph_.symbols.push_back(info);
    return {};
  }

  Result<int64_t> bound() {
    Lexer::Mark mark = lexer_.mark();
    bool negative = lexer_.accept_punct("-");
    if (lexer_.accept_word("inf")) return negative ? sym::Range::kMin : sym::Range::kMax;
    lexer_.reset(mark);
    if (!lexer_.peek_punct("-") && lexer_.peek().kind != TokenKind::kInt)
      return lexer_.expected("an integer, inf or -inf");
    return lexer_.expect_int();
  }

  // schema aten.mm.default(Tensor self, Tensor mat2) -> (Tensor)
  Status schema() {
    lexer_.next();
    Token at = lexer_.peek();
    JUMAR_ASSIGN(auto row, ir::read_schema(lexer_));
    if (!graph_.schemas.insert(row).second)
      return lexer_.error_at(at, fmt::format("operator {} has two schema lines", row.first));
    return {};
  }

  Status statement() {
    Token at = lexer_.peek();
    if (at.kind != TokenKind::kValue && at.kind != TokenKind::kWord)
      return lexer_.expected("a value such as '%x', an operator or 'return'");
    if (lexer_.peek_word("schema")) return lexer_.error_at(at, "schema lines come before inputs and nodes");
    std::vector<std::pair<Token, Value>> results;
    if (at.kind == TokenKind::kValue) {
      do {
        Token name = lexer_.peek();
        JUMAR_ASSIGN(Value value, definition());
        results.emplace_back(name, std::move(value));
      } while (lexer_.accept_punct(","));
      JUMAR_RETURN_IF_ERROR(lexer_.expect_punct("="));
      if (lexer_.peek_word("input") || lexer_.peek_word("parameter")) return input(std::move(results));
    }
    return node(std::move(results));
  }

  // %x: f32[s0, 256]
  Result<Value> definition() {
    Value value;
    JUMAR_ASSIGN(value.name, lexer_.expect_value());
    JUMAR_RETURN_IF_ERROR(lexer_.expect_punct(":"));
    if (lexer_.accept_word("int")) {
      value.kind = ValueKind::kInt;
      JUMAR_RETURN_IF_ERROR(lexer_.expect_punct("("));
      JUMAR_ASSIGN(value.expr, sym::read_expr(graph_.cx(), lexer_, resolve_));
      JUMAR_RETURN_IF_ERROR(lexer_.expect_punct(")"));
      return value;
    }
    Lexer::Mark mark = lexer_.mark();
    if (lexer_.accept_word("float")) {
      value.kind = ValueKind::kFloat;
    } else if (lexer_.accept_word("none")) {
      value.kind = ValueKind::kNone;
    } else if (lexer_.accept_word("bool") && !lexer_.peek_punct("[")) {
      value.kind = ValueKind::kBool;
    } else {
      lexer_.reset(mark);
      if (lexer_.peek().kind != TokenKind::kWord || !ir::dtype_from_name(lexer_.peek().text))
        return lexer_.expected("a type: f32[...], int(...), float, bool or none");
      JUMAR_ASSIGN(value.type, ir::read_tensor_type(graph_.cx(), lexer_, resolve_));
    }
    return value;
  }

  Result<ValueId> define(const Token& at, Value value) {
    std::string name = value.name;
    ValueId id = graph_.values.add(std::move(value));
    if (!values_.emplace(std::move(name), id).second)
      return lexer_.error_at(at, fmt::format("value %{} is defined twice", at.text));
    return id;
  }

  // input 0, parameter 2 "fc.weight"
  Status input(std::vector<std::pair<Token, Value>> results) {
    Token word = lexer_.next();
    if (results.size() != 1) return lexer_.error_at(word, "an input defines one value");
    if (!graph_.order.empty()) return lexer_.error_at(word, "inputs come before nodes");
    Input input;
    input.kind = word.text == "parameter" ? InputKind::kParameter : InputKind::kInput;
    Token number = lexer_.peek();
    JUMAR_ASSIGN(int64_t index, lexer_.expect_int());
    if (index != static_cast<int64_t>(graph_.inputs.size()))
      return lexer_.error_at(number, fmt::format("expected {}, the number of this input, found {}",
                                                 graph_.inputs.size(), index));
    if (lexer_.peek().kind == TokenKind::kString) {
      JUMAR_ASSIGN(input.origin, lexer_.expect_string());
    }
    JUMAR_ASSIGN(input.value, define(results[0].first, std::move(results[0].second)));
    graph_.inputs.push_back(std::move(input));
    return {};
  }

  // aten.mm.default(%a, %b) defines(u0) origin "model.py:3"
  Status node(std::vector<std::pair<Token, Value>> results) {
    Node node;
    JUMAR_ASSIGN(node.op, lexer_.expect_any_word("an operator, 'input' or 'parameter'"));
    JUMAR_RETURN_IF_ERROR(lexer_.expect_punct("("));
    auto read_value = [this](const Token& at) { return value(at); };
    JUMAR_ASSIGN(node.args, (ir::read_args<Arg>(graph_.cx(), lexer_, resolve_, read_value, ")")));
    if (lexer_.accept_word("defines")) {
      JUMAR_RETURN_IF_ERROR(lexer_.expect_punct("("));
      do {
        Token at = lexer_.peek();
        JUMAR_ASSIGN(std::string name, lexer_.expect_any_word("a symbol of the graph"));
        Expr symbol = resolve_(name);
        if (!symbol) return lexer_.error_at(at, fmt::format("symbol {} is not declared", name));
        node.unbacked.push_back(symbol);
      } while (lexer_.accept_punct(","));
      JUMAR_RETURN_IF_ERROR(lexer_.expect_punct(")"));
    }
    if (lexer_.accept_word("origin")) {
      JUMAR_ASSIGN(node.origin, lexer_.expect_string());
    }
    for (auto& [at, value] : results) {
      JUMAR_ASSIGN(ValueId id, define(at, std::move(value)));
      node.results.push_back(id);
    }
    graph_.append(std::move(node));
    return {};
  }

  Status outputs() {
    if (lexer_.peek_punct("}")) return {};
    auto read_value = [this](const Token& at) { return value(at); };
    do {
      JUMAR_ASSIGN(Arg arg, ir::read_arg<Arg>(graph_.cx(), lexer_, resolve_, read_value));
      graph_.outputs.push_back(std::move(arg));
    } while (lexer_.accept_punct(","));
    return {};
  }

  Result<Arg> value(const Token& at) {
    auto found = values_.find(std::string(at.text));
    if (found == values_.end())
      return lexer_.error_at(at, fmt::format("value %{} is not defined above", at.text));
    return Arg(found->second);
  }

  Lexer lexer_;
  Graph graph_;
  std::unordered_map<std::string, Expr> symbols_;
  std::unordered_map<std::string, ValueId> values_;
  std::function<Expr(std::string_view)> resolve_;
};

}  // namespace

// u0, u12: defined by a node in the forward graph that first met it; everything else is a size.
sym::SymbolKind symbol_kind(std::string_view name) {
  bool is_unbacked = name.size() > 1 && name[0] == 'u' && name[1] >= '0' && name[1] <= '9';
  return is_unbacked ? sym::SymbolKind::kUnbacked : sym::SymbolKind::kSize;
}

Result<Graph> read_graph(std::string_view text, const std::string& file) {
  return Reader(text, file).graph();
}

}  // namespace jumar::graph
