#include "ir/arg_text.h"

#include <algorithm>
#include <array>

#include "ir/dtype.h"

namespace jumar::ir {
namespace {

constexpr std::array<std::string_view, 4> kKinds = {"dtype", "layout", "memory_format", "device"};
constexpr std::array<std::string_view, 8> kLayouts = {"strided",    "sparse_coo", "sparse_csr", "sparse_csc",
                                                      "sparse_bsr", "sparse_bsc", "mkldnn",     "jagged"};
constexpr std::array<std::string_view, 4> kMemoryFormats = {"contiguous", "preserve", "channels_last",
                                                            "channels_last_3d"};

template <size_t N>
bool contains(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_known_word(WordArg::Kind kind, std::string_view word) {
  switch (kind) {
    case WordArg::Kind::kDType:
      return dtype_from_name(word).has_value();
    case WordArg::Kind::kLayout:
      return contains(kLayouts, word);
    case WordArg::Kind::kMemoryFormat:
      return contains(kMemoryFormats, word);
    case WordArg::Kind::kDevice:
      return true;
  }
  return false;
}

std::string allowed_words(WordArg::Kind kind) {
  switch (kind) {
    case WordArg::Kind::kDType:
      return "an element type such as f32";
    case WordArg::Kind::kLayout:
      return fmt::format("one of {}", fmt::join(kLayouts, ", "));
    case WordArg::Kind::kMemoryFormat:
      return fmt::format("one of {}", fmt::join(kMemoryFormats, ", "));
    case WordArg::Kind::kDevice:
      return "a device in quotes";
  }
  return "";
}

// Tensor, SymInt[2]?, Tensor?[]
Result<std::string> read_schema_type(Lexer& lexer) {
  JUMAR_ASSIGN(std::string type, lexer.expect_any_word("a type such as Tensor"));
  while (true) {
    if (lexer.accept_punct("?")) {
      type += "?";
    } else if (lexer.accept_punct("[")) {
      type += "[";
      if (lexer.peek().kind == TokenKind::kInt) type += lexer.next().text;
      JUMAR_RETURN_IF_ERROR(lexer.expect_punct("]"));
      type += "]";
    } else {
      return type;
    }
  }
}

}  // namespace

std::string word_text(const WordArg& word) {
  bool is_device = word.kind == WordArg::Kind::kDevice;
  std::string_view kind = kKinds[static_cast<size_t>(word.kind)];
  return fmt::format("{}({})", kind, is_device ? quoted(word.word) : word.word);
}

std::optional<WordArg::Kind> word_kind_from_name(std::string_view name) {
  for (size_t k = 0; k < kKinds.size(); ++k)
    if (kKinds[k] == name) return static_cast<WordArg::Kind>(k);
  return std::nullopt;
}

Result<WordArg> read_word(Lexer& lexer) {
  std::optional<WordArg::Kind> kind = word_kind_from_name(lexer.next().text);
  CHECK(kind.has_value());
  JUMAR_RETURN_IF_ERROR(lexer.expect_punct("("));
  WordArg arg{*kind, {}};
  if (*kind == WordArg::Kind::kDevice) {
    JUMAR_ASSIGN(arg.word, lexer.expect_string());
  } else {
    if (lexer.peek().kind != TokenKind::kWord || !is_known_word(*kind, lexer.peek().text))
      return lexer.expected(allowed_words(*kind));
    arg.word = std::string(lexer.next().text);
  }
  JUMAR_RETURN_IF_ERROR(lexer.expect_punct(")"));
  return arg;
}

bool starts_float(Lexer& lexer) {
  Lexer::Mark mark = lexer.mark();
  lexer.accept_punct("-");
  bool found = lexer.peek().kind == TokenKind::kFloat || lexer.peek_word("inf") || lexer.peek_word("nan");
  lexer.reset(mark);
  return found;
}

std::string schema_text(std::string_view op, const Schema& schema) {
  std::string out = fmt::format("schema {}(", op);
  for (size_t k = 0; k < schema.args.size(); ++k) {
    if (k > 0) out += ", ";
    out += schema.args[k].type + " " + schema.args[k].name;
  }
  return out + fmt::format(") -> ({})", fmt::join(schema.returns, ", "));
}

Result<std::pair<std::string, Schema>> read_schema(Lexer& lexer) {
  JUMAR_ASSIGN(std::string op, lexer.expect_any_word("an operator's name"));
  Schema schema;
  JUMAR_RETURN_IF_ERROR(lexer.expect_punct("("));
  while (!lexer.accept_punct(")")) {
    if (!schema.args.empty()) JUMAR_RETURN_IF_ERROR(lexer.expect_punct(","));
    SchemaArg arg;
    JUMAR_ASSIGN(arg.type, read_schema_type(lexer));
    JUMAR_ASSIGN(arg.name, lexer.expect_any_word("an argument's name"));
    schema.args.push_back(std::move(arg));
  }
  JUMAR_RETURN_IF_ERROR(lexer.expect_punct("->"));
  JUMAR_RETURN_IF_ERROR(lexer.expect_punct("("));
  while (!lexer.accept_punct(")")) {
    if (!schema.returns.empty()) JUMAR_RETURN_IF_ERROR(lexer.expect_punct(","));
    JUMAR_ASSIGN(std::string type, read_schema_type(lexer));
    schema.returns.push_back(std::move(type));
  }
  return std::pair(std::move(op), std::move(schema));
}

}  // namespace jumar::ir
