#include <cmath>
#include <optional>

#include "loop/interp.h"
#include "loop/scalar_eval.h"

namespace jumar::loop {
namespace {

// Python's meaning of a division of floats.
double floor_div(double a, double b) {
  double rest = std::fmod(a, b);
  double quotient = (a - rest) / b;
  if (rest != 0 && (b < 0) != (rest < 0)) quotient -= 1;
  return quotient == 0 ? std::copysign(0.0, a / b) : std::round(quotient);
}

double modulo(double a, double b) {
  double rest = std::fmod(a, b);
  if (rest == 0) return std::copysign(0.0, b);
  return (b < 0) != (rest < 0) ? rest + b : rest;
}

std::optional<double> real(const RunArg& arg) {
  if (const double* d = std::get_if<double>(&arg.data)) return *d;
  if (const bool* b = std::get_if<bool>(&arg.data)) return *b ? 1.0 : 0.0;
  if (const int64_t* i = std::get_if<int64_t>(&arg.data)) return static_cast<double>(*i);
  const TensorView* view = std::get_if<TensorView>(&arg.data);
  if (view && view->element_count() == 1 && !ir::is_complex(view->dtype))
    return as_double(load_scalar(view->data, view->dtype));
  return std::nullopt;
}

std::optional<double> unary_float(std::string_view op, double a) {
  if (op == "neg") return -a;
  if (op == "abs") return std::fabs(a);
  if (op == "sqrt") return std::sqrt(a);
  if (op == "exp") return std::exp(a);
  if (op == "log") return std::log(a);
  if (op == "floor") return std::floor(a);
  if (op == "ceil") return std::ceil(a);
  if (op == "trunc") return std::trunc(a);
  if (op == "to_float" || op == "item") return a;
  return std::nullopt;
}

std::optional<double> binary_float(std::string_view op, double a, double b) {
  if (op == "add") return a + b;
  if (op == "sub") return a - b;
  if (op == "mul") return a * b;
  if (op == "truediv") return a / b;
  if (op == "floordiv") return floor_div(a, b);
  if (op == "mod") return modulo(a, b);
  if (op == "pow") return std::pow(a, b);
  if (op == "min") return b < a ? b : a;
  if (op == "max") return b > a ? b : a;
  return std::nullopt;
}

std::optional<bool> binary_bool(std::string_view op, double a, double b) {
  if (op == "eq") return a == b;
  if (op == "ne") return a != b;
  if (op == "lt") return a < b;
  if (op == "le") return a <= b;
  if (op == "gt") return a > b;
  if (op == "ge") return a >= b;
  if (op == "and") return a != 0 && b != 0;
  if (op == "or") return a != 0 || b != 0;
  return std::nullopt;
}

// Where Python raises.
bool raises(std::string_view op, double a, double b) {
  bool divides = op == "truediv" || op == "floordiv" || op == "mod";
  return (divides && b == 0) || (op == "pow" && a == 0 && b < 0) || (op == "sqrt" && a < 0) ||
         (op == "log" && a <= 0);
}

}  // namespace

Result<RunArg> host_scalar(std::string_view op, const RunArg::List& args) {
  std::string_view name = op.starts_with("scalar.") ? op.substr(7) : "";
  std::vector<double> values;
  for (const RunArg& arg : args) {
    std::optional<double> value = real(arg);
    if (!value) return diagnostic("unsupported", "{}: argument {} is no number", op, values.size());
    values.push_back(*value);
  }
  double a = values.empty() ? 0 : values[0];
  double b = values.size() < 2 ? 0 : values[1];
  if (raises(name, a, b)) return diagnostic("check", "{}({}, {}) has no value", op, a, b);
  if (values.size() == 1) {
    if (name == "not") return RunArg{a == 0};
    if (std::optional<double> result = unary_float(name, a)) return RunArg{*result};
  }
  if (values.size() == 2) {
    if (std::optional<double> result = binary_float(name, a, b)) return RunArg{*result};
    if (std::optional<bool> result = binary_bool(name, a, b)) return RunArg{*result};
  }
  return diagnostic("unsupported", "there is no operator {} with {} arguments", op, values.size());
}

}  // namespace jumar::loop
