#include "emit/host/cpp_text.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

namespace jumar::emit::host {
namespace {

using sym::Expr;
using sym::Op;

constexpr size_t kColumns = 110;

// Words of C++, and names that written programs see from their base and their namespace.
constexpr std::string_view kReserved =
    "Bool Kernel alignas alignof and arena asm auto bool bound break buffer call call_into case "
    "catch channels_last channels_last_3d char check_holds checked class co_await co_return co_yield "
    "compl concept const const_cast consteval constexpr constinit contiguous continue copy_result "
    "cpu cpu_0 decltype default delete do double dynamic_cast else enum expect expect_count "
    "expect_value explicit exponential export extern fail false float floordiv for frame_ fresh "
    "friend goto if inf inline input inputs_ int int_of integer integer_item ints item jumar launch "
    "list logarithm long main max maybe min mod mutable namespace nan new noexcept none not nullptr "
    "number op operator or outputs power preserve private protected public real register "
    "reinterpret_cast release requires result return run shared_ short signed size size_of sizeof "
    "some square_root static static_assert static_cast status std stride stride_of strided struct "
    "switch symbol template tensors this thread_local throw torch_ true truediv try typedef typeid "
    "typename union units unsigned update using view virtual void volatile wchar_t weight while "
    "whole xor";

bool is_word_of(std::string_view words, std::string_view word) {
  while (!words.empty()) {
    const size_t end = std::min(words.find(' '), words.size());
    if (words.substr(0, end) == word) return true;
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return false;
}

enum Precedence { kOrLevel, kAndLevel, kComparison, kSum, kProduct, kPrimary };

struct Text {
  std::string text;
  Precedence level;
};
Text written(Expr e);

std::string within(Expr e, Precedence level) {
  Text out = written(e);
  return out.level < level ? "(" + out.text + ")" : out.text;
}

std::string product(std::span<const Expr> factors) {
  if (factors.size() == 2 && factors[0].is_const(-1)) return "-" + within(factors[1], kPrimary);
  std::string out;
  for (const Expr factor : factors) {
    // A constant comes first, where its sign needs no parentheses.
    const std::string text = factor.is_const() ? cpp_int(factor.const_value()) : within(factor, kPrimary);
    out += (out.empty() ? "" : " * ") + text;
  }
  return out;
}

// A term of a sum without its sign.
struct Term {
  bool is_negative = false;
  std::string text;
};
Term term_of(Expr e) {
  if (e.is_const() && e.const_value() < 0 && e.const_value() != INT64_MIN)
    return {true, cpp_int(-e.const_value())};
  const bool has_factor = e.op() == Op::kMul && e.operands()[0].is_const();
  const int64_t factor = has_factor ? e.operands()[0].const_value() : 1;
  if (factor >= 0 || factor == INT64_MIN) return {false, within(e, kProduct)};
  const std::string rest = product(e.operands().subspan(1));
  return {true, factor == -1 ? rest : cpp_int(-factor) + " * " + rest};
}

Text sum(Expr e) {
  std::vector<Expr> terms(e.operands().begin(), e.operands().end());
  // Constants come first in expressions and read better last.
  std::stable_partition(terms.begin(), terms.end(), [](Expr term) { return !term.is_const(); });
  std::string out;
  for (const Expr operand : terms) {
    const Term term = term_of(operand);
    if (out.empty())
      out = (term.is_negative ? "-" : "") + term.text;
    else
      out += (term.is_negative ? " - " : " + ") + term.text;
  }
  return {out, kSum};
}

Text joined(Expr e, std::string_view op, Precedence level) {
  std::string out;
  for (const Expr operand : e.operands())
    out += (out.empty() ? "" : fmt::format(" {} ", op)) + within(operand, Precedence(level + 1));
  return {out, level};
}

Text function(Expr e, std::string_view name) {
  std::string out = written(e.operands()[0]).text;
  for (const Expr operand : e.operands().subspan(1))
    out = fmt::format("{}({}, {})", name, out, written(operand).text);
  return {out, kPrimary};
}

Text written(Expr e) {
  switch (e.op()) {
    case Op::kConst:
      return {cpp_int(e.const_value()), e.const_value() < 0 ? kSum : kPrimary};
    case Op::kSymbol:
      return {e.symbol_name(), kPrimary};
    case Op::kMul:
      return {product(e.operands()), kProduct};
    case Op::kAdd:
      return sum(e);
    case Op::kFloorDiv:
      return function(e, "floordiv");
    case Op::kMod:
      return function(e, "mod");
    case Op::kMin:
      return function(e, "min");
    case Op::kMax:
      return function(e, "max");
    case Op::kEq:
      return joined(e, "==", kComparison);
    case Op::kNe:
      return joined(e, "!=", kComparison);
    case Op::kLt:
      return joined(e, "<", kComparison);
    case Op::kLe:
      return joined(e, "<=", kComparison);
    case Op::kAnd:
      return joined(e, "&&", kAndLevel);
    case Op::kOr:
      return joined(e, "||", kOrLevel);
    case Op::kNot:
      return {"!" + within(e.operands()[0], kPrimary), kPrimary};
  }
  CHECK(false, "an expression of op {}", static_cast<int>(e.op()));
}

std::string expr_list(const std::vector<Expr>& exprs) {
  std::string out;
  for (const Expr e : exprs) out += (out.empty() ? "" : ", ") + cpp_expr(e);
  return "{" + out + "}";
}

}  // namespace

std::string CppNames::unique(std::string_view name) {
  const std::string base = cpp_identifier(name);
  // What the wrapper names with a capital letter are types.
  const bool is_reserved =
      std::isupper(static_cast<unsigned char>(base[0])) != 0 || is_word_of(kReserved, base);
  std::string out = is_reserved ? base + "_" : base;
  for (int k = 1; !taken_.insert(out).second; ++k) out = fmt::format("{}_{}", base, k);
  return out;
}

std::string cpp_identifier(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const bool is_part = std::isalnum(static_cast<unsigned char>(c)) != 0;
    // Two underscores in a row are the compiler's.
    if (is_part)
      out += c;
    else if (!out.empty() && out.back() != '_')
      out += '_';
  }
  if (out.empty() || std::isdigit(static_cast<unsigned char>(out[0])) != 0) out.insert(0, "v");
  return out;
}

std::string cpp_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      out += fmt::format("\\{}", c);
    else if (c == '\n')
      out += "\\n";
    else if (code < 0x20 || code == 0x7f)
      out += fmt::format("\\{:03o}", code);
    else
      out += c;
  }
  return out + "\"";
}

std::string cpp_double(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::string out = fmt::format("{}", value);
  return out.find_first_of(".e") == std::string::npos ? out + ".0" : out;
}

std::string cpp_int(int64_t value) { return value == INT64_MIN ? "INT64_MIN" : fmt::format("{}", value); }

std::string cpp_expr(Expr e) { return written(e).text; }

std::string cpp_dtype(ir::DType dtype) {
  if (dtype == ir::DType::kBool) return "Bool";
  std::string out(ir::dtype_name(dtype));
  for (char& c : out) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return out;
}

std::string cpp_layout(sym::Context& cx, const ir::TensorType& type) {
  const std::string dtype = cpp_dtype(type.dtype);
  if (type.rank() == 0) return dtype + "()";
  // Contiguous strides leave out sizes that are known to be 0, which the header's do not.
  const bool has_none = std::ranges::any_of(type.sizes, [](Expr size) { return size.is_const(0); });
  const bool is_plain = ir::is_contiguous(cx, type) && !has_none;
  return is_plain ? fmt::format("{}({})", dtype, expr_list(type.sizes))
                  : fmt::format("{}({}, {})", dtype, expr_list(type.sizes), expr_list(type.strides));
}

std::string cpp_wrapped(std::string_view line) {
  std::string out;
  std::string indent(line.find_first_not_of(' ') == std::string_view::npos ? 0 : line.find_first_not_of(' '),
                     ' ');
  const bool is_comment = line.substr(indent.size()).starts_with("//");
  indent += is_comment ? "// " : "    ";
  while (line.size() > kColumns - (out.empty() ? 0 : indent.size())) {
    const size_t room = kColumns - (out.empty() ? 0 : indent.size());
    size_t at = 0;
    bool in_string = false;
    for (size_t k = 0; k < line.size() && (k < room || at == 0); ++k) {
      if (line[k] == '"' && !is_comment && (k == 0 || line[k - 1] != '\\')) in_string = !in_string;
      const bool breaks =
          line[k] == ' ' && k > indent.size() && (is_comment || (line[k - 1] == ',' && !in_string));
      if (breaks) at = k;
    }
    if (at == 0) break;
    out += (out.empty() ? "" : indent) + std::string(line.substr(0, at)) + "\n";
    line.remove_prefix(at + 1);
  }
  return out + (out.empty() ? "" : indent) + std::string(line);
}

}  // namespace jumar::emit::host
