#include "emit/triton/source_writer.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "support/check.h"
#include "tile/npu/layout.h"

namespace jumar::emit::triton {

using ir::DType;
using sym::Op;

namespace {

// Names that mean something in a kernel, or in Python.
constexpr std::array kReserved = {
    "False",   "None",  "True",     "and",       "as",         "assert",     "async",    "await",
    "break",   "class", "continue", "def",       "del",        "elif",       "else",     "except",
    "finally", "float", "for",      "from",      "global",     "if",         "import",   "in",
    "int",     "is",    "lambda",   "libdevice", "max",        "min",        "nonlocal", "not",
    "or",      "pass",  "print",    "raise",     "range",      "return",     "tl",       "triton",
    "try",     "while", "with",     "yield",     "len",        "isinstance", "getattr",  "SIGNATURE",
    "_add",    "_mul",  "_maximum", "_minimum",  "_floor_div", "_floor_mod"};

struct HelperRow {
  const char* name;
  const char* arguments;
  const char* value;
};

const HelperRow& row(Helper which) {
  static constexpr std::array kRows = {
      HelperRow{"_add", "a, b", "a + b"},
      HelperRow{"_mul", "a, b", "a * b"},
      HelperRow{"_maximum", "a, b", "tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)"},
      HelperRow{"_minimum", "a, b", "tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL)"},
      // Integers are divided towards zero.
      HelperRow{"_floor_div", "a, b", "(a - (a % b + b) % b) // b"},
      HelperRow{"_floor_mod", "a, b", "(a % b + b) % b"},
  };
  return kRows[static_cast<size_t>(which)];
}

bool is_predicate(Expr e) {
  return e.op() == Op::kEq || e.op() == Op::kNe || e.op() == Op::kLt || e.op() == Op::kLe ||
         e.op() == Op::kAnd || e.op() == Op::kOr || e.op() == Op::kNot;
}

bool is_number(const std::string& text) {
  return std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || c == '-'; });
}

}  // namespace

std::string dtype_text(DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return "tl.int1";
    case DType::kF32:
      return "tl.float32";
    case DType::kF16:
      return "tl.float16";
    case DType::kBF16:
      return "tl.bfloat16";
    default:
      return fmt::format("tl.{}int{}", ir::is_unsigned(dtype) ? "u" : "", 8 * ir::dtype_bytes(dtype));
  }
}

std::string signature_text(DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return "i8";
    case DType::kF32:
      return "fp32";
    case DType::kF16:
      return "fp16";
    default:
      return std::string(ir::dtype_name(dtype));
  }
}

std::string shape_text(const std::vector<int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

std::string within(const Text& text, Binding binding) {
  return text.binding < binding ? "(" + text.text + ")" : text.text;
}

Text joined(const std::vector<Text>& parts, const char* op, Binding binding) {
  if (parts.size() == 1) return parts[0];
  std::string all;
  for (const Text& part : parts) all += (all.empty() ? "" : op) + within(part, binding);
  return {all, binding};
}

Text sum_of(std::vector<Text> terms) {
  std::stable_partition(terms.begin(), terms.end(), [](const Text& term) { return !is_number(term.text); });
  std::string all;
  for (const Text& term : terms) {
    const std::string next = within(term, Binding::kSum);
    if (all.empty())
      all = next;
    else
      all += next.front() == '-' ? " - " + next.substr(1) : " + " + next;
  }
  return {all, terms.size() == 1 ? terms[0].binding : Binding::kSum};
}

// Another product or quotient on the right side would not be what it was.
Text product_of(std::vector<Text> factors) {
  if (factors.size() == 1) return factors[0];
  std::string all = within(factors[0], Binding::kProduct);
  for (size_t k = 1; k < factors.size(); ++k) all += "*" + within(factors[k], Binding::kAtom);
  return {all, Binding::kProduct};
}

SourceWriter::SourceWriter(const sym::Facts& facts) : facts_(facts) {
  used_.insert(kReserved.begin(), kReserved.end());
  enter();
}

void SourceWriter::line(const std::string& text) {
  body_.append(4 * static_cast<size_t>(indent_), ' ');
  body_ += text;
  body_ += '\n';
}

std::string SourceWriter::unique(std::string_view like) {
  std::string base;
  for (char c : like) base += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  if (base.empty() || std::isdigit(static_cast<unsigned char>(base[0]))) base = "_" + base;
  std::string name = base;
  for (int k = 1; !used_.insert(name).second; ++k) name = fmt::format("{}_{}", base, k);
  return name;
}

std::string SourceWriter::fresh() { return unique(fmt::format("v{}", count_++)); }

std::string SourceWriter::named(const Text& text, std::string_view like) {
  const bool is_name = std::ranges::all_of(
      text.text, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-'; });
  if (is_name) return text.text;
  for (const auto& scope : scopes_) {
    const auto found = scope.find(text.text);
    if (found != scope.end()) return found->second;
  }
  std::string name = unique(like);
  line(name + " = " + text.text);
  scopes_.back()[text.text] = name;
  return name;
}

std::string_view SourceWriter::helper(Helper which) {
  helpers_.insert(which);
  return row(which).name;
}

int SourceWriter::bits_of(Expr e) const {
  return tile::npu::bits_of(e, facts_, [&](Expr symbol) {
    const auto found = symbols_.find(symbol);
    return found == symbols_.end() ? 32 : found->second.bits;
  });
}

Text SourceWriter::scalar(Expr e, int bits) {
  if (const std::optional<int64_t> value = e.as_const()) return {fmt::format("{}", *value)};
  if (e.is_symbol()) {
    const auto found = symbols_.find(e);
    CHECK(found != symbols_.end(), "no value for {}", sym::text(e));
    const Symbol& symbol = found->second;
    if (symbol.bits == bits) return {symbol.name};
    return {fmt::format("{}.to(tl.int{})", symbol.name, bits)};
  }
  if (is_predicate(e)) return predicate(e);
  std::vector<Text> operands;
  for (Expr operand : e.operands()) operands.push_back(scalar(operand, bits));
  return operation(e, std::move(operands));
}

Text SourceWriter::operation(Expr e, std::vector<Text> operands) {
  switch (e.op()) {
    case Op::kAdd:
      return sum_of(std::move(operands));
    case Op::kMul:
      return product_of(std::move(operands));
    case Op::kMin:
    case Op::kMax: {
      std::string all = operands.back().text;
      for (size_t k = operands.size() - 1; k-- > 0;)
        all = fmt::format("tl.{}({}, {})", e.op() == Op::kMin ? "minimum" : "maximum", operands[k].text, all);
      return {all};
    }
    case Op::kFloorDiv:
    case Op::kMod: {
      const bool is_div = e.op() == Op::kFloorDiv;
      const bool is_plain = std::ranges::all_of(
          e.operands(), [&](Expr operand) { return sym::bounds(operand, facts_).lo >= 0; });
      if (is_plain)
        return {within(operands[0], Binding::kProduct) + (is_div ? " // " : " % ") +
                    within(operands[1], Binding::kAtom),
                Binding::kProduct};
      return {fmt::format("{}({}, {})", helper(is_div ? Helper::kFloorDiv : Helper::kFloorMod),
                          operands[0].text, operands[1].text)};
    }
    default:
      CHECK(false, "no integer: {}", sym::text(e));
  }
}

Text SourceWriter::predicate(Expr e) {
  if (e.op() == Op::kNot)
    return {"~" + within(predicate(e.operands()[0]), Binding::kAtom), Binding::kProduct};
  if (e.op() == Op::kAnd || e.op() == Op::kOr) {
    std::vector<Text> parts;
    for (Expr operand : e.operands()) parts.push_back(predicate(operand));
    const bool is_and = e.op() == Op::kAnd;
    return joined(parts, is_and ? " & " : " | ", is_and ? Binding::kAnd : Binding::kOr);
  }
  if (const std::optional<int64_t> value = e.as_const()) return {*value != 0 ? "True" : "False"};
  const char* op = e.op() == Op::kEq ? "==" : e.op() == Op::kNe ? "!=" : e.op() == Op::kLt ? "<" : "<=";
  const Expr a = e.operands()[0];
  const Expr b = e.operands()[1];
  const int bits = std::max(bits_of(a), bits_of(b));
  return {within(scalar(a, bits), Binding::kOr) + " " + op + " " + within(scalar(b, bits), Binding::kOr),
          Binding::kCompare};
}

std::string SourceWriter::text(const std::string& comment, const std::string& header,
                               const std::string& signature) const {
  std::string out = comment + "import triton\nimport triton.language as tl\n";
  if (uses_libdevice_) out += "from triton.language.extra.ascend import libdevice\n";
  for (Helper which : helpers_) {
    const HelperRow& helper = row(which);
    out += fmt::format("\n\n@triton.jit\ndef {}({}):\n    return {}\n", helper.name, helper.arguments,
                       helper.value);
  }
  return out + "\n\n" + header + body_ + "\n\n" + signature;
}

}  // namespace jumar::emit::triton
