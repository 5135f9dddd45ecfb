#include <unordered_map>

#include "ir/arg_text.h"
#include "plan/bind_sources.h"
#include "plan/plan.h"

namespace jumar::plan {
namespace {

using sym::Expr;

// Input positions are below this: a larger one can only be a broken text.
constexpr int64_t kMaxInputs = 1 << 20;

bool is_reserved(std::string_view name) {
  constexpr std::string_view kReserved[] = {"none", "true", "false", "inf", "nan",
                                            "min",  "max",  "and",   "or",  "not"};
  for (std::string_view word : kReserved)
    if (word == name) return true;
  return ir::word_kind_from_name(name) || name.find('.') != std::string_view::npos;
}

class Reader {
 public:
  Reader(std::string_view text, const std::string& file)
      : lexer_(text, file), plan_(std::make_shared<sym::Context>()) {
    resolve_ = [this](std::string_view word) {
      auto found = symbols_.find(std::string(word));
      return found == symbols_.end() ? Expr() : found->second;
    };
  }

  Result<Plan> run() {
    JUMAR_RETURN_IF_ERROR(header());
    while (lexer_.accept_word("schema")) JUMAR_RETURN_IF_ERROR(schema());
    while (lexer_.peek().kind == TokenKind::kValue) JUMAR_RETURN_IF_ERROR(declaration());
    while (!lexer_.accept_word("return")) JUMAR_RETURN_IF_ERROR(step());
    if (!lexer_.peek_punct("}")) {
      do {
        JUMAR_ASSIGN(Arg arg, argument());
        plan_.outputs.push_back(std::move(arg));
      } while (lexer_.accept_punct(","));
    }
    JUMAR_RETURN_IF_ERROR(lexer_.expect_punct("}"));
    if (!lexer_.at_end()) return lexer_.expected("the end of the text");
    return std::move(plan_);
  }

 private:
  Status header() {
    JUMAR_RETURN_IF_ERROR(lexer_.expect_word("plan"));
    JUMAR_ASSIGN(plan_.name, lexer_.expect_symbol());
    if (lexer_.accept_word("symbols")) {
      JUMAR_RETURN_IF_ERROR(lexer_.expect_punct("("));
      do {
        JUMAR_RETURN_IF_ERROR(symbol());
      } while (lexer_.accept_punct(","));
      JUMAR_RETURN_IF_ERROR(lexer_.expect_punct(")"));
    }
    return lexer_.expect_punct("{");
  }

  // s0 in [2, inf]
  Status symbol() {
    Token at = lexer_.peek();
    JUMAR_ASSIGN(std::string name, lexer_.expect_any_word("a symbol's name such as s0"));
    if (is_reserved(name)) return lexer_.error_at(at, fmt::format("'{}' cannot name a symbol", name));
    if (symbols_.contains(name)) return lexer_.error_at(at, fmt::format("symbol {} is declared twice", name));
    bool unbacked = name.size() > 1 && name[0] == 'u' && name[1] >= '0' && name[1] <= '9';
    SymbolInfo info;
    info.symbol = plan_.cx().symbol(unbacked ? sym::SymbolKind::kUnbacked : sym::SymbolKind::kSize, name);
    JUMAR_RETURN_IF_ERROR(lexer_.expect_word("in"));
    JUMAR_RETURN_IF_ERROR(lexer_.expect_punct("["));
    JUMAR_ASSIGN(info.range.lo, bound());
    JUMAR_RETURN_IF_ERROR(lexer_.expect_punct(","));
    JUMAR_ASSIGN(info.range.hi, bound());
    JUMAR_RETURN_IF_ERROR(lexer_.expect_punct("]"));
    if (info.range.lo > info.range.hi)
      return lexer_.error_at(at, fmt::format("the range of symbol {} is empty", name));
    symbols_[name] = info.symbol;
    plan_.symbols.push_back(info);
    return {};
  }

  Result<int64_t> bound() {
    Lexer::Mark mark = lexer_.mark();
    bool negative = lexer_.accept_punct("-");
    if (lexer_.accept_word("inf")) return negative ? sym::Range::kMin : sym::Range::kMax;
    lexer_.reset(mark);
    return lexer_.expect_int();
  }

  Status schema() {
    Token at = lexer_.peek();
    JUMAR_ASSIGN(auto named, ir::read_schema(lexer_));
    if (!plan_.schemas.empty() && plan_.schemas.back().first >= named.first)
      return lexer_.error_at(at, fmt::format("schema lines are sorted by name, each once: {} comes after {}",
                                             named.first, plan_.schemas.back().first));
    plan_.schemas.push_back(std::move(named));
    return {};
  }

  Result<Expr> expr() { return sym::read_expr(plan_.cx(), lexer_, resolve_); }

  // %x: f32[s0] = input 0
  Status declaration() {
    Token at = lexer_.peek();
    JUMAR_ASSIGN(std::string name, lexer_.expect_value());
    if (names_.contains(name)) return lexer_.error_at(at, fmt::format("%{} is declared twice", name));
    JUMAR_RETURN_IF_ERROR(lexer_.expect_punct(":"));
    if (lexer_.accept_word("int")) return int_input(std::move(name));
    Lexer::Mark mark = lexer_.mark();
    bool is_float = lexer_.accept_word("float");
    if (is_float || (lexer_.accept_word("bool") && !lexer_.peek_punct("[")))
      return number(std::move(name), is_float ? NumberKind::kFloat : NumberKind::kBool);
    lexer_.reset(mark);
    return tensor(std::move(name));
  }

  Status int_input(std::string name) {
    IntInput input;
    JUMAR_RETURN_IF_ERROR(lexer_.expect_punct("("));
    JUMAR_ASSIGN(input.expr, expr());
    JUMAR_RETURN_IF_ERROR(lexer_.expect_punct(")"));
    JUMAR_RETURN_IF_ERROR(lexer_.expect_punct("="));
    JUMAR_RETURN_IF_ERROR(lexer_.expect_word("input"));
    JUMAR_ASSIGN(input.index, input_index());
    input.name = name;
    names_[std::move(name)] = Arg(input.expr);
    plan_.int_inputs.push_back(std::move(input));
    return {};
  }

  Status number(std::string name, NumberKind kind) {
    Number number{name, kind, std::nullopt};
    JUMAR_RETURN_IF_ERROR(lexer_.expect_punct("="));
    if (!lexer_.accept_word("number")) {
      if (!lexer_.accept_word("input")) return lexer_.expected("'number' or 'input'");
      JUMAR_ASSIGN(number.input, input_index());
    }
    names_[std::move(name)] = Arg(plan_.numbers.add(std::move(number)));
    return {};
  }

  Status tensor(std::string name) {
    Tensor tensor;
    tensor.name = name;
    if (lexer_.peek().kind != TokenKind::kWord || !ir::dtype_from_name(lexer_.peek().text))
      return lexer_.expected("a type: f32[...], int(...), float or bool");
    JUMAR_ASSIGN(tensor.type, ir::read_tensor_type(plan_.cx(), lexer_, resolve_));
    JUMAR_RETURN_IF_ERROR(lexer_.expect_punct("="));
    if (lexer_.accept_word("input") || lexer_.peek_word("parameter")) {
      tensor.storage = lexer_.accept_word("parameter") ? Storage::kParameter : Storage::kInput;
      JUMAR_ASSIGN(tensor.index, input_index());
    } else if (lexer_.accept_word("arena")) {
      tensor.storage = Storage::kArena;
    } else if (lexer_.accept_word("output")) {
      tensor.storage = Storage::kOutput;
    } else if (lexer_.accept_word("result")) {
      tensor.storage = Storage::kResult;
    } else if (lexer_.accept_word("view")) {
      tensor.storage = Storage::kView;
      JUMAR_ASSIGN(tensor.base, tensor_name());
      JUMAR_RETURN_IF_ERROR(lexer_.expect_word("offset"));
      JUMAR_ASSIGN(tensor.offset, expr());
    } else {
      return lexer_.expected("'input', 'parameter', 'arena', 'output', 'result' or 'view'");
    }
    names_[std::move(name)] = Arg(plan_.tensors.add(std::move(tensor)));
    return {};
  }

  Result<uint32_t> input_index() {
    Token at = lexer_.peek();
    JUMAR_ASSIGN(int64_t index, lexer_.expect_int());
    if (index < 0 || index >= kMaxInputs)
      return lexer_.error_at(at, fmt::format("input positions are 0 to {}, found {}", kMaxInputs - 1, index));
    plan_.input_count = std::max(plan_.input_count, static_cast<uint32_t>(index) + 1);
    return static_cast<uint32_t>(index);
  }

  template <class T>
  Result<T> named(std::string_view what) {
    Token at = lexer_.peek();
    JUMAR_ASSIGN(std::string name, lexer_.expect_value());
    auto found = names_.find(name);
    if (found == names_.end()) return lexer_.error_at(at, fmt::format("%{} is not declared above", name));
    if (const T* id = found->second.template as<T>()) return *id;
    return lexer_.error_at(at, fmt::format("%{} is not {}", name, what));
  }
  Result<TensorId> tensor_name() { return named<TensorId>("a tensor"); }
  Result<NumberId> number_name() { return named<NumberId>("a float or bool"); }

  Status step() {
    Step step;
    if (lexer_.accept_word("bind")) {
      JUMAR_ASSIGN(step.data, bind());
    } else if (lexer_.accept_word("launch")) {
      JUMAR_ASSIGN(step.data, launch());
    } else if (lexer_.accept_word("call")) {
      JUMAR_ASSIGN(step.data, call());
    } else if (lexer_.accept_word("python")) {
      JUMAR_ASSIGN(step.data, python());
    } else if (lexer_.accept_word("number")) {
      JUMAR_ASSIGN(step.data, number_step());
    } else if (lexer_.accept_word("check")) {
      JUMAR_ASSIGN(step.data, check());
    } else {
      return lexer_.expected("a step (bind, launch, call, python, number, check) or 'return'");
    }
    if (lexer_.accept_word("origin")) {
      JUMAR_ASSIGN(step.origin, lexer_.expect_string());
    }
    plan_.steps.push_back(std::move(step));
    return {};
  }

  // bind s0 = size(%x, 0)
  Result<StepData> bind() {
    BindStep step;
    JUMAR_ASSIGN(step.symbol, expr());
    JUMAR_RETURN_IF_ERROR(lexer_.expect_punct("="));
    if (lexer_.accept_word("cores")) {
      JUMAR_RETURN_IF_ERROR(lexer_.expect_punct("("));
      JUMAR_ASSIGN(step.source, core_kind());
      JUMAR_RETURN_IF_ERROR(lexer_.expect_punct(")"));
      return StepData(std::move(step));
    }
    JUMAR_ASSIGN(step.source, bind_source());
    JUMAR_RETURN_IF_ERROR(lexer_.expect_punct("("));
    if (!step.of_tensor()) {
      JUMAR_ASSIGN(step.number, number_name());
    } else {
      JUMAR_ASSIGN(step.tensor, tensor_name());
    }
    if (step.source == BindStep::Source::kSize || step.source == BindStep::Source::kStride) {
      JUMAR_RETURN_IF_ERROR(lexer_.expect_punct(","));
      Token at = lexer_.peek();
      JUMAR_ASSIGN(int64_t dim, lexer_.expect_int());
      if (dim < 0 || dim >= static_cast<int64_t>(plan_.tensors[step.tensor].type.rank()))
        return lexer_.error_at(at,
                               fmt::format("%{} has no dimension {}", plan_.tensors[step.tensor].name, dim));
      step.dim = static_cast<uint32_t>(dim);
    }
    JUMAR_RETURN_IF_ERROR(lexer_.expect_punct(")"));
    return StepData(std::move(step));
  }

  Result<BindStep::Source> bind_source() {
    for (const auto& [source, name] : kBindSources)
      if (lexer_.accept_word(name)) return source;
    return lexer_.expected("'size', 'stride', 'item', 'floor', 'ceil', 'trunc', 'round' or 'cores'");
  }

  Result<BindStep::Source> core_kind() {
    for (const auto& [source, name] : kCoreKinds)
      if (lexer_.accept_word(name)) return source;
    return lexer_.expected("'cube' or 'vector'");
  }

  // launch @k0(%t, %y; 2*s0; %f) checks_indices units s0 grain 1 then units 2 grain 1
  Result<StepData> launch() {
    LaunchStep step;
    JUMAR_ASSIGN(step.kernel, lexer_.expect_symbol());
    JUMAR_RETURN_IF_ERROR(lexer_.expect_punct("("));
    JUMAR_RETURN_IF_ERROR(launch_args(step));
    step.checks_indices = lexer_.accept_word("checks_indices");
    do {
      LaunchPhase phase;
      JUMAR_RETURN_IF_ERROR(lexer_.expect_word("units"));
      JUMAR_ASSIGN(phase.units, expr());
      JUMAR_RETURN_IF_ERROR(lexer_.expect_word("grain"));
      JUMAR_ASSIGN(phase.grain, expr());
      step.phases.push_back(phase);
    } while (lexer_.accept_word("then"));
    return StepData(std::move(step));
  }

  Status launch_args(LaunchStep& step) {
    int part = 0;
    bool first = true;
    while (!lexer_.accept_punct(")")) {
      if (part < 2 && lexer_.accept_punct(";")) {
        ++part;
        first = true;
        continue;
      }
      if (!first) JUMAR_RETURN_IF_ERROR(lexer_.expect_punct(","));
      first = false;
      if (part == 0) {
        JUMAR_ASSIGN(TensorId id, tensor_name());
        step.tensors.push_back(id);
      } else if (part == 1) {
        JUMAR_ASSIGN(Expr value, expr());
        step.ints.push_back(value);
      } else {
        JUMAR_ASSIGN(NumberId id, number_name());
        step.floats.push_back(id);
      }
    }
    return {};
  }

  // %a, _, %b
  Result<std::vector<TensorId>> results() {
    std::vector<TensorId> ids;
    do {
      if (lexer_.accept_word("_")) {
        ids.push_back(TensorId());
        continue;
      }
      JUMAR_ASSIGN(TensorId id, tensor_name());
      ids.push_back(id);
    } while (lexer_.accept_punct(","));
    return ids;
  }

  // call aten.topk.default(%x, 4) -> %v, %i defines(u0)
  Result<StepData> call() {
    CallStep step;
    JUMAR_ASSIGN(step.op, lexer_.expect_any_word("an operator's name"));
    JUMAR_RETURN_IF_ERROR(lexer_.expect_punct("("));
    JUMAR_ASSIGN(step.args, arguments());
    step.into = lexer_.accept_word("into");
    if (step.into || lexer_.accept_punct("->")) {
      JUMAR_ASSIGN(step.results, results());
    }
    if (lexer_.accept_word("defines")) {
      JUMAR_RETURN_IF_ERROR(lexer_.expect_punct("("));
      do {
        JUMAR_ASSIGN(Expr symbol, expr());
        step.result_ints.push_back(symbol);
      } while (lexer_.accept_punct(","));
      JUMAR_RETURN_IF_ERROR(lexer_.expect_punct(")"));
    }
    return StepData(std::move(step));
  }

  // python 3(%x, 2.0) -> %r
  Result<StepData> python() {
    PythonStep step;
    Token at = lexer_.peek();
    JUMAR_ASSIGN(int64_t callable, lexer_.expect_int());
    if (callable < 0 || callable > INT32_MAX)
      return lexer_.error_at(at, fmt::format("a callable is a number from 0, found {}", callable));
    step.callable = static_cast<uint32_t>(callable);
    JUMAR_RETURN_IF_ERROR(lexer_.expect_punct("("));
    JUMAR_ASSIGN(step.args, arguments());
    if (lexer_.accept_punct("->")) {
      JUMAR_ASSIGN(step.results, results());
    }
    return StepData(std::move(step));
  }

  // number %f = truediv(s0, 2.0)
  Result<StepData> number_step() {
    NumberStep step;
    JUMAR_ASSIGN(step.result, number_name());
    JUMAR_RETURN_IF_ERROR(lexer_.expect_punct("="));
    JUMAR_ASSIGN(step.op, lexer_.expect_any_word("an operation on numbers"));
    JUMAR_RETURN_IF_ERROR(lexer_.expect_punct("("));
    JUMAR_ASSIGN(step.args, arguments());
    return StepData(std::move(step));
  }

  // check s0 <= 4 message "..."
  Result<StepData> check() {
    CheckStep step;
    JUMAR_ASSIGN(step.predicate, expr());
    JUMAR_RETURN_IF_ERROR(lexer_.expect_word("message"));
    JUMAR_ASSIGN(step.message, lexer_.expect_string());
    return StepData(std::move(step));
  }

  // What `%name` stands for in an argument: an int input stands for its expression.
  Result<Arg> reference(const Token& at) const {
    auto found = names_.find(std::string(at.text));
    if (found == names_.end()) return lexer_.error_at(at, fmt::format("%{} is not declared above", at.text));
    return found->second;
  }

  Result<Arg> argument() {
    return ir::read_arg<Arg>(plan_.cx(), lexer_, resolve_, [this](const Token& at) { return reference(at); });
  }

  // Arguments up to and with the closing parenthesis; the opening one is consumed.
  Result<ArgList> arguments() {
    return ir::read_args<Arg>(
        plan_.cx(), lexer_, resolve_, [this](const Token& at) { return reference(at); }, ")");
  }

  Lexer lexer_;
  Plan plan_;
  std::unordered_map<std::string, Expr> symbols_;
  std::unordered_map<std::string, Arg> names_;
  std::function<Expr(std::string_view)> resolve_;
};

}  // namespace

Result<Plan> read_plan(std::string_view text, const std::string& file) { return Reader(text, file).run(); }

}  // namespace jumar::plan
