#include "ir/arg_text.h"
#include "loop/loop.h"
#include "loop/text.h"
#include "loop/walk.h"

namespace jumar::loop {
namespace {

using sym::Expr;

std::string range_bound(int64_t value) {
  if (value == sym::Range::kMin) return "-inf";
  if (value == sym::Range::kMax) return "inf";
  return fmt::format("{}", value);
}

std::string value_text(ValueId value) { return fmt::format("%{}", value.index()); }

std::string expr_list(const std::vector<Expr>& exprs) {
  std::string out;
  for (size_t k = 0; k < exprs.size(); ++k) out += (k > 0 ? ", " : "") + sym::text(exprs[k]);
  return out;
}

std::string axes_text(const std::vector<Axis>& axes) {
  std::string out = "(";
  for (size_t k = 0; k < axes.size(); ++k)
    out +=
        fmt::format("{}{} in {}", k > 0 ? ", " : "", axes[k].symbol.symbol_name(), sym::text(axes[k].extent));
  return out + ")";
}

std::string vector_text(Expr axis, uint32_t lanes) {
  return fmt::format("vector {} x {}", axis.symbol_name(), lanes);
}

std::string cuts_text(const std::vector<Expr>& cuts) { return "cuts(" + expr_list(cuts) + ")"; }

std::string tiling_text(const Tiling& t) {
  std::string out = fmt::format(" tile(parallel {}", t.parallel);
  if (t.block_elems != 0) out += fmt::format(", block {}", t.block_elems);
  if (t.vector_axis) out += ", " + vector_text(t.vector_axis, t.lanes);
  if (t.vector_axis || t.registers != 1) out += fmt::format(", registers {}", t.registers);
  if (t.vector_axis || t.tail != Tail::kScalar) out += fmt::format(", tail {}", tail_name(t.tail));
  if (!t.cuts.empty()) out += ", " + cuts_text(t.cuts);
  if (t.transpose_axis) out += ", transpose " + t.transpose_axis.symbol_name();
  return out + fmt::format(", grain {})", t.grain);
}

std::string stage_tiling_text(const StageTiling& t) {
  if (t == StageTiling()) return "";
  std::string out = " tile(";
  if (t.vector_axis) out += vector_text(t.vector_axis, t.lanes) + ", ";
  out += fmt::format("accumulators {}, tail {}", t.accumulators, tail_name(t.tail));
  if (!t.cuts.empty()) out += ", " + cuts_text(t.cuts);
  return out + ")";
}

class Writer {
 public:
  explicit Writer(const Program& program) : program_(program) {}

  std::string program() {
    header();
    for (const IntInput& input : program_.int_inputs)
      line(1, fmt::format("int({}) = input {}", sym::text(input.expr), input.index));
    for (const Buffer& b : program_.buffers) line(1, buffer(b));
    for (const Number& n : program_.numbers)
      if (n.input) line(1, fmt::format("%{}: {} = input {}", n.name, kind_text(n.kind), *n.input));
    for (const auto& [op, schema] : program_.schemas) line(1, ir::schema_text(op, schema));
    for (const Item& i : program_.items) std::visit([&](const auto& v) { item(v); }, i);
    line(1, "return" + std::string(program_.outputs.empty() ? "" : " ") + args(program_.outputs));
    out_ += "}\n";
    return std::move(out_);
  }

  std::string kernel(const Kernel& kernel) {
    kernel_lines(0, kernel);
    return std::move(out_);
  }

  std::string args(const ArgList& list) const {
    return ir::write_args(list, [&](auto id) { return fmt::format("%{}", name(id)); });
  }

  std::string inst(const Stage::Line& line) const {
    const Inst& i = line.inst;
    std::string result =
        i.defines_value() ? fmt::format("{}: {} = ", value_text(line.result), ir::dtype_name(i.type)) : "";
    return result + inst_body(i);
  }

  std::string call(const Call& call) const {
    std::string out = call.op + "(" + args(call.args) + ") -> (";
    for (size_t k = 0; k < call.results.size(); ++k) {
      if (k > 0) out += ", ";
      out += call.results[k] ? "%" + name(call.results[k]) : "none";
    }
    out += ")";
    if (!call.defines.empty()) out += " defines(" + expr_list(call.defines) + ")";
    if (!call.reason.empty()) out += " because " + quoted(call.reason);
    return out;
  }

 private:
  const std::string& name(BufferId id) const { return program_.buffers[id].name; }
  const std::string& name(NumberId id) const { return program_.numbers[id].name; }
  static std::string_view kind_text(NumberKind kind) { return kind == NumberKind::kFloat ? "float" : "bool"; }

  void line(int depth, std::string_view text) {
    out_.append(2 * depth, ' ');
    out_ += text;
    out_ += '\n';
  }

  void header() {
    out_ += program_.strict ? "loop strict @" : "loop @";
    out_ += program_.name;
    if (!program_.symbols.empty()) out_ += " symbols(";
    for (size_t k = 0; k < program_.symbols.size(); ++k) {
      const SymbolInfo& info = program_.symbols[k];
      if (k > 0) out_ += ", ";
      out_ += fmt::format("{} in [{}, {}]", info.symbol.symbol_name(), range_bound(info.range.lo),
                          range_bound(info.range.hi));
      if (info.hint) out_ += fmt::format(" hint {}", *info.hint);
    }
    out_ += program_.symbols.empty() ? " {\n" : ") {\n";
  }

  std::string buffer(const Buffer& b) const {
    std::string out = fmt::format("%{}: {} = ", b.name, ir::text(program_.cx(), b.type));
    switch (b.storage) {
      case Storage::kInput:
        return out + fmt::format("input {}", b.index);
      case Storage::kParameter:
        return out + fmt::format("parameter {}", b.index);
      case Storage::kTemp:
        return out + "temp";
      case Storage::kOutput:
        return out + "output";
      case Storage::kResult:
        return out + "result";
      case Storage::kView:
        return out + fmt::format("view %{} offset {}", name(b.base), sym::text(b.offset));
    }
    return out;
  }

  void item(const Kernel& kernel) { kernel_lines(1, kernel); }
  void item(const Call& c) { line(1, "call " + call(c)); }
  void item(const HostOp& host) {
    const Number& result = program_.numbers[host.result];
    line(1,
         fmt::format("host %{}: {} = {}({})", result.name, kind_text(result.kind), host.op, args(host.args)));
  }
  void item(const Check& check) {
    line(1, fmt::format("check {} {}", sym::text(check.predicate), quoted(check.message)));
  }

  void kernel_lines(int depth, const Kernel& kernel) {
    std::string origin = kernel.origin.empty() ? "" : " origin " + quoted(kernel.origin);
    line(depth, fmt::format("kernel @{}{}{} {{", kernel.name, kernel.is_phased ? " phased" : "", origin));
    for (const Nest& n : kernel.nests) nest(depth + 1, n);
    line(depth, "}");
  }

  void nest(int depth, const Nest& n) {
    line(depth, "nest " + axes_text(n.kept) + (n.tiling ? tiling_text(*n.tiling) : "") + " {");
    for (size_t k = 0; k < n.locals.size(); ++k)
      line(depth + 1,
           fmt::format("local {}: {}[{}]", k, ir::dtype_name(n.locals[k].type), n.locals[k].elems));
    for (size_t s = 0; s < n.stages.size(); ++s) {
      const Stage& stage = n.stages[s];
      std::string head = stage.inner.empty() ? "stage" : "stage " + axes_text(stage.inner);
      if (n.tiling && s < n.tiling->stages.size()) head += stage_tiling_text(n.tiling->stages[s]);
      line(depth + 1, head + " {");
      for (const Stage::Line& l : stage.body) line(depth + 2, inst(l));
      line(depth + 1, "}");
    }
    line(depth, "}");
  }

  std::string inst_body(const Inst& i) const {
    auto operand = [&](int k) { return value_text(i.operands[k]); };
    std::string guard = i.guard ? " if " + sym::text(i.guard) : "";
    switch (i.kind) {
      case InstKind::kConst:
        return "const " + constant_text(i.constant, i.type);
      case InstKind::kIndex:
        return "index " + sym::text(i.address);
      case InstKind::kParam:
        return "param %" + name(i.number);
      case InstKind::kOp: {
        std::string out(scalar_op_name(i.op));
        for (int k = 0; k < operand_count(i); ++k) out += (k > 0 ? ", " : " ") + operand(k);
        return out;
      }
      case InstKind::kLoad:
        if (i.guard) guard += " else " + constant_text(i.constant, i.type);
        return fmt::format("load %{}[{}]{}", name(i.buffer), sym::text(i.address), guard);
      case InstKind::kStore: {
        std::string mode = i.mode == StoreMode::kSet ? "" : fmt::format(".{}", store_mode_name(i.mode));
        return fmt::format("store{} %{}[{}], {}{}", mode, name(i.buffer), sym::text(i.address), operand(0),
                           guard);
      }
      case InstKind::kLoadLocal:
        return fmt::format("load.local {}[{}]", i.local, sym::text(i.address));
      case InstKind::kStoreLocal:
        return fmt::format("store.local {}[{}], {}", i.local, sym::text(i.address), operand(0));
      case InstKind::kReduce:
        return fmt::format("reduce {} {}{}", reduce_name(i.reduce), operand(0),
                           is_arg_reduce(i.reduce) ? " at " + operand(1) : "");
      case InstKind::kScan:
        return fmt::format("scan {} {} along {}", scan_name(i.scan), operand(0), i.axis.symbol_name());
      case InstKind::kWrapIndex:
      case InstKind::kCheckIndex:
        return fmt::format("{} {} in {}", i.kind == InstKind::kWrapIndex ? "wrap_index" : "check_index",
                           operand(0), sym::text(i.address));
    }
    return "";
  }

  const Program& program_;
  std::string out_;
};

}  // namespace

std::string line_text(const Program& program, const Stage::Line& line) { return Writer(program).inst(line); }
std::string call_text(const Program& program, const Call& call) { return Writer(program).call(call); }

std::string constant_text(const Constant& constant, ir::DType type) {
  return ir::is_float(type) ? float_text(constant.real) : fmt::format("{}", constant.integer);
}

std::string_view tail_name(Tail tail) {
  switch (tail) {
    case Tail::kNone:
      return "none";
    case Tail::kScalar:
      return "scalar";
    case Tail::kMasked:
      return "masked";
  }
  return "";
}

std::string write_program(const Program& program) { return Writer(program).program(); }
std::string write_kernel(const Program& program, const Kernel& kernel) {
  return Writer(program).kernel(kernel);
}

}  // namespace jumar::loop
