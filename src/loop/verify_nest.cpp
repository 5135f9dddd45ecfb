#include "loop/verify_nest.h"

#include "loop/text.h"
#include "loop/walk.h"

namespace jumar::loop {
namespace {

using ir::DType;
using sym::Expr;
using sym::SymbolKind;

class NestVerifier {
 public:
  NestVerifier(const Program& program, const Known& known, const std::string& where, const Nest& nest)
      : program_(program), known_(known), where_(where), nest_(nest), values_(nest.value_count) {}

  Status run() {
    JUMAR_RETURN_IF_ERROR(axes(nest_.kept));
    for (size_t k = 0; k < nest_.locals.size(); ++k) {
      if (nest_.locals[k].elems < 1) return broken(where_, fmt::format("local {} has no elements", k));
      if (ir::is_complex(nest_.locals[k].type)) return broken(where_, fmt::format("local {} is complex", k));
    }
    for (stage_ = 0; stage_ < nest_.stages.size(); ++stage_) {
      const Stage& stage = nest_.stages[stage_];
      place_ = fmt::format("{}, stage {}", where_, stage_);
      JUMAR_RETURN_IF_ERROR(axes(stage.inner));
      for (const Stage::Line& l : stage.body) JUMAR_RETURN_IF_ERROR(line(l));
      for (const Axis& axis : stage.inner) in_scope_.erase(axis.symbol);
    }
    return {};
  }

 private:
  struct ValueInfo {
    bool defined = false;
    DType type = DType::kF32;
    size_t stage = 0;
    bool is_reduce = false;
  };

  Status axes(const std::vector<Axis>& axes) {
    for (const Axis& axis : axes) {
      if (!axis.symbol || !axis.symbol.is_symbol(SymbolKind::kAxis))
        return broken(where_, "an axis has no symbol");
      const std::string& name = axis.symbol.symbol_name();
      if (!declared_.insert(axis.symbol).second)
        return broken(where_, fmt::format("axis {} is declared twice", name));
      in_scope_.insert(axis.symbol);
      for (const SymbolInfo& info : program_.symbols)
        if (info.symbol.symbol_name() == name)
          return broken(where_, fmt::format("axis {} has the name of a symbol", name));
      JUMAR_RETURN_IF_ERROR(verify_size(known_, where_, "the extent of axis " + name, axis.extent));
    }
    return {};
  }

  Diagnostic bad(const Stage::Line& line, std::string message) const {
    return broken(fmt::format("{}, `{}`", place_, line_text(program_, line)), std::move(message));
  }

  Status use(const Stage::Line& line, ValueId id) const {
    if (!id || id.index() >= values_.size() || !values_[id.index()].defined)
      return broken(place_, fmt::format("value %{} is used before its definition",
                                        id ? fmt::format("{}", id.index()) : "?"));
    const ValueInfo& v = values_[id.index()];
    bool has_inner = !nest_.stages[v.stage].inner.empty();
    if (!has_inner) return {};
    if (v.stage == stage_ && v.is_reduce)
      return bad(line, fmt::format("%{} is a reduce of this stage; it is known to later stages", id.index()));
    if (v.stage != stage_ && !v.is_reduce)
      return bad(line, fmt::format("%{} belongs to stage {}, which has inner axes", id.index(), v.stage));
    return {};
  }

  const ValueInfo& info(ValueId id) const { return values_[id.index()]; }

  Status expr(const Stage::Line& line, Expr e) const {
    for (Expr symbol : sym::symbols_of(e)) {
      if (symbol.is_symbol(SymbolKind::kValue)) {
        ValueId id = value_of_symbol(symbol);
        JUMAR_RETURN_IF_ERROR(use(line, id));
        if (!ir::is_integer(info(id).type))
          return bad(line, fmt::format("%{} is no integer and can't be in an expression", id.index()));
      } else if (symbol.is_symbol(SymbolKind::kAxis)) {
        if (!in_scope_.contains(symbol))
          return bad(line, fmt::format("axis {} is not in scope", symbol.symbol_name()));
      } else if (!known_.symbols.contains(symbol)) {
        return bad(line, fmt::format("symbol {} is not known here", symbol.symbol_name()));
      }
    }
    return {};
  }

  Status line(const Stage::Line& line) {
    const Inst& inst = line.inst;
    // Operands first: the text of a line needs them to be sensible.
    for (int k = 0; k < operand_count(inst); ++k) JUMAR_RETURN_IF_ERROR(use(line, inst.operands[k]));
    JUMAR_RETURN_IF_ERROR(has_parts(inst));
    Status bad_expr;
    for_each_expr(inst, [&](Expr e) {
      if (bad_expr.ok()) bad_expr = expr(line, e);
    });
    JUMAR_RETURN_IF_ERROR(std::move(bad_expr));
    if (ir::is_complex(inst.type)) return bad(line, "bodies hold no complex numbers");
    JUMAR_RETURN_IF_ERROR(types(line));
    if (!inst.defines_value()) {
      if (line.result) return bad(line, "a store defines no value");
      return {};
    }
    if (!line.result || line.result.index() >= values_.size())
      return bad(line, fmt::format("the result is not below the nest's {} values", values_.size()));
    ValueInfo& v = values_[line.result.index()];
    if (v.defined) return bad(line, "the value is defined twice");
    v = {true, inst.type, stage_, inst.kind == InstKind::kReduce};
    return {};
  }

  // The fields that the kind of instruction needs are there, so that it can be printed.
  Status has_parts(const Inst& inst) const {
    bool needs_address = inst.kind == InstKind::kIndex || inst.kind == InstKind::kLoad ||
                         inst.kind == InstKind::kStore || inst.kind == InstKind::kLoadLocal ||
                         inst.kind == InstKind::kStoreLocal || inst.kind == InstKind::kWrapIndex ||
                         inst.kind == InstKind::kCheckIndex;
    if (needs_address != static_cast<bool>(inst.address))
      return broken(place_,
                    needs_address ? "an address is missing" : "an address is given where none belongs");
    bool has_buffer = inst.kind == InstKind::kLoad || inst.kind == InstKind::kStore;
    if (has_buffer && inst.buffer.index() >= program_.buffers.size())
      return broken(place_, "a load or store names no buffer of the program");
    if (inst.guard && !has_buffer) return broken(place_, "only loads and stores of buffers take a guard");
    if (inst.kind == InstKind::kScan && (!inst.axis || !inst.axis.is_symbol(SymbolKind::kAxis)))
      return broken(place_, "a scan names no axis");
    if (inst.kind == InstKind::kParam && inst.number.index() >= program_.numbers.size())
      return broken(place_, "a param names no number of the program");
    return {};
  }

  Status types(const Stage::Line& line) {
    const Inst& inst = line.inst;
    switch (inst.kind) {
      case InstKind::kConst:
        return constant(line);
      case InstKind::kIndex:
        if (inst.type == DType::kI64 || inst.type == DType::kBool) return {};
        return bad(line, "an index is i64 or bool");
      case InstKind::kParam:
        return param(line);
      case InstKind::kOp:
        return op(line);
      case InstKind::kLoad:
      case InstKind::kStore:
        return access(line);
      case InstKind::kLoadLocal:
      case InstKind::kStoreLocal:
        if (inst.local >= nest_.locals.size()) return bad(line, "the nest has no such local");
        if (nest_.locals[inst.local].type != inst.type)
          return bad(line, "the local has another element type");
        if (inst.kind == InstKind::kStoreLocal && info(inst.operands[0]).type != inst.type)
          return bad(line, "the stored value has another type");
        return {};
      case InstKind::kReduce:
        return reduce(line);
      case InstKind::kScan:
        return scan(line);
      case InstKind::kWrapIndex:
      case InstKind::kCheckIndex:
        if (inst.type == DType::kI64 && info(inst.operands[0]).type == DType::kI64) return {};
        return bad(line, "operand and result are i64");
    }
    return {};
  }

  Status constant(const Stage::Line& line) const {
    int64_t value = line.inst.constant.integer;
    if (line.inst.type == DType::kBool && value != 0 && value != 1) return bad(line, "a bool is 0 or 1");
    int64_t bits = 8 * ir::dtype_bytes(line.inst.type);
    if (!ir::is_integer(line.inst.type) || bits == 64) return {};
    bool is_unsigned = ir::is_unsigned(line.inst.type);
    int64_t low = is_unsigned ? 0 : -(int64_t{1} << (bits - 1));
    int64_t high = (int64_t{1} << (is_unsigned ? bits : bits - 1)) - 1;
    if (value < low || value > high)
      return bad(line, fmt::format("the constant is not in [{}, {}]", low, high));
    return {};
  }

  Status param(const Stage::Line& line) const {
    const Number& number = program_.numbers[line.inst.number];
    if (!known_.numbers.contains(line.inst.number))
      return bad(line, fmt::format("number %{} is not known here", number.name));
    DType type = number.kind == NumberKind::kFloat ? DType::kF64 : DType::kBool;
    if (line.inst.type != type) return bad(line, fmt::format("the number is a {}", ir::dtype_name(type)));
    return {};
  }

  Status op(const Stage::Line& line) const {
    const Inst& inst = line.inst;
    TypeRule rule = scalar_op_rule(inst.op);
    DType operand = info(inst.operands[rule == TypeRule::kSelect ? 1 : 0]).type;
    if (!scalar_op_takes(inst.op, operand))
      return bad(line, fmt::format("{} does not take {}", scalar_op_name(inst.op), ir::dtype_name(operand)));
    for (int k = rule == TypeRule::kSelect ? 2 : 1; k < scalar_op_arity(inst.op); ++k)
      if (info(inst.operands[k]).type != operand) return bad(line, "the operands have different types");
    DType expected = operand;
    if (rule == TypeRule::kCompare || rule == TypeRule::kPredicate) expected = DType::kBool;
    if (rule == TypeRule::kConvert) return convert(line, operand);
    if (rule == TypeRule::kSelect && info(inst.operands[0]).type != DType::kBool)
      return bad(line, "the condition is no bool");
    if (inst.type != expected) return bad(line, fmt::format("the result is a {}", ir::dtype_name(expected)));
    return {};
  }

  Status convert(const Stage::Line& line, DType from) const {
    DType to = line.inst.type;
    if (line.inst.op == ScalarOp::kDemote && !ir::is_low_precision(to))
      return bad(line, "demote makes a float below 32 bits");
    if (line.inst.op != ScalarOp::kBitcast) return {};
    if (ir::is_bool(to) || ir::dtype_bytes(to) != ir::dtype_bytes(from))
      return bad(line, "bitcast makes an integer or float of the operand's width");
    return {};
  }

  // Modes and folds compute; what they take: sum and prod integers and floats, max and min bools too.
  static bool folds(bool is_max_or_min, DType type) {
    return ir::is_integer(type) || ir::is_float(type) || (is_max_or_min && ir::is_bool(type));
  }

  Status access(const Stage::Line& line) {
    const Inst& inst = line.inst;
    const Buffer& buffer = program_.buffers[inst.buffer];
    bool is_store = inst.kind == InstKind::kStore;
    if (buffer.storage == Storage::kView) return bad(line, "kernels touch buffers with storage, no views");
    if (buffer.type.dtype != inst.type)
      return bad(line, fmt::format("the buffer's elements are {}", ir::dtype_name(buffer.type.dtype)));
    bool reads = !is_store || inst.mode != StoreMode::kSet;
    if (reads && !known_.written.contains(inst.buffer) && !stored_.contains(inst.buffer))
      return bad(line, fmt::format("nothing has written %{} before", buffer.name));
    if (!is_store) return {};
    if (buffer.storage == Storage::kResult)
      return bad(line, "kernels store to temps, outputs and inputs only");
    if (buffer.storage != Storage::kTemp && buffer.storage != Storage::kOutput &&
        inst.mode != StoreMode::kSet)
      return bad(line, "an input is only set");
    if (info(inst.operands[0]).type != inst.type) return bad(line, "the stored value has another type");
    bool is_max_or_min = inst.mode == StoreMode::kMax || inst.mode == StoreMode::kMin;
    if (inst.mode != StoreMode::kSet && !folds(is_max_or_min, inst.type))
      return bad(line, fmt::format("store.{} does not take {}", store_mode_name(inst.mode),
                                   ir::dtype_name(inst.type)));
    stored_.insert(inst.buffer);
    return {};
  }

  Status reduce(const Stage::Line& line) const {
    const Inst& inst = line.inst;
    DType operand = info(inst.operands[0]).type;
    bool is_logical = inst.reduce == ReduceKind::kAny || inst.reduce == ReduceKind::kAll;
    bool is_ordered =
        inst.reduce == ReduceKind::kMax || inst.reduce == ReduceKind::kMin || is_arg_reduce(inst.reduce);
    bool takes =
        is_logical ? ir::is_bool(operand) : folds(is_ordered, operand) && !ir::is_low_precision(operand);
    if (!takes)
      return bad(
          line, fmt::format("reduce {} does not take {}", reduce_name(inst.reduce), ir::dtype_name(operand)));
    if (is_arg_reduce(inst.reduce)) {
      if (info(inst.operands[1]).type == DType::kI64 && inst.type == DType::kI64) return {};
      return bad(line, "the position and the result are i64");
    }
    if (inst.type != operand) return bad(line, "the result has the operand's type");
    return {};
  }

  Status scan(const Stage::Line& line) const {
    const Inst& inst = line.inst;
    DType operand = info(inst.operands[0]).type;
    bool is_ordered = inst.scan == ScanKind::kMax || inst.scan == ScanKind::kMin;
    if (!folds(is_ordered, operand) || ir::is_low_precision(operand))
      return bad(line,
                 fmt::format("scan {} does not take {}", scan_name(inst.scan), ir::dtype_name(operand)));
    if (inst.type != operand) return bad(line, "the result has the operand's type");
    for (const Axis& axis : nest_.stages[stage_].inner)
      if (axis.symbol == inst.axis) return {};
    return bad(line, "a scan runs along an inner axis of its stage");
  }

  const Program& program_;
  const Known& known_;
  const std::string& where_;
  const Nest& nest_;
  std::vector<ValueInfo> values_;
  std::unordered_set<Expr> declared_;  // axes of all stages so far
  std::unordered_set<Expr> in_scope_;
  std::unordered_set<BufferId> stored_;  // by this nest
  size_t stage_ = 0;
  std::string place_;
};

}  // namespace

Diagnostic broken(const std::string& where, std::string message) {
  return diagnostic("verify", "{}: {}", where, message);
}

Status verify_size(const Known& known, const std::string& where, std::string_view what, Expr e) {
  if (!e) return broken(where, fmt::format("{} is missing", what));
  for (Expr symbol : sym::symbols_of(e))
    if (!known.symbols.contains(symbol))
      return broken(where, fmt::format("{}, {}, mentions {}, which is not known here", what, sym::text(e),
                                       symbol.symbol_name()));
  return {};
}

Status verify_nest(const Program& program, const Known& known, const std::string& where, const Nest& nest) {
  return NestVerifier(program, known, where, nest).run();
}

}  // namespace jumar::loop
