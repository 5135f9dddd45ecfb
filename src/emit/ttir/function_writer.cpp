#include "emit/ttir/function_writer.h"

#include <bit>
#include <cmath>

#include <fmt/format.h>

#include "support/check.h"
#include "tile/npu/layout.h"

namespace jumar::emit::ttir {

using ir::DType;
using sym::Op;

std::string element_text(DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return "i1";
    case DType::kU8:
      return "i8";
    case DType::kU16:
      return "i16";
    default:
      return std::string(ir::dtype_name(dtype));
  }
}

std::string tensor_text(const std::vector<int64_t>& shape, const std::string& element) {
  if (shape.empty()) return element;
  return fmt::format("tensor<{}x{}>", fmt::join(shape, "x"), element);
}

namespace {

std::string real_text(DType dtype, double value) {
  if (std::isfinite(value)) return fmt::format("{:.8e}", value);
  const bool negative = std::signbit(value);
  if (dtype == DType::kF16) return std::isnan(value) ? "0x7E00" : negative ? "0xFC00" : "0x7C00";
  if (dtype == DType::kBF16) return std::isnan(value) ? "0x7FC0" : negative ? "0xFF80" : "0x7F80";
  return std::isnan(value) ? "0x7FC00000" : negative ? "0xFF800000" : "0x7F800000";
}

}  // namespace

std::string FunctionWriter::define(const std::string& text) {
  std::string name = fresh();
  line(name + " = " + text);
  return name;
}

void FunctionWriter::line(const std::string& text) {
  body_.append(2 * static_cast<size_t>(indent_), ' ');
  body_ += text;
  body_ += '\n';
}

std::string FunctionWriter::once(const std::string& key, const std::string& text) {
  for (const auto& scope : scopes_) {
    const auto found = scope.find(key);
    if (found != scope.end()) return found->second;
  }
  std::string name = define(text);
  scopes_.back()[key] = name;
  return name;
}

std::string FunctionWriter::constant(DType dtype, loop::Constant value, const std::vector<int64_t>& shape) {
  std::string literal;
  if (ir::is_float(dtype))
    literal = real_text(dtype, value.real);
  else if (ir::is_bool(dtype))
    literal = value.integer != 0 ? "true" : "false";
  else
    literal = fmt::format("{}", value.integer);
  const std::string type = tensor_text(shape, element_text(dtype));
  if (!shape.empty()) literal = "dense<" + literal + ">";
  const bool typed = !(shape.empty() && ir::is_bool(dtype));
  const std::string text = "arith.constant " + literal + (typed ? " : " + type : "");
  const auto found = constants_.find(text);
  if (found != constants_.end()) return found->second;
  const std::string name = fmt::format("%c{}", constants_.size());
  constants_.emplace(text, name);
  constant_lines_.push_back(fmt::format("    {} = {}\n", name, text));
  return name;
}

std::string FunctionWriter::integer(int64_t value, int bits) {
  return constant(bits == 64 ? DType::kI64 : DType::kI32, loop::Constant{value}, {});
}

int FunctionWriter::bits_of(Expr e) const {
  return tile::npu::bits_of(e, facts_, [&](Expr symbol) {
    const auto found = symbols_.find(symbol);
    return found == symbols_.end() ? 32 : found->second.bits;
  });
}

std::string FunctionWriter::scalar(Expr e, int bits) {
  if (const std::optional<int64_t> value = e.as_const()) return integer(*value, bits);
  if (e.is_symbol()) {
    const auto found = symbols_.find(e);
    CHECK(found != symbols_.end(), "no value for {}", sym::text(e));
    const Symbol& symbol = found->second;
    if (symbol.bits == bits) return symbol.name;
    const std::string text = bits == 64 ? fmt::format("arith.extsi {} : i32 to i64", symbol.name)
                                        : fmt::format("arith.trunci {} : i64 to i32", symbol.name);
    return once(text, text);
  }
  switch (e.op()) {
    case Op::kAdd:
      return chain("arith.addi", e.operands(), bits);
    case Op::kMul:
      return chain("arith.muli", e.operands(), bits);
    case Op::kMin:
      return chain("arith.minsi", e.operands(), bits);
    case Op::kMax:
      return chain("arith.maxsi", e.operands(), bits);
    case Op::kFloorDiv:
    case Op::kMod:
      return divided(e, bits);
    default:
      return compared(e);
  }
}

std::string FunctionWriter::chain(const char* op, std::span<const Expr> operands, int bits) {
  std::string all;
  for (Expr operand : operands) {
    const std::string next = scalar(operand, bits);
    if (all.empty()) {
      all = next;
      continue;
    }
    const std::string text = fmt::format("{} {}, {} : i{}", op, all, next, bits);
    all = once(text, text);
  }
  return all;
}

std::string FunctionWriter::divided(Expr e, int bits) {
  const Expr a = e.operands()[0];
  const Expr b = e.operands()[1];
  const std::string left = scalar(a, bits);
  const std::string right = scalar(b, bits);
  const bool plain = is_nonnegative(a) && is_nonnegative(b);
  if (plain) {
    const char* op = e.op() == Op::kFloorDiv ? "arith.divsi" : "arith.remsi";
    const std::string text = fmt::format("{} {}, {} : i{}", op, left, right, bits);
    return once(text, text);
  }
  const std::string quotient = fmt::format("arith.floordivsi {}, {} : i{}", left, right, bits);
  const std::string q = once(quotient, quotient);
  if (e.op() == Op::kFloorDiv) return q;
  const std::string product = fmt::format("arith.muli {}, {} : i{}", q, right, bits);
  const std::string p = once(product, product);
  const std::string rest = fmt::format("arith.subi {}, {} : i{}", left, p, bits);
  return once(rest, rest);
}

std::string FunctionWriter::compared(Expr e) {
  if (e.op() == Op::kNot) {
    const std::string text =
        fmt::format("arith.xori {}, {} : i1", scalar(e.operands()[0], 1), constant(DType::kBool, {1}, {}));
    return once(text, text);
  }
  if (e.op() == Op::kAnd || e.op() == Op::kOr) {
    std::string all;
    for (Expr operand : e.operands()) {
      const std::string next = compared(operand);
      const std::string text =
          fmt::format("arith.{} {}, {} : i1", e.op() == Op::kAnd ? "andi" : "ori", all, next);
      all = all.empty() ? next : once(text, text);
    }
    return all;
  }
  const char* predicate = e.op() == Op::kEq   ? "eq"
                          : e.op() == Op::kNe ? "ne"
                          : e.op() == Op::kLt ? "slt"
                                              : "sle";
  const int bits = std::max(bits_of(e.operands()[0]), bits_of(e.operands()[1]));
  const std::string text = fmt::format("arith.cmpi {}, {}, {} : i{}", predicate,
                                       scalar(e.operands()[0], bits), scalar(e.operands()[1], bits), bits);
  return once(text, text);
}

std::string FunctionWriter::text(const std::string& header) const {
  std::string out = "module {\n  " + header + " {\n";
  for (const std::string& constant : constant_lines_) out += constant;
  return out + body_ + "    tt.return\n  }\n}\n";
}

}  // namespace jumar::emit::ttir
