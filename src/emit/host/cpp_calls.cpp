// Calls of operators in a written program.
#include <algorithm>

#include "emit/host/cpp_body.h"

namespace jumar::emit::host {

using runtime::Action;
using runtime::CallCode;
using runtime::kNoIndex;
using runtime::torch::CallForm;
using runtime::torch::SchemaType;
using runtime::torch::Shim;
using runtime::torch::SiteArg;
using Base = SchemaType::Base;
using Kind = SiteArg::Kind;

namespace {

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> out;
  for (size_t at = 0; at < list.size();) {
    const size_t end = std::min(list.find(", ", at), list.size());
    out.push_back(list.substr(at, end - at));
    at = end + 2;
  }
  return out;
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

// "aten.add.Tensor" -> add_Tensor, "aten.mm.default" -> mm.
std::string short_name(std::string_view op) {
  if (op.starts_with("aten.")) op.remove_prefix(5);
  if (op.ends_with(".default")) op.remove_suffix(8);
  return cpp_identifier(op);
}

std::string result_letters(const CallForm& form) {
  std::string out;
  for (const SchemaType& type : form.returns)
    out += type.base != Base::kTensor ? (type.base == Base::kBool ? 'b' : 'i') : type.list ? 'l' : 't';
  return out;
}

}  // namespace

// The member of Operators for the call's operator and form.
std::string CppBody::operator_of(const CallCode& call) {
  const CallForm& form = call.site->form();
  std::string type;
  std::string values;
  if (form.shim) {
    type = fmt::format("Operator<{}>", replaced(form.shim->prototype(), "AtenTensorHandle", "Handle"));
    values = fmt::format("{}, {}", cpp_string(call.name), cpp_string(form.shim->symbol));
  } else {
    type = "Dispatched";
    values = fmt::format("{}, {}, {}, {}", cpp_string(call.name), cpp_string(form.op),
                         cpp_string(form.overload), cpp_string(result_letters(form)));
  }
  auto [known, is_new] = operators_.try_emplace(type + values);
  if (is_new) {
    known->second = operator_names_.unique(short_name(call.name));
    declarations_.operators.push_back(fmt::format("const {} {}{{{}}};", type, known->second, values));
  }
  return "op." + known->second;
}

void CppBody::call(const CallCode& call) {
  CHECK(call.site.has_value(), "{} has no C++ form", call.name);
  pending_ = {};
  origin(call.step);
  if (call.site->writes()) {
    call_writing(call);
  } else {
    take_call(call);
  }
  for (size_t k = 0; k < call.result_ints.size(); ++k) {
    const sym::Expr symbol = expr(call.result_ints[k]);
    line(fmt::format("const Int {} = bound(int_of({}, {}, {}), {});", symbol.symbol_name(), pending_.variable,
                     k, call.result_ints.size(), symbol_text(symbol)));
  }
}

void CppBody::call_writing(const CallCode& call) {
  std::string targets;
  for (const uint32_t result : call.results) {
    if (!call.into) make(result);
    targets += (targets.empty() ? "" : ", ") + tensor(result);
  }
  const std::string args = call_args(call);
  line(fmt::format("call_into({}, {{{}}}, {});", operator_of(call), targets, args));
}

// Results that one `result` takes right away need no variable.
void CppBody::take_call(const CallCode& call) {
  const std::string args = call_args(call);
  const std::string made = fmt::format("call({}, {})", operator_of(call), args);
  const auto used =
      std::count_if(call.results.begin(), call.results.end(), [](uint32_t r) { return r != kNoIndex; });
  const bool returns_list = std::ranges::any_of(call.site->form().returns, &SchemaType::list);
  const Action* next = action_ + 1 < code_.actions.size() ? &code_.actions[action_ + 1] : nullptr;
  const bool is_taken_next = next != nullptr && next->kind == Action::Kind::kSettle;
  const bool is_single =
      used == 1 && !returns_list && call.result_ints.empty() && (call.into || is_taken_next);
  if (is_single) {
    pending_ = {made, &call};
  } else if (used == 0 && call.result_ints.empty()) {
    line(made + ";");
  } else {
    pending_ = {names_.unique(short_name(call.name) + "_results"), &call};
    line(fmt::format("const Results {} = {};", pending_.variable, made));
    if (returns_list) line(fmt::format("expect_count({}, {});", pending_.variable, call.results.size()));
  }
  if (!call.into) return;
  for (size_t k = 0; k < call.results.size(); ++k)
    if (call.results[k] != kNoIndex)
      line(fmt::format("copy_result({}, {}, {});", pending_.variable, k, tensor(call.results[k])));
}

uint32_t CppBody::result_position(uint32_t tensor) const {
  CHECK(pending_.call != nullptr, "%{} is no result of the latest call", plan_name(tensor));
  const std::vector<uint32_t>& results = pending_.call->results;
  return static_cast<uint32_t>(std::find(results.begin(), results.end(), tensor) - results.begin());
}

// A result that was made as memory for the operator to write to is what it should be.
void CppBody::settle(uint32_t tensor) {
  if (!tensors_[tensor].empty()) return;
  const std::string call = pending_.variable;
  declare(tensor, fmt::format("result({}, {}, {})", call, result_position(tensor), layout(tensor)));
}

std::string CppBody::call_args(const CallCode& call) {
  const CallForm& form = call.site->form();
  if (form.shim) return shim_args(call);
  std::string out;
  for (size_t k = 0; k < form.args.size(); ++k)
    out += (k == 0 ? "" : ", ") + stack_arg(form.types[k], form.args[k], call);
  return "{" + out + "}";
}

// The prototype says what each argument becomes; lists take two of its parameters.
std::string CppBody::shim_args(const CallCode& call) {
  const CallForm& form = call.site->form();
  const std::vector<std::string> parameters = split(form.shim->prototype());
  size_t at = form.writes ? form.shim->results : 0;
  std::string out;
  for (const SiteArg& arg : form.args) {
    const std::string& parameter = parameters[at];
    std::string text;
    std::string items;
    if (arg.kind == Kind::kList) {
      const bool is_ints = parameter == "const int64_t*";
      for (const SiteArg& item : arg.items)
        items += (items.empty() ? "" : ", ") + (is_ints ? int_arg(item) : tensor(call.operands[item.slot]));
      text = fmt::format("{}({})", is_ints ? "ints" : "tensors",
                         items.empty() && is_ints ? "" : "{" + items + "}");
      ++at;
    } else if (parameter == "AtenTensorHandle*") {
      text = fmt::format("maybe({})", arg.kind == Kind::kNone ? "none" : tensor(call.operands[arg.slot]));
    } else if (parameter == "AtenTensorHandle") {
      text = tensor(call.operands[arg.slot]);
    } else if (parameter == "double") {
      text = float_arg(arg);
    } else if (parameter == "int32_t") {
      text = bool_arg(arg);
    } else if (parameter == "const char*") {
      text = cpp_string(arg.text);
    } else {
      text = int_arg(arg);
    }
    out += (out.empty() ? "" : ", ") + text;
    ++at;
  }
  return out;
}

std::string CppBody::stack_arg(const SchemaType& type, const SiteArg& arg, const CallCode& call) {
  if (arg.kind == Kind::kNone) return "none";
  std::string text;
  if (type.list) {
    const bool is_single = arg.kind != Kind::kList;  // an int where int[2] is wanted stands for [int, int]
    const size_t count = is_single ? type.count : arg.items.size();
    std::string items;
    for (size_t k = 0; k < count; ++k) {
      const SiteArg& item = is_single ? arg : arg.items[k];
      std::string one = item.kind == Kind::kNone ? "none" : stack_one(type.base, item, call);
      if (type.optional_element && item.kind != Kind::kNone) one = fmt::format("some({})", one);
      items += (items.empty() ? "" : ", ") + one;
    }
    text = count == 0 ? "list()" : fmt::format("list({{{}}})", items);
  } else {
    text = stack_one(type.base, arg, call);
  }
  return type.optional ? fmt::format("some({})", text) : text;
}

std::string CppBody::stack_one(Base base, const SiteArg& arg, const CallCode& call) {
  switch (base) {
    case Base::kTensor:
      return tensor(call.operands[arg.slot]);
    case Base::kInt:
      return int_arg(arg);
    case Base::kFloat:
      return float_arg(arg);
    case Base::kBool:
      return bool_arg(arg);
    case Base::kStr:
      return cpp_string(arg.text);
    case Base::kDType:
      return cpp_dtype(*ir::dtype_from_name(arg.text));
    case Base::kDevice:
      return arg.integer < 0 ? "cpu" : "cpu_0";
    case Base::kLayout:
    case Base::kMemoryFormat:
      return arg.text;
    case Base::kScalar:
    case Base::kGenerator:
    case Base::kOther:
      break;
  }
  CHECK(false, "schema type {} reached a call", static_cast<int>(base));
}

std::string CppBody::int_arg(const SiteArg& arg) const {
  if (!arg.is_slot) return cpp_int(arg.integer);
  return arg.kind == Kind::kInt ? expr_text(arg.slot)
                                : fmt::format("static_cast<int64_t>({})", number(arg.slot));
}

std::string CppBody::float_arg(const SiteArg& arg) const {
  if (arg.kind == Kind::kFloat) return arg.is_slot ? number(arg.slot) : cpp_double(arg.number);
  if (!arg.is_slot) return cpp_double(static_cast<double>(arg.integer));
  return arg.kind == Kind::kInt ? fmt::format("real({})", expr_text(arg.slot)) : number(arg.slot);
}

std::string CppBody::bool_arg(const SiteArg& arg) const {
  if (!arg.is_slot) return arg.integer != 0 ? "true" : "false";
  return arg.kind == Kind::kInt ? fmt::format("({} != 0).value() != 0", expr_text(arg.slot))
                                : fmt::format("{} != 0", number(arg.slot));
}

}  // namespace jumar::emit::host
