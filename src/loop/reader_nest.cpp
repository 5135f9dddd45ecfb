#include "loop/reader_nest.h"

#include <charconv>

#include "loop/walk.h"

namespace jumar::loop {
namespace {

using sym::Expr;

// Value numbers are dense in any program that was written out; a limit keeps a broken text from asking for
// gigabytes.
constexpr uint32_t kMaxValues = 1u << 20;

class NestReader {
 public:
  NestReader(const Program& program, Lexer& lexer, const Names& names)
      : cx_(program.cx()), lexer_(lexer), names_(names) {
    resolve_ = [this](std::string_view word) { return resolved(word); };
  }

  Result<Nest> nest() {
    JUMAR_ASSIGN(nest_.kept, axes());
    if (lexer_.accept_word("tile")) {
      nest_.tiling.emplace();
      JUMAR_RETURN_IF_ERROR(tiling(*nest_.tiling));
    }
    JUMAR_RETURN_IF_ERROR(lexer_.expect_punct("{"));
    while (lexer_.accept_word("local")) JUMAR_RETURN_IF_ERROR(local());
    while (lexer_.accept_word("stage")) JUMAR_RETURN_IF_ERROR(stage());
    if (!lexer_.accept_punct("}")) return lexer_.expected("'stage' or '}'");
    nest_.value_count = static_cast<uint32_t>(types_.size());
    return std::move(nest_);
  }

 private:
  Expr resolved(std::string_view word) const {
    if (word.starts_with("%")) {
      std::optional<uint32_t> index = value_index(word.substr(1));
      return index && is_defined(*index) ? cx_.value(*index) : Expr();
    }
    auto axis = axes_.find(std::string(word));
    if (axis != axes_.end()) return axis->second;
    auto symbol = names_.symbols.find(std::string(word));
    return symbol == names_.symbols.end() ? Expr() : symbol->second;
  }

  static std::optional<uint32_t> value_index(std::string_view digits) {
    uint32_t index = 0;
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
    bool is_canonical = digits.size() == 1 || !digits.starts_with("0");
    if (error != std::errc() || end != digits.data() + digits.size() || !is_canonical) return std::nullopt;
    return index < kMaxValues ? std::optional(index) : std::nullopt;
  }

  bool is_defined(uint32_t index) const { return index < types_.size() && types_[index].has_value(); }

  Result<Expr> expr() { return sym::read_expr(cx_, lexer_, resolve_); }

  // (i0 in s0, i1 in 256)
  Result<std::vector<Axis>> axes() {
    std::vector<Axis> out;
    JUMAR_RETURN_IF_ERROR(lexer_.expect_punct("("));
    if (lexer_.accept_punct(")")) return out;
    do {
      Token at = lexer_.peek();
      JUMAR_ASSIGN(std::string name, lexer_.expect_any_word("an axis such as i0"));
      JUMAR_RETURN_IF_ERROR(lexer_.expect_word("in"));
      Axis axis;
      JUMAR_ASSIGN(axis.extent, expr());
      axis.symbol = cx_.symbol(sym::SymbolKind::kAxis, name);
      if (names_.symbols.contains(name))
        return lexer_.error_at(at, fmt::format("axis {} has the name of a symbol", name));
      if (!axes_.emplace(name, axis.symbol).second)
        return lexer_.error_at(at, fmt::format("axis {} is declared twice", name));
      out.push_back(axis);
    } while (lexer_.accept_punct(","));
    JUMAR_RETURN_IF_ERROR(lexer_.expect_punct(")"));
    return out;
  }

  Result<Expr> axis() {
    Token at = lexer_.peek();
    JUMAR_ASSIGN(std::string name, lexer_.expect_any_word("an axis such as i0"));
    auto found = axes_.find(name);
    if (found == axes_.end()) return lexer_.error_at(at, fmt::format("{} is no axis here", name));
    return found->second;
  }

  Result<ir::DType> dtype() {
    std::optional<ir::DType> type =
        ir::dtype_from_name(lexer_.peek().kind == TokenKind::kWord ? lexer_.peek().text : "");
    if (!type) return lexer_.expected("an element type such as f32");
    lexer_.next();
    return *type;
  }

  // 0: f32[512]
  Status local() {
    Token at = lexer_.peek();
    JUMAR_ASSIGN(uint32_t index, read_count(lexer_));
    if (index != nest_.locals.size())
      return lexer_.error_at(at, fmt::format("expected {}, the number of this local", nest_.locals.size()));
    JUMAR_RETURN_IF_ERROR(lexer_.expect_punct(":"));
    Local local;
    JUMAR_ASSIGN(local.type, dtype());
    JUMAR_RETURN_IF_ERROR(lexer_.expect_punct("["));
    JUMAR_ASSIGN(local.elems, lexer_.expect_int());
    JUMAR_RETURN_IF_ERROR(lexer_.expect_punct("]"));
    nest_.locals.push_back(local);
    return {};
  }

  Status stage() {
    Stage stage;
    if (lexer_.peek_punct("(")) {
      JUMAR_ASSIGN(stage.inner, axes());
      if (stage.inner.empty()) return lexer_.expected("'{': a stage without inner axes has no parentheses");
    }
    if (nest_.tiling) nest_.tiling->stages.emplace_back();
    Token at = lexer_.peek();
    if (lexer_.accept_word("tile")) {
      if (!nest_.tiling) return lexer_.error_at(at, "a stage has a tile annotation, its nest has none");
      JUMAR_RETURN_IF_ERROR(stage_tiling(nest_.tiling->stages.back()));
    }
    JUMAR_RETURN_IF_ERROR(lexer_.expect_punct("{"));
    while (!lexer_.accept_punct("}")) {
      JUMAR_ASSIGN(Stage::Line line, body_line());
      stage.body.push_back(std::move(line));
    }
    for (const Axis& axis : stage.inner) axes_.erase(axis.symbol.symbol_name());
    nest_.stages.push_back(std::move(stage));
    return {};
  }

  Result<Stage::Line> body_line() {
    Stage::Line line;
    if (lexer_.peek().kind == TokenKind::kWord) {
      JUMAR_ASSIGN(line.inst, store());
      return line;
    }
    if (lexer_.peek().kind != TokenKind::kValue) return lexer_.expected("a body line or '}'");
    Token at = lexer_.next();
    std::optional<uint32_t> index = value_index(at.text);
    if (!index)
      return lexer_.error_at(at, fmt::format("%{} is no value's number below {}", at.text, kMaxValues));
    if (is_defined(*index)) return lexer_.error_at(at, fmt::format("value %{} is defined twice", *index));
    JUMAR_RETURN_IF_ERROR(lexer_.expect_punct(":"));
    JUMAR_ASSIGN(ir::DType type, dtype());
    JUMAR_RETURN_IF_ERROR(lexer_.expect_punct("="));
    JUMAR_ASSIGN(line.inst, definition(type));
    line.result = ValueId(*index);
    if (types_.size() <= *index) types_.resize(*index + 1);
    types_[*index] = type;
    return line;
  }

  Result<ValueId> operand() {
    if (lexer_.peek().kind != TokenKind::kValue) return lexer_.expected("a value such as '%0'");
    Token at = lexer_.next();
    std::optional<uint32_t> index = value_index(at.text);
    if (!index || !is_defined(*index))
      return lexer_.error_at(at, fmt::format("value %{} is not defined above in this nest", at.text));
    return ValueId(*index);
  }

  Result<Expr> bracketed() {
    JUMAR_RETURN_IF_ERROR(lexer_.expect_punct("["));
    JUMAR_ASSIGN(Expr address, expr());
    JUMAR_RETURN_IF_ERROR(lexer_.expect_punct("]"));
    return address;
  }

  Result<BufferId> buffer() {
    if (lexer_.peek().kind != TokenKind::kValue) return lexer_.expected("a buffer such as '%x'");
    Token at = lexer_.next();
    auto found = names_.buffers.find(std::string(at.text));
    if (found == names_.buffers.end())
      return lexer_.error_at(at, fmt::format("buffer %{} is not declared", at.text));
    return found->second;
  }

  Result<Constant> constant(ir::DType type) {
    Constant out{0};
    if (ir::is_float(type)) {
      JUMAR_ASSIGN(out.real, lexer_.expect_float());
    } else {
      JUMAR_ASSIGN(out.integer, lexer_.expect_int());
    }
    return out;
  }

  // store %y[e], %0 if p | store.add ... | store.local 0[e], %0
  Result<Inst> store() {
    Token at = lexer_.next();
    Inst inst;
    inst.kind = InstKind::kStore;
    if (at.text == "store.local") {
      inst.kind = InstKind::kStoreLocal;
      JUMAR_ASSIGN(inst.local, read_count(lexer_));
    } else {
      std::optional<StoreMode> mode;
      if (at.text == "store") mode = StoreMode::kSet;
      if (at.text.starts_with("store.") && at.text != "store.set")
        mode = store_mode_from_name(at.text.substr(6));
      if (!mode) return lexer_.error_at(at, fmt::format("expected a body line, found '{}'", at.text));
      inst.mode = *mode;
      JUMAR_ASSIGN(inst.buffer, buffer());
    }
    JUMAR_ASSIGN(inst.address, bracketed());
    JUMAR_RETURN_IF_ERROR(lexer_.expect_punct(","));
    JUMAR_ASSIGN(inst.operands[0], operand());
    inst.type = *types_[inst.operands[0].index()];
    if (inst.kind == InstKind::kStore && lexer_.accept_word("if")) {
      JUMAR_ASSIGN(inst.guard, expr());
    }
    return inst;
  }

  Result<Inst> definition(ir::DType type) {
    Inst inst;
    inst.type = type;
    Token at = lexer_.peek();
    JUMAR_ASSIGN(std::string word, lexer_.expect_any_word("an instruction such as 'load' or 'add'"));
    if (word == "const") {
      inst.kind = InstKind::kConst;
      JUMAR_ASSIGN(inst.constant, constant(type));
    } else if (word == "index") {
      inst.kind = InstKind::kIndex;
      JUMAR_ASSIGN(inst.address, expr());
    } else if (word == "param") {
      inst.kind = InstKind::kParam;
      JUMAR_ASSIGN(inst.number, number());
    } else if (word == "load") {
      JUMAR_RETURN_IF_ERROR(load(inst));
    } else if (word == "load.local") {
      inst.kind = InstKind::kLoadLocal;
      JUMAR_ASSIGN(inst.local, read_count(lexer_));
      JUMAR_ASSIGN(inst.address, bracketed());
    } else if (word == "reduce" || word == "scan") {
      JUMAR_RETURN_IF_ERROR(fold(inst, word == "scan"));
    } else if (word == "wrap_index" || word == "check_index") {
      inst.kind = word == "wrap_index" ? InstKind::kWrapIndex : InstKind::kCheckIndex;
      JUMAR_ASSIGN(inst.operands[0], operand());
      JUMAR_RETURN_IF_ERROR(lexer_.expect_word("in"));
      JUMAR_ASSIGN(inst.address, expr());
    } else {
      std::optional<ScalarOp> op = scalar_op_from_name(word);
      if (!op) return lexer_.error_at(at, fmt::format("unknown instruction '{}'", word));
      inst.kind = InstKind::kOp;
      inst.op = *op;
      for (int k = 0; k < scalar_op_arity(*op); ++k) {
        if (k > 0) JUMAR_RETURN_IF_ERROR(lexer_.expect_punct(","));
        JUMAR_ASSIGN(inst.operands[k], operand());
      }
    }
    return inst;
  }

  Result<NumberId> number() {
    if (lexer_.peek().kind != TokenKind::kValue) return lexer_.expected("a number such as '%p'");
    Token at = lexer_.next();
    auto found = names_.numbers.find(std::string(at.text));
    if (found == names_.numbers.end())
      return lexer_.error_at(at, fmt::format("number %{} is not defined above", at.text));
    return found->second;
  }

  // %x[e] if p else 0.0
  Status load(Inst& inst) {
    inst.kind = InstKind::kLoad;
    JUMAR_ASSIGN(inst.buffer, buffer());
    JUMAR_ASSIGN(inst.address, bracketed());
    if (!lexer_.accept_word("if")) return {};
    JUMAR_ASSIGN(inst.guard, expr());
    JUMAR_RETURN_IF_ERROR(lexer_.expect_word("else"));
    JUMAR_ASSIGN(inst.constant, constant(inst.type));
    return {};
  }

  // sum %1 | argmax %1 at %2 | sum %1 along r0
  Status fold(Inst& inst, bool is_scan) {
    Token at = lexer_.peek();
    JUMAR_ASSIGN(std::string word, lexer_.expect_any_word("a fold such as 'sum'"));
    std::optional<ReduceKind> reduce = reduce_from_name(word);
    std::optional<ScanKind> scan = scan_from_name(word);
    if (is_scan ? !scan : !reduce)
      return lexer_.error_at(at, fmt::format("there is no {} '{}'", is_scan ? "scan" : "reduce", word));
    JUMAR_ASSIGN(inst.operands[0], operand());
    if (is_scan) {
      inst.kind = InstKind::kScan;
      inst.scan = *scan;
      JUMAR_RETURN_IF_ERROR(lexer_.expect_word("along"));
      JUMAR_ASSIGN(inst.axis, axis());
      return {};
    }
    inst.kind = InstKind::kReduce;
    inst.reduce = *reduce;
    if (!is_arg_reduce(*reduce)) return {};
    JUMAR_RETURN_IF_ERROR(lexer_.expect_word("at"));
    JUMAR_ASSIGN(inst.operands[1], operand());
    return {};
  }

  Result<Tail> tail() {
    if (lexer_.accept_word("none")) return Tail::kNone;
    if (lexer_.accept_word("scalar")) return Tail::kScalar;
    if (lexer_.accept_word("masked")) return Tail::kMasked;
    return lexer_.expected("'none', 'scalar' or 'masked'");
  }

  // i1 x 8
  Status vector_axis(Expr& symbol, uint32_t& lanes) {
    JUMAR_ASSIGN(symbol, axis());
    JUMAR_RETURN_IF_ERROR(lexer_.expect_word("x"));
    JUMAR_ASSIGN(lanes, read_count(lexer_));
    return {};
  }

  Result<std::vector<Expr>> cuts() {
    std::vector<Expr> out;
    JUMAR_RETURN_IF_ERROR(lexer_.expect_punct("("));
    do {
      JUMAR_ASSIGN(Expr cut, expr());
      out.push_back(cut);
    } while (lexer_.accept_punct(","));
    JUMAR_RETURN_IF_ERROR(lexer_.expect_punct(")"));
    return out;
  }

  // (parallel 1, block 256, vector i1 x 8, registers 2, tail none, cuts(128), transpose i0, grain 4)
  Status tiling(Tiling& t) {
    JUMAR_RETURN_IF_ERROR(lexer_.expect_punct("("));
    do {
      if (lexer_.accept_word("parallel")) {
        JUMAR_ASSIGN(t.parallel, read_count(lexer_));
      } else if (lexer_.accept_word("block")) {
        JUMAR_ASSIGN(t.block_elems, lexer_.expect_int());
      } else if (lexer_.accept_word("vector")) {
        JUMAR_RETURN_IF_ERROR(vector_axis(t.vector_axis, t.lanes));
      } else if (lexer_.accept_word("registers")) {
        JUMAR_ASSIGN(t.registers, read_count(lexer_));
      } else if (lexer_.accept_word("tail")) {
        JUMAR_ASSIGN(t.tail, tail());
      } else if (lexer_.accept_word("cuts")) {
        JUMAR_ASSIGN(t.cuts, cuts());
      } else if (lexer_.accept_word("transpose")) {
        JUMAR_ASSIGN(t.transpose_axis, axis());
      } else if (lexer_.accept_word("grain")) {
        JUMAR_ASSIGN(t.grain, lexer_.expect_int());
      } else {
        return lexer_.expected("parallel, block, vector, registers, tail, cuts, transpose or grain");
      }
    } while (lexer_.accept_punct(","));
    return lexer_.expect_punct(")");
  }

  // (vector r0 x 8, accumulators 4, tail scalar, cuts(128))
  Status stage_tiling(StageTiling& t) {
    JUMAR_RETURN_IF_ERROR(lexer_.expect_punct("("));
    do {
      if (lexer_.accept_word("vector")) {
        JUMAR_RETURN_IF_ERROR(vector_axis(t.vector_axis, t.lanes));
      } else if (lexer_.accept_word("accumulators")) {
        JUMAR_ASSIGN(t.accumulators, read_count(lexer_));
      } else if (lexer_.accept_word("tail")) {
        JUMAR_ASSIGN(t.tail, tail());
      } else if (lexer_.accept_word("cuts")) {
        JUMAR_ASSIGN(t.cuts, cuts());
      } else {
        return lexer_.expected("vector, accumulators, tail or cuts");
      }
    } while (lexer_.accept_punct(","));
    return lexer_.expect_punct(")");
  }

  sym::Context& cx_;
  Lexer& lexer_;
  const Names& names_;
  Nest nest_;
  std::unordered_map<std::string, Expr> axes_;   // in scope
  std::vector<std::optional<ir::DType>> types_;  // of the values defined so far
  std::function<Expr(std::string_view)> resolve_;
};

}  // namespace

Result<uint32_t> read_count(Lexer& lexer) {
  Token at = lexer.peek();
  JUMAR_ASSIGN(int64_t value, lexer.expect_int());
  if (value < 0 || value > INT32_MAX)
    return lexer.error_at(at, fmt::format("{} is not between 0 and {}", value, INT32_MAX));
  return static_cast<uint32_t>(value);
}

Result<Nest> read_nest(const Program& program, Lexer& lexer, const Names& names) {
  return NestReader(program, lexer, names).nest();
}

}  // namespace jumar::loop
