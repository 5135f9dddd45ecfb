#include "ir/arg_text.h"
#include "loop/loop.h"
#include "loop/reader_nest.h"

namespace jumar::loop {
namespace {

using sym::Expr;

// u0, u12: defined by a call; everything else is a size.
sym::SymbolKind symbol_kind(std::string_view name) {
  bool is_unbacked = name.size() > 1 && name[0] == 'u' && name[1] >= '0' && name[1] <= '9';
  return is_unbacked ? sym::SymbolKind::kUnbacked : sym::SymbolKind::kSize;
}

class Reader {
 public:
  Reader(std::string_view text, const std::string& file)
      : lexer_(text, file), program_(std::make_shared<sym::Context>()) {
    resolve_ = [this](std::string_view word) {
      auto found = names_.symbols.find(std::string(word));
      return found == names_.symbols.end() ? Expr() : found->second;
    };
    read_ref_ = [this](const Token& at) { return reference(at); };
  }

  Result<Program> program() {
    JUMAR_RETURN_IF_ERROR(header());
    while (lexer_.peek().kind == TokenKind::kValue || lexer_.peek_word("int"))
      JUMAR_RETURN_IF_ERROR(declaration());
    JUMAR_RETURN_IF_ERROR(resolve_views());
    while (lexer_.accept_word("schema")) JUMAR_RETURN_IF_ERROR(schema());
    while (!lexer_.accept_word("return")) JUMAR_RETURN_IF_ERROR(item());
    if (!lexer_.accept_punct("}")) {
      JUMAR_ASSIGN(program_.outputs, args("}"));
    }
    if (!lexer_.at_end()) return lexer_.expected("the end of the text");
    return std::move(program_);
  }

 private:
  Status header() {
    JUMAR_RETURN_IF_ERROR(lexer_.expect_word("loop"));
    program_.strict = lexer_.accept_word("strict");
    JUMAR_ASSIGN(program_.name, lexer_.expect_symbol());
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
    SymbolInfo info;
    info.symbol = program_.cx().symbol(symbol_kind(name), name);
    if (!names_.symbols.emplace(name, info.symbol).second)
      return lexer_.error_at(at, fmt::format("symbol {} is declared twice", name));
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
    program_.symbols.push_back(info);
    return {};
  }

  Result<int64_t> bound() {
    Lexer::Mark mark = lexer_.mark();
    bool negative = lexer_.accept_punct("-");
    if (lexer_.accept_word("inf")) return negative ? sym::Range::kMin : sym::Range::kMax;
    lexer_.reset(mark);
    return lexer_.expect_int();
  }

  // int(s0) = input 0 | %p: float = input 3 | %x: f32[s0] = temp
  Status declaration() {
    if (lexer_.accept_word("int")) {
      IntInput input;
      JUMAR_RETURN_IF_ERROR(lexer_.expect_punct("("));
      JUMAR_ASSIGN(input.expr, sym::read_expr(program_.cx(), lexer_, resolve_));
      JUMAR_RETURN_IF_ERROR(lexer_.expect_punct(")"));
      JUMAR_RETURN_IF_ERROR(lexer_.expect_punct("="));
      JUMAR_RETURN_IF_ERROR(lexer_.expect_word("input"));
      JUMAR_ASSIGN(input.index, read_count(lexer_));
      program_.int_inputs.push_back(input);
      ++program_.input_count;
      return {};
    }
    Token at = lexer_.next();
    JUMAR_RETURN_IF_ERROR(lexer_.expect_punct(":"));
    if (std::optional<NumberKind> kind = number_kind()) {
      JUMAR_RETURN_IF_ERROR(lexer_.expect_punct("="));
      JUMAR_RETURN_IF_ERROR(lexer_.expect_word("input"));
      JUMAR_ASSIGN(uint32_t index, read_count(lexer_));
      ++program_.input_count;
      JUMAR_ASSIGN(NumberId id, define_number(at, {std::string(at.text), *kind, index}));
      static_cast<void>(id);
      return {};
    }
    return buffer(at);
  }

  // `float` or `bool`, where no tensor type follows.
  std::optional<NumberKind> number_kind() {
    Lexer::Mark mark = lexer_.mark();
    if (lexer_.accept_word("float")) return NumberKind::kFloat;
    if (lexer_.accept_word("bool") && !lexer_.peek_punct("[")) return NumberKind::kBool;
    lexer_.reset(mark);
    return std::nullopt;
  }

  Status name_is_free(const Token& at) {
    std::string name(at.text);
    if (names_.buffers.contains(name) || names_.numbers.contains(name))
      return lexer_.error_at(at, fmt::format("%{} is declared twice", name));
    return {};
  }

  Result<NumberId> define_number(const Token& at, Number number) {
    JUMAR_RETURN_IF_ERROR(name_is_free(at));
    NumberId id = program_.numbers.add(std::move(number));
    names_.numbers.emplace(std::string(at.text), id);
    return id;
  }

  Status buffer(const Token& at) {
    JUMAR_RETURN_IF_ERROR(name_is_free(at));
    Buffer b;
    b.name = std::string(at.text);
    JUMAR_ASSIGN(b.type, ir::read_tensor_type(program_.cx(), lexer_, resolve_));
    JUMAR_RETURN_IF_ERROR(lexer_.expect_punct("="));
    if (lexer_.peek_word("input") || lexer_.peek_word("parameter")) {
      b.storage = lexer_.next().text == "input" ? Storage::kInput : Storage::kParameter;
      JUMAR_ASSIGN(b.index, read_count(lexer_));
      ++program_.input_count;
    } else if (lexer_.accept_word("temp")) {
      b.storage = Storage::kTemp;
    } else if (lexer_.accept_word("output")) {
      b.storage = Storage::kOutput;
    } else if (lexer_.accept_word("result")) {
      b.storage = Storage::kResult;
    } else if (lexer_.accept_word("view")) {
      b.storage = Storage::kView;
      view_bases_.emplace_back(program_.buffers.id_at(program_.buffers.size()), lexer_.peek());
      JUMAR_ASSIGN(std::string base, lexer_.expect_value());
      JUMAR_RETURN_IF_ERROR(lexer_.expect_word("offset"));
      JUMAR_ASSIGN(b.offset, sym::read_expr(program_.cx(), lexer_, resolve_));
    } else {
      return lexer_.expected("input, parameter, temp, output, result or view");
    }
    names_.buffers.emplace(b.name, program_.buffers.add(b));
    return {};
  }

  // A view may be declared before its base.
  Status resolve_views() {
    for (const auto& [view, at] : view_bases_) {
      auto found = names_.buffers.find(std::string(at.text));
      if (found == names_.buffers.end())
        return lexer_.error_at(at, fmt::format("buffer %{} is not declared", at.text));
      program_.buffers[view].base = found->second;
    }
    return {};
  }

  Status schema() {
    Token at = lexer_.peek();
    JUMAR_ASSIGN(auto named, ir::read_schema(lexer_));
    if (!program_.schemas.empty() && program_.schemas.back().first >= named.first)
      return lexer_.error_at(at, "schema lines are sorted by the operators' names, each once");
    program_.schemas.push_back(std::move(named));
    return {};
  }

  Status item() {
    if (lexer_.accept_word("kernel")) return kernel();
    if (lexer_.accept_word("call")) return call();
    if (lexer_.accept_word("host")) return host();
    if (lexer_.accept_word("check")) return check();
    return lexer_.expected("kernel, call, host, check or return");
  }

  Status kernel() {
    Kernel kernel;
    JUMAR_ASSIGN(kernel.name, lexer_.expect_symbol());
    kernel.is_phased = lexer_.accept_word("phased");
    if (lexer_.accept_word("origin")) {
      JUMAR_ASSIGN(kernel.origin, lexer_.expect_string());
    }
    JUMAR_RETURN_IF_ERROR(lexer_.expect_punct("{"));
    while (!lexer_.accept_punct("}")) {
      if (!lexer_.accept_word("nest")) return lexer_.expected("'nest' or '}'");
      JUMAR_ASSIGN(Nest nest, read_nest(program_, lexer_, names_));
      kernel.nests.push_back(std::move(nest));
    }
    program_.items.emplace_back(std::move(kernel));
    return {};
  }

  Result<Arg> reference(const Token& at) {
    std::string name(at.text);
    auto buffer = names_.buffers.find(name);
    if (buffer != names_.buffers.end()) return Arg(buffer->second);
    auto number = names_.numbers.find(name);
    if (number != names_.numbers.end()) return Arg(number->second);
    return lexer_.error_at(at, fmt::format("%{} is no buffer or number defined above", name));
  }

  Result<ArgList> args(std::string_view close) {
    return ir::read_args<Arg>(program_.cx(), lexer_, resolve_, read_ref_, close);
  }

  // aten.mm.default(%x, %w) -> (%t) defines(u0) because "matrix product"
  Status call() {
    Call call;
    JUMAR_ASSIGN(call.op, lexer_.expect_any_word("an operator's name"));
    JUMAR_RETURN_IF_ERROR(lexer_.expect_punct("("));
    JUMAR_ASSIGN(call.args, args(")"));
    JUMAR_RETURN_IF_ERROR(lexer_.expect_punct("->"));
    JUMAR_RETURN_IF_ERROR(lexer_.expect_punct("("));
    while (!lexer_.accept_punct(")")) {
      if (!call.results.empty()) JUMAR_RETURN_IF_ERROR(lexer_.expect_punct(","));
      if (lexer_.accept_word("none")) {
        call.results.emplace_back();
        continue;
      }
      Token at = lexer_.peek();
      JUMAR_ASSIGN(std::string name, lexer_.expect_value());
      auto found = names_.buffers.find(name);
      if (found == names_.buffers.end())
        return lexer_.error_at(at, fmt::format("buffer %{} is not declared", name));
      call.results.push_back(found->second);
    }
    if (lexer_.accept_word("defines")) {
      JUMAR_RETURN_IF_ERROR(lexer_.expect_punct("("));
      do {
        Token at = lexer_.peek();
        JUMAR_ASSIGN(std::string name, lexer_.expect_any_word("a symbol such as u0"));
        Expr symbol = resolve_(name);
        if (!symbol) return lexer_.error_at(at, fmt::format("symbol {} is not declared", name));
        call.defines.push_back(symbol);
      } while (lexer_.accept_punct(","));
      JUMAR_RETURN_IF_ERROR(lexer_.expect_punct(")"));
    }
    if (lexer_.accept_word("because")) {
      JUMAR_ASSIGN(call.reason, lexer_.expect_string());
    }
    program_.items.emplace_back(std::move(call));
    return {};
  }

  // %f: float = scalar.mul(%p, 2.0)
  Status host() {
    HostOp host;
    Token at = lexer_.peek();
    JUMAR_ASSIGN(std::string name, lexer_.expect_value());
    JUMAR_RETURN_IF_ERROR(lexer_.expect_punct(":"));
    std::optional<NumberKind> kind = number_kind();
    if (!kind) return lexer_.expected("float or bool");
    JUMAR_RETURN_IF_ERROR(lexer_.expect_punct("="));
    JUMAR_ASSIGN(host.op, lexer_.expect_any_word("an operator such as scalar.mul"));
    JUMAR_RETURN_IF_ERROR(lexer_.expect_punct("("));
    JUMAR_ASSIGN(host.args, args(")"));
    JUMAR_ASSIGN(host.result, define_number(at, {std::move(name), *kind, std::nullopt}));
    program_.items.emplace_back(std::move(host));
    return {};
  }

  Status check() {
    Check check;
    JUMAR_ASSIGN(check.predicate, sym::read_expr(program_.cx(), lexer_, resolve_));
    JUMAR_ASSIGN(check.message, lexer_.expect_string());
    program_.items.emplace_back(std::move(check));
    return {};
  }

  Lexer lexer_;
  Program program_;
  Names names_;
  std::vector<std::pair<BufferId, Token>> view_bases_;
  std::function<Expr(std::string_view)> resolve_;
  std::function<Result<Arg>(const Token&)> read_ref_;
};

}  // namespace

Result<Program> read_program(std::string_view text, const std::string& file) {
  return Reader(text, file).program();
}

}  // namespace jumar::loop
