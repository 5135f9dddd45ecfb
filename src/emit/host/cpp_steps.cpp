// Steps of a plan that call no operator.
#include <algorithm>

#include "emit/host/cpp_body.h"
#include "plan/number_op.h"

namespace jumar::emit::host {

using plan::NumberOp;
using runtime::kNoIndex;
using runtime::NumberOperand;
using BindSource = plan::BindStep::Source;

void CppBody::make(uint32_t tensor) { declare(tensor, fmt::format("fresh({})", layout(tensor))); }

void CppBody::launch(const runtime::LaunchCode& launch) {
  const std::string& name = launch.source->kernel;
  auto [kernel, is_new] = kernels_.try_emplace(name);
  if (is_new) {
    kernel->second = kernel_names_.unique("k_" + name);
    declarations_.kernels.emplace_back(name, kernel->second);
  }
  origin(launch.step);
  std::string words;
  auto add = [&](const std::string& word) { words += (words.empty() ? "" : ", ") + word; };
  for (const uint32_t index : launch.tensors) add(tensor(index));
  if (launch.checks_indices) add("status");
  for (const runtime::Slot slot : launch.ints) add(expr_text(slot));
  for (const uint32_t index : launch.floats) add(number(index));
  std::string phases;
  for (const runtime::LaunchCode::Phase& phase : launch.phases)
    phases += fmt::format("{}units({}, {})", phases.empty() ? "" : ", ", expr_text(phase.units),
                          expr_text(phase.grain));
  if (launch.phases.size() > 1) phases = "{" + phases + "}";
  line(fmt::format("launch({}, {}, {{{}}});", kernel->second, phases, words));
}

void CppBody::bind(const runtime::BindCode& bind) {
  std::string found;
  if (bind.source == BindSource::kSize || bind.source == BindSource::kStride) {
    const bool is_size = bind.source == BindSource::kSize;
    if (tensors_[bind.tensor].empty()) {  // as the operator returned it
      found = fmt::format("{}({}, {}, {})", is_size ? "size_of" : "stride_of", pending_.variable,
                          result_position(bind.tensor), bind.dim);
    } else {
      found = fmt::format("{}.{}[{}]", tensors_[bind.tensor], is_size ? "sizes" : "strides", bind.dim);
    }
  } else if (bind.source == BindSource::kItem) {
    found = fmt::format("integer_item({}, {})", tensor(bind.tensor), cpp_string(plan_name(bind.tensor)));
  } else {
    const char* rounding = bind.source == BindSource::kFloor   ? "floor"
                           : bind.source == BindSource::kCeil  ? "ceil"
                           : bind.source == BindSource::kTrunc ? "trunc"
                                                               : "nearbyint";
    found = fmt::format("whole(std::{}({}))", rounding, number(bind.number));
  }
  const sym::Expr symbol = expr(bind.symbol);
  const bool is_plain = expr(bind.expr) == symbol;
  if (!is_plain) {
    const std::string variable = names_.unique("found");
    line(fmt::format("const int64_t {} = {};", variable, found));
    found = variable;
  }
  line(fmt::format("const Int {} = bound({}, {}{});", symbol.symbol_name(), found, symbol_text(symbol),
                   solved_text(expr(bind.coefficient), expr(bind.rest))));
  if (!is_plain)
    line(fmt::format("expect_value({}, {}, {});", found, expr_text(bind.expr),
                     cpp_string(sym::text(expr(bind.expr)))));
}

std::string CppBody::operand(const NumberOperand& operand) {
  switch (operand.kind) {
    case NumberOperand::Kind::kSlot:
      return expr_text(operand.index);
    case NumberOperand::Kind::kNumber:
      return number(operand.index);
    case NumberOperand::Kind::kConstant:
      return cpp_double(operand.constant);
    case NumberOperand::Kind::kTensor:
      return tensor(operand.index);
  }
  return {};
}

namespace {

// "{} + {}" or a function of the wrapper's; {} stand for the operands.
std::string_view number_form(NumberOp op) {
  switch (op) {
    case NumberOp::kAdd:
      return "{} + {}";
    case NumberOp::kSub:
      return "{} - {}";
    case NumberOp::kMul:
      return "{} * {}";
    case NumberOp::kTrueDiv:
      return "truediv({}, {})";
    case NumberOp::kFloorDiv:
      return "floordiv({}, {})";
    case NumberOp::kMod:
      return "mod({}, {})";
    case NumberOp::kPow:
      return "power({}, {})";
    case NumberOp::kNeg:
      return "-{}";
    case NumberOp::kAbs:
      return "std::fabs({})";
    case NumberOp::kMin:
      return "min({}, {})";
    case NumberOp::kMax:
      return "max({}, {})";
    case NumberOp::kSqrt:
      return "square_root({})";
    case NumberOp::kExp:
      return "exponential({})";
    case NumberOp::kLog:
      return "logarithm({})";
    case NumberOp::kFloor:
      return "std::floor({})";
    case NumberOp::kCeil:
      return "std::ceil({})";
    case NumberOp::kTrunc:
      return "std::trunc({})";
    case NumberOp::kToFloat:
    case NumberOp::kItem:
      return "{}";
    case NumberOp::kEq:
      return "{} == {}";
    case NumberOp::kNe:
      return "{} != {}";
    case NumberOp::kLt:
      return "{} < {}";
    case NumberOp::kLe:
      return "{} <= {}";
    case NumberOp::kGt:
      return "{} > {}";
    case NumberOp::kGe:
      return "{} >= {}";
    case NumberOp::kAnd:
      return "{} != 0 && {} != 0";
    case NumberOp::kOr:
      return "{} != 0 || {} != 0";
    case NumberOp::kNot:
      return "{} == 0";
  }
  CHECK(false, "number op {}", static_cast<int>(op));
}

}  // namespace

void CppBody::host_number(const runtime::NumberCode& number) {
  std::string operands[2];
  for (size_t k = 0; k < 2; ++k) {
    const NumberOperand& given = number.operands[k];
    operands[k] = operand(given);
    if (given.kind == NumberOperand::Kind::kSlot) operands[k] = fmt::format("real({})", operands[k]);
    if (given.kind == NumberOperand::Kind::kConstant && given.constant < 0)
      operands[k] = "(" + operands[k] + ")";
  }
  if (number.operands[0].kind == NumberOperand::Kind::kTensor)
    operands[0] = fmt::format("item({}, {})", operands[0], cpp_string(plan_name(number.operands[0].index)));
  const std::string value = fmt::format(fmt::runtime(number_form(number.op)), operands[0], operands[1]);
  line(fmt::format("const double {} = {};", this->number(number.result), value));
}

void CppBody::check(const runtime::CheckCode& check) {
  line(fmt::format("check_holds({}, {});", expr_text(check.predicate), cpp_string(check.source->message)));
}

void CppBody::release(const std::vector<uint32_t>& tensors) {
  std::string list;
  for (const uint32_t index : tensors)
    if (!tensors_[index].empty()) list += (list.empty() ? "" : ", ") + tensors_[index];
  if (!list.empty()) line(fmt::format("release({});", list));
}

}  // namespace jumar::emit::host
