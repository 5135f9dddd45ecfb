#include "import/op_schema.h"

#include <algorithm>

#include "ir/arg_text.h"

namespace jumar::import {
namespace {

using graph::Arg;

struct Row {
  std::string_view op;
  std::string_view args;
  std::string_view returns;
};

constexpr Row kRows[] = {
#define JUMAR_OP(op, args, returns) {op, args, returns},
#include "import/op_schemas.def"
#undef JUMAR_OP
};

// "Tensor?[]", "SymInt[2]": a word and what follows it without a space.
std::string read_type(Lexer& lexer) {
  std::string type(lexer.next().text);
  while (lexer.peek_punct("?") || lexer.peek_punct("[")) {
    const bool is_list = lexer.peek_punct("[");
    type += lexer.next().text;
    if (!is_list) continue;
    if (!lexer.peek_punct("]")) type += lexer.next().text;
    type += lexer.next().text;
  }
  return type;
}

std::vector<OpArgument> read_arguments(sym::Context& cx, std::string_view text) {
  Lexer lexer(text, "op_schemas.def");
  std::vector<OpArgument> out;
  const auto no_symbols = [](std::string_view) { return sym::Expr(); };
  const auto no_values = [&](const Token& at) -> Result<Arg> { return lexer.error_at(at, "a value"); };
  while (!lexer.at_end()) {
    OpArgument arg;
    arg.type = read_type(lexer);
    arg.writes = lexer.accept_punct("!");
    arg.may_alias = lexer.accept_punct("&");
    arg.name = lexer.next().text;
    if (lexer.accept_punct("=")) {
      Result<Arg> value = ir::read_arg<Arg>(cx, lexer, no_symbols, no_values);
      CHECK(value.ok(), "{}: {}", text, value.error().text());
      arg.default_value = std::move(*value);
    }
    out.push_back(std::move(arg));
    lexer.accept_punct(",");
  }
  return out;
}

void read_returns(std::string_view text, OpSchema& out) {
  Lexer lexer(text, "op_schemas.def");
  while (!lexer.at_end()) {
    out.returns.push_back(read_type(lexer));
    out.same_as.emplace_back();
    const bool same = lexer.accept_punct("!");
    if (same || lexer.accept_punct("&")) {
      const Result<int64_t> index = lexer.expect_int();
      CHECK(index.ok(), "{}", text);
      if (same) out.same_as.back() = static_cast<size_t>(*index);
    }
    lexer.accept_punct(",");
  }
}

}  // namespace

ir::Schema OpSchema::plain() const {
  ir::Schema out;
  for (const OpArgument& arg : args) out.args.push_back({arg.type, arg.name});
  out.returns = returns;
  return out;
}

bool OpSchema::writes() const {
  return std::any_of(args.begin(), args.end(), [](const OpArgument& arg) { return arg.writes; });
}

bool OpSchema::may_alias() const {
  return std::any_of(args.begin(), args.end(), [](const OpArgument& arg) { return arg.may_alias; });
}

const OpSchema* OpSchemas::find(const std::string& op) {
  if (const auto found = known_.find(op); found != known_.end()) return found->second.get();
  const auto* const row = std::lower_bound(std::begin(kRows), std::end(kRows), op,
                                           [](const Row& r, const std::string& name) { return r.op < name; });
  if (row == std::end(kRows) || row->op != op) return nullptr;
  auto schema = std::make_unique<OpSchema>();
  schema->args = read_arguments(cx_, row->args);
  read_returns(row->returns, *schema);
  return known_.emplace(op, std::move(schema)).first->second.get();
}

std::vector<std::string_view> operators_of(std::string_view prefix) {
  std::vector<std::string_view> out;
  const auto* row = std::lower_bound(std::begin(kRows), std::end(kRows), prefix,
                                     [](const Row& r, std::string_view name) { return r.op < name; });
  for (; row != std::end(kRows) && row->op.starts_with(prefix); ++row) out.push_back(row->op);
  return out;
}

}  // namespace jumar::import
