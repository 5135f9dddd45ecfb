#include "runtime/torch/shims.h"

#include <array>
#include <tuple>
#include <utility>

namespace jumar::runtime::torch {
namespace {

using Kind = SiteArg::Kind;

bool is_number(const SiteArg& arg) {
  return arg.kind == Kind::kInt || arg.kind == Kind::kFloat || arg.kind == Kind::kBool;
}
bool is_integer(const SiteArg& arg) { return arg.kind == Kind::kInt || arg.kind == Kind::kBool; }

// One class per kind of parameter: whether it takes an argument, its C text, and the C values it passes,
// which may point into the object.
struct Tensor {
  static constexpr const char* kText = "AtenTensorHandle";
  static bool takes(const SiteArg& arg) { return arg.kind == Kind::kTensor; }
  Tensor(const SiteArg& arg, const CallValues& values) : handle(values.tensors[arg.slot]) {}
  std::tuple<Handle> c() { return {handle}; }
  Handle handle;
};

struct OptTensor {
  static constexpr const char* kText = "AtenTensorHandle*";
  static bool takes(const SiteArg& arg) { return arg.kind == Kind::kTensor || arg.kind == Kind::kNone; }
  OptTensor(const SiteArg& arg, const CallValues& values)
      : handle(arg.kind == Kind::kTensor ? values.tensors[arg.slot] : nullptr) {}
  std::tuple<Handle*> c() { return {handle ? &handle : nullptr}; }
  Handle handle;
};

struct Tensors {
  static constexpr const char* kText = "const AtenTensorHandle*, int64_t";
  static bool takes(const SiteArg& arg) {
    if (arg.kind != Kind::kList) return false;
    for (const SiteArg& item : arg.items)
      if (item.kind != Kind::kTensor) return false;
    return true;
  }
  Tensors(const SiteArg& arg, const CallValues& values) {
    for (const SiteArg& item : arg.items) handles.push_back(values.tensors[item.slot]);
  }
  std::tuple<const Handle*, int64_t> c() { return {handles.data(), static_cast<int64_t>(handles.size())}; }
  std::vector<Handle> handles;
};

struct Int {
  static constexpr const char* kText = "int64_t";
  static bool takes(const SiteArg& arg) { return is_integer(arg); }
  Int(const SiteArg& arg, const CallValues& values) : value(int_of(arg, values)) {}
  std::tuple<int64_t> c() { return {value}; }
  int64_t value;
};

struct Ints {
  static constexpr size_t kMost = 16;
  static constexpr const char* kText = "const int64_t*, int64_t";
  static bool takes(const SiteArg& arg) {
    if (arg.kind != Kind::kList || arg.items.size() > kMost) return false;
    for (const SiteArg& item : arg.items)
      if (!is_integer(item)) return false;
    return true;
  }
  Ints(const SiteArg& arg, const CallValues& values) {
    for (const SiteArg& item : arg.items) items[static_cast<size_t>(count++)] = int_of(item, values);
  }
  std::tuple<const int64_t*, int64_t> c() { return {items.data(), count}; }
  std::array<int64_t, kMost> items;
  int64_t count = 0;
};

struct Float {
  static constexpr const char* kText = "double";
  // Integers beyond 2^53 are not all doubles.
  static constexpr int64_t kMostExact = int64_t{1} << 53;
  static bool takes(const SiteArg& arg) {
    return is_number(arg) && (arg.is_slot || (arg.integer >= -kMostExact && arg.integer <= kMostExact));
  }
  Float(const SiteArg& arg, const CallValues& values) : value(float_of(arg, values)) {}
  std::tuple<double> c() { return {value}; }
  double value;
};

struct Bool {
  static constexpr const char* kText = "int32_t";
  static bool takes(const SiteArg& arg) { return is_integer(arg); }
  Bool(const SiteArg& arg, const CallValues& values) : value(int_of(arg, values) != 0) {}
  std::tuple<int32_t> c() { return {value}; }
  int32_t value;
};

struct Text {
  static constexpr const char* kText = "const char*";
  static bool takes(const SiteArg& arg) { return arg.kind == Kind::kString; }
  Text(const SiteArg& arg, const CallValues&) : value(arg.text.c_str()) {}
  std::tuple<const char*> c() { return {value}; }
  const char* value;
};

template <size_t... I>
auto handles_tuple(Handle* handles, std::index_sequence<I...>) {
  return std::make_tuple(handles[I]...);
}
template <size_t... I>
auto pointers_tuple(Handle* handles, std::index_sequence<I...>) {
  return std::make_tuple(&handles[I]...);
}

template <class... C>
Error apply_c(void* function, std::tuple<C...> values) {
  auto typed = reinterpret_cast<Error (*)(C...)>(function);
  return std::apply(typed, values);
}

template <Shim::Form kForm, size_t kResults, class... Parameters>
struct Signature {
  static bool takes(std::span<const SiteArg> args) {
    if (args.size() != sizeof...(Parameters)) return false;
    size_t k = 0;
    return (Parameters::takes(args[k++]) && ...);
  }

  static Error call(void* function, const SiteArg* args, const CallValues& values, Handle* results) {
    return with(function, args, values, results, std::index_sequence_for<Parameters...>());
  }

  static std::string prototype() {
    std::string out;
    auto add = [&out](const char* text) { out += (out.empty() ? "" : ", ") + std::string(text); };
    if (kForm == Shim::Form::kWrites)
      for (size_t k = 0; k < kResults; ++k) add("AtenTensorHandle");
    (add(Parameters::kText), ...);
    if (kForm == Shim::Form::kReturns)
      for (size_t k = 0; k < kResults; ++k) add("AtenTensorHandle*");
    return out;
  }

 private:
  template <size_t... I>
  static Error with(void* function, const SiteArg* args, const CallValues& values, Handle* results,
                    std::index_sequence<I...>) {
    std::tuple<Parameters...> parameters(Parameters(args[I], values)...);
    auto given = std::tuple_cat(std::get<I>(parameters).c()...);
    constexpr auto kSequence = std::make_index_sequence<kResults>();
    if constexpr (kForm == Shim::Form::kWrites)
      return apply_c(function, std::tuple_cat(handles_tuple(results, kSequence), given));
    else
      return apply_c(function, std::tuple_cat(given, pointers_tuple(results, kSequence)));
  }
};

constexpr Shim kShims[] = {
#define JUMAR_SHIM(op, symbol, results, form, operands, ...)  \
  {op,                                                        \
   #symbol,                                                   \
   results,                                                   \
   Shim::Form::form,                                          \
   Shim::Operands::operands,                                  \
   &Signature<Shim::Form::form, results, __VA_ARGS__>::takes, \
   &Signature<Shim::Form::form, results, __VA_ARGS__>::call,  \
   &Signature<Shim::Form::form, results, __VA_ARGS__>::prototype},
#include "runtime/torch/shims.def"
#undef JUMAR_SHIM
};

constexpr OutForm kOutForms[] = {
#define JUMAR_OUT_FORM(op, overload, results) {op, overload, results},
#include "runtime/torch/out_forms.def"
#undef JUMAR_OUT_FORM
};

}  // namespace

std::span<const Shim> shims() { return kShims; }

const Shim* shim_of(std::string_view op, Shim::Form form) {
  for (const Shim& shim : kShims)
    if (shim.op == op && shim.form == form) return &shim;
  return nullptr;
}

std::span<const OutForm> out_forms() { return kOutForms; }

const OutForm* out_form_of(std::string_view op) {
  for (const OutForm& form : kOutForms)
    if (form.op == op) return &form;
  return nullptr;
}

}  // namespace jumar::runtime::torch
