// Operators' own C functions in libtorch, and the `.out` overloads of operators: the rows of shims.def and
// out_forms.def.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "runtime/torch/c_api.h"
#include "runtime/torch/site_arg.h"

namespace jumar::runtime::torch {

struct Shim {
  enum class Form : uint8_t { kReturns, kWrites };
  enum class Operands : uint8_t { kAny, kFloats };
  std::string_view op;
  const char* symbol = nullptr;
  uint32_t results = 0;
  Form form = Form::kReturns;
  Operands operands = Operands::kAny;
  // Whether the arguments have kinds that the parameters take.
  bool (*takes)(std::span<const SiteArg> args) = nullptr;
  // `results`: handles that the function makes, or that it writes into.
  Error (*call)(void* function, const SiteArg* args, const CallValues& values, Handle* results) = nullptr;
  // The parameter types as C text, without names.
  std::string (*prototype)() = nullptr;
};

std::span<const Shim> shims();
const Shim* shim_of(std::string_view op, Shim::Form form);

struct OutForm {
  std::string_view op;
  const char* overload = nullptr;
  uint32_t results = 0;
};
std::span<const OutForm> out_forms();
const OutForm* out_form_of(std::string_view op);

}  // namespace jumar::runtime::torch
