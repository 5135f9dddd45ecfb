#include "driver/canonical.h"

#include <algorithm>
#include <unordered_map>

#include "support/lexer.h"

namespace jumar::driver {
namespace {

using Renaming = std::unordered_map<std::string_view, std::string>;

std::string_view numbered(Renaming& names, std::string_view name, std::string_view prefix) {
  const auto [it, is_new] = names.try_emplace(name);
  if (is_new) it->second = fmt::format("{}{}", prefix, names.size() - 1);
  return it->second;
}

// Unbacked symbols are told by their name's first letter (graph::symbol_kind).
std::string_view symbol_prefix(std::string_view name) { return name.starts_with("u") ? "u" : "s"; }

class GraphRewriter {
 public:
  explicit GraphRewriter(std::string_view text) : lexer_(text, "") {}

  CanonicalGraph run() {
    while (!lexer_.at_end()) {
      const Token token = lexer_.next();
      if (token.kind == TokenKind::kSymbol) continue;  // only the graph's name is one
      if (drop(token)) continue;
      note(token);
      emit(token);
      before_ = previous_;
      previous_ = token;
    }
    return std::move(out_);
  }

 private:
  bool is_word(const Token& token, std::string_view word) const {
    return token.kind == TokenKind::kWord && token.text == word;
  }

  // Hints, origins and names of parameters.
  bool drop(const Token& token) {
    if (is_word(token, "hint") && in_symbols_) {
      lexer_.accept_punct("-");
      lexer_.next();
      return true;
    }
    if (is_word(token, "origin") && lexer_.peek().kind == TokenKind::kString) {
      lexer_.next();
      return true;
    }
    return token.kind == TokenKind::kString && previous_.kind == TokenKind::kInt &&
           (is_word(before_, "input") || is_word(before_, "parameter"));
  }

  void note(const Token& token) {
    if (is_word(token, "symbols") && depth_ == 0) in_symbols_ = true;
    if (token.kind == TokenKind::kPunct && token.text == "{") {
      in_symbols_ = false;
      ++depth_;
    }
    if (in_symbols_ && token.kind == TokenKind::kWord && lexer_.peek_word("in")) {
      numbered(symbols_, token.text, symbol_prefix(token.text));
    }
    if (token.kind == TokenKind::kValue && lexer_.peek_punct(":")) defined_ = token.text;
    if (token.kind == TokenKind::kInt && (is_word(previous_, "input") || is_word(previous_, "parameter"))) {
      name_input(token.text);
    }
  }

  void name_input(std::string_view index_text) {
    size_t index = 0;
    for (const char digit : index_text) {
      if (digit < '0' || digit > '9' || index > 1'000'000) return;
      index = index * 10 + static_cast<size_t>(digit - '0');
    }
    if (out_.input_names.size() <= index) out_.input_names.resize(index + 1);
    out_.input_names[index] = std::string(defined_);
  }

  void emit(const Token& token) {
    if (!out_.text.empty()) out_.text += ' ';
    switch (token.kind) {
      case TokenKind::kValue:
        out_.text += '%';
        out_.text += numbered(values_, token.text, "");
        return;
      case TokenKind::kString:
        out_.text += '"';
        out_.text += token.text;
        out_.text += '"';
        return;
      case TokenKind::kWord: {
        const auto it = symbols_.find(token.text);
        out_.text += it == symbols_.end() ? token.text : std::string_view(it->second);
        return;
      }
      default:
        out_.text += token.text;
        return;
    }
  }

  Lexer lexer_;
  CanonicalGraph out_;
  Renaming values_;
  Renaming symbols_;
  Token previous_;
  Token before_;
  std::string_view defined_;
  bool in_symbols_ = false;
  int depth_ = 0;
};

// In a kernel's text a buffer or number follows one of these words; other values are the body's own.
bool names_buffer(const Token& previous) {
  return previous.kind == TokenKind::kWord &&
         (previous.text == "load" || previous.text == "param" || previous.text == "store" ||
          (previous.text.starts_with("store.") && previous.text != "store.local"));
}

std::string bound_text(int64_t bound) {
  if (bound == sym::Range::kMin) return "-inf";
  if (bound == sym::Range::kMax) return "inf";
  return std::to_string(bound);
}

}  // namespace

CanonicalGraph canonical_graph(std::string_view text) { return GraphRewriter(text).run(); }

std::string canonical_kernel(const loop::Program& program, const loop::Kernel& kernel) {
  const std::string text = loop::write_kernel(program, kernel);
  std::unordered_map<std::string_view, const loop::SymbolInfo*> declared;
  for (const loop::SymbolInfo& info : program.symbols) declared[info.symbol.symbol_name()] = &info;
  Renaming buffers;
  Renaming symbols;
  std::vector<std::pair<sym::Expr, size_t>> by_name;  // symbols and their numbers
  std::string body;
  std::string ranges;
  Token previous;
  for (Lexer lexer(text, ""); !lexer.at_end();) {
    const Token token = lexer.next();
    if (token.kind == TokenKind::kSymbol) continue;  // the kernel's name
    if (token.kind == TokenKind::kWord && token.text == "origin" && lexer.peek().kind == TokenKind::kString) {
      lexer.next();
      continue;
    }
    body += ' ';
    const auto symbol = token.kind == TokenKind::kWord ? declared.find(token.text) : declared.end();
    if (token.kind == TokenKind::kValue) {
      body += '%';
      body += names_buffer(previous) ? "b" + std::string(numbered(buffers, token.text, ""))
                                     : std::string(token.text);
    } else if (symbol != declared.end()) {
      const size_t known = symbols.size();
      const std::string_view name = numbered(symbols, token.text, symbol_prefix(token.text));
      body += name;
      const sym::Range range = symbol->second->range;
      if (symbols.size() > known) {
        by_name.emplace_back(symbol->second->symbol, known);
        ranges += fmt::format("{} in [{}, {}]\n", name, bound_text(range.lo), bound_text(range.hi));
      }
    } else {
      body += token.text;
    }
    previous = token;
  }
  // The symbols of an expression are arguments in the order of their names.
  std::ranges::sort(by_name, [](const auto& a, const auto& b) { return sym::compare(a.first, b.first) < 0; });
  std::string order;
  for (const auto& [symbol, number] : by_name) order += fmt::format(" {}", number);
  return fmt::format("{}{}order{}\n{}\n", program.strict ? "strict\n" : "", ranges, order, body);
}

}  // namespace jumar::driver
