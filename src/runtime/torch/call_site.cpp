#include "runtime/torch/call_site.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace jumar::runtime::torch {
namespace {

using Base = SchemaType::Base;
using Kind = SiteArg::Kind;

constexpr size_t kMostArgs = 64;

bool is_number(const SiteArg& arg) {
  return arg.kind == Kind::kInt || arg.kind == Kind::kFloat || arg.kind == Kind::kBool;
}

// Whether the dispatcher's C function carries a value of this type.
bool carried(const SchemaType& type) { return type.base != Base::kOther && type.base != Base::kScalar; }

// "aten.add.Tensor" -> aten::add, Tensor; the overload named default is the empty one.
struct OpName {
  std::string name;
  std::string overload;
};
std::optional<OpName> split_op(std::string_view op) {
  size_t first = op.find('.');
  size_t last = op.rfind('.');
  if (first == std::string_view::npos || last <= first) return std::nullopt;
  OpName out;
  out.name = fmt::format("{}::{}", op.substr(0, first), op.substr(first + 1, last - first - 1));
  std::string_view overload = op.substr(last + 1);
  if (overload != "default") out.overload = std::string(overload);
  return out;
}

// Whether an operator writes to its arguments, as far as its name tells: PyTorch names such operators with a
// trailing underscore, except those that Python's own protocol names (__and__).
bool is_in_place(std::string_view name) { return name.ends_with("_") && !name.ends_with("__"); }

bool takes_one(const SchemaType& type, const SiteArg& arg) {
  switch (type.base) {
    case Base::kTensor:
      return arg.kind == Kind::kTensor;
    case Base::kInt:
      return arg.kind == Kind::kInt || arg.kind == Kind::kBool;
    case Base::kFloat:
      return is_number(arg);
    case Base::kBool:
      return arg.kind == Kind::kBool || arg.kind == Kind::kInt;
    case Base::kStr:
      return arg.kind == Kind::kString;
    case Base::kDType:
      return arg.kind == Kind::kDType;
    case Base::kLayout:
      return arg.kind == Kind::kLayout;
    case Base::kDevice:
      return arg.kind == Kind::kDevice;
    case Base::kMemoryFormat:
      return arg.kind == Kind::kMemoryFormat;
    case Base::kGenerator:
    case Base::kScalar:
    case Base::kOther:
      return false;
  }
  return false;
}

bool takes(const SchemaType& type, const SiteArg& arg) {
  if (arg.kind == Kind::kNone) return type.optional;
  if (!type.list) return takes_one(type, arg);
  if (arg.kind != Kind::kList) return type.count > 0 && takes_one(type, arg);
  for (const SiteArg& item : arg.items)
    if (!(item.kind == Kind::kNone ? type.optional_element : takes_one(type, item))) return false;
  return true;
}

std::optional<std::string> returns_refusal(const plan::Schema& schema) {
  int lists = 0;
  for (const std::string& text : schema.returns) {
    SchemaType type = parsed_schema_type(text);
    bool tensor = type.base == Base::kTensor && !type.optional && !type.optional_element;
    bool number = (type.base == Base::kInt || type.base == Base::kBool) && !type.list && !type.optional;
    lists += type.list ? 1 : 0;
    if (!tensor && !number) return fmt::format("its result type {} is not supported", text);
  }
  if (lists > 1) return std::string("it returns more than one list");
  return std::nullopt;
}

const Shim* usable_shim(std::string_view op, Shim::Form form, bool floating_operands) {
  const Shim* shim = shim_of(op, form);
  if (shim && shim->operands == Shim::Operands::kFloats && !floating_operands) return nullptr;
  return shim;
}

}  // namespace

std::optional<std::string> call_refusal(const CallQuery& query) {
  std::optional<OpName> name = split_op(query.op);
  if (!name) return fmt::format("'{}' is no name of an operator", query.op);
  if (is_in_place(name->name)) return std::string("it writes to its arguments");
  if (query.schema.args.size() > kMostArgs) return std::string("it has too many arguments");
  if (auto reason = returns_refusal(query.schema)) return reason;
  if (usable_shim(query.op, Shim::Form::kReturns, query.floating_operands) ||
      usable_shim(query.op, Shim::Form::kWrites, query.floating_operands))
    return std::nullopt;
  for (size_t k = 0; k < query.schema.args.size(); ++k) {
    const plan::SchemaArg& arg = query.schema.args[k];
    SchemaType type = parsed_schema_type(arg.type);
    bool none = k < query.none_args.size() && query.none_args[k];
    if (none && type.optional && type.base != Base::kOther && type.base != Base::kScalar) continue;
    if (!carried(type))
      return fmt::format("libtorch's C functions carry no {} (argument '{}')", arg.type, arg.name);
    if (type.base == Base::kGenerator)
      return fmt::format("libtorch's C functions carry no generator (argument '{}')", arg.name);
  }
  return std::nullopt;
}

Result<CallForm> call_form(const std::string& op, const plan::Schema& schema, std::vector<SiteArg> args,
                           bool floating_operands, bool into,
                           const std::function<bool(const char* symbol)>& has_function) {
  CallQuery query{op, schema, {}, floating_operands};
  for (const SiteArg& arg : args) query.none_args.push_back(arg.kind == Kind::kNone);
  if (args.size() != schema.args.size())
    return diagnostic("unsupported", "{} takes {} arguments, not {}", op, schema.args.size(), args.size());
  if (auto reason = call_refusal(query)) return diagnostic("unsupported", "{}", *reason);
  OpName name = *split_op(op);
  CallForm form{name.name, name.overload, std::move(args), {}, {}, nullptr, false, 0};
  std::string mismatch;
  bool dispatchable = true;
  for (size_t k = 0; k < schema.args.size(); ++k) {
    form.types.push_back(parsed_schema_type(schema.args[k].type));
    if (!takes(form.types[k], form.args[k])) {
      dispatchable = false;
      mismatch = fmt::format("argument '{}' of type {} can't take what the call gives", schema.args[k].name,
                             schema.args[k].type);
    }
  }
  for (const std::string& text : schema.returns) form.returns.push_back(parsed_schema_type(text));

  // In order of preference: a function that writes where the plan wants the results, the `.out` overload, a
  // function that returns them, the dispatcher, and a function that writes although nobody asked for it.
  auto try_shim = [&](Shim::Form kind) {
    const Shim* shim = usable_shim(op, kind, floating_operands);
    if (!shim || !shim->takes(form.args) || !has_function(shim->symbol)) return false;
    form.shim = shim;
    form.writes = kind == Shim::Form::kWrites;
    form.target_count = form.writes ? shim->results : 0;
    return true;
  };
  if (into && try_shim(Shim::Form::kWrites)) return form;
  const OutForm* out = into && dispatchable ? out_form_of(op) : nullptr;
  if (out) {
    form.overload = out->overload;
    form.writes = true;
    form.target_count = out->results;
    return form;
  }
  if (try_shim(Shim::Form::kReturns)) return form;
  if (dispatchable) return form;
  if (try_shim(Shim::Form::kWrites)) return form;
  return diagnostic("unsupported", "{}", mismatch);
}

Result<CallSite> CallSite::prepare(const Api* api, const std::string& op, const plan::Schema& schema,
                                   std::vector<SiteArg> args, bool floating_operands, bool into) {
  CallSite site;
  site.api_ = api;
  auto has_function = [api](const char* symbol) { return !api || api->symbol(symbol) != nullptr; };
  JUMAR_ASSIGN(site.form_, call_form(op, schema, std::move(args), floating_operands, into, has_function));
  if (api && site.form_.shim) site.shim_function_ = api->symbol(site.form_.shim->symbol);
  return site;
}

bool CallSite::call(const CallValues& values, std::span<const Handle> targets, CallResults& results) const {
  results.tensors.clear();
  results.ints.clear();
  CHECK(api_ != nullptr, "a call of {} without libtorch", form_.op);
  CHECK(targets.size() == form_.target_count, "{} targets, {} wanted", targets.size(), form_.target_count);
  return form_.shim ? call_shim(values, targets, results) : call_dispatcher(values, targets, results);
}

bool CallSite::call_shim(const CallValues& values, std::span<const Handle> targets,
                         CallResults& results) const {
  std::array<Handle, kMostArgs> handles{};
  std::copy(targets.begin(), targets.end(), handles.begin());
  if (form_.shim->call(shim_function_, form_.args.data(), values, handles.data()) != 0) return false;
  if (form_.writes) return true;
  for (uint32_t k = 0; k < form_.shim->results; ++k) results.tensors.emplace_back(*api_, handles[k]);
  return true;
}

bool CallSite::call_dispatcher(const CallValues& values, std::span<const Handle> targets,
                               CallResults& results) const {
  std::array<uint64_t, 2 * kMostArgs> stack;
  size_t count = 0;
  for (; count < form_.args.size(); ++count)
    stack[count] = marshalled(form_.types[count], form_.args[count], values);
  for (Handle target : targets) {
    Handle reference = nullptr;
    if (api_->aoti_torch_new_tensor_handle(target, &reference) != 0) return false;
    stack[count++] = reinterpret_cast<uint64_t>(reference);
  }
  if (api_->aoti_torch_call_dispatcher(form_.op.c_str(), form_.overload.c_str(), stack.data()) != 0)
    return false;
  if (!take_results(stack.data(), results)) return false;
  if (form_.writes) results.tensors.clear();  // references to the targets
  return true;
}

bool CallSite::take_results(uint64_t* stack, CallResults& results) const {
  auto take = [&](uint64_t value) {
    Tensor tensor(*api_, reinterpret_cast<Handle>(value));
    bool defined = false;
    if (tensor && (api_->aoti_torch_is_defined(tensor.get(), &defined) != 0 || !defined)) tensor.reset();
    results.tensors.push_back(std::move(tensor));
  };
  bool ok = true;
  for (size_t k = 0; k < form_.returns.size(); ++k) {
    if (form_.returns[k].base != Base::kTensor) {
      // A bool occupies one byte of its word.
      bool is_bool = form_.returns[k].base == Base::kBool;
      results.ints.push_back(is_bool ? (stack[k] & 0xff) != 0 : static_cast<int64_t>(stack[k]));
    } else if (!form_.returns[k].list) {
      take(stack[k]);
    } else {
      List list = reinterpret_cast<List>(stack[k]);
      size_t size = 0;
      ok = api_->torch_list_size(list, &size) == 0 && ok;
      for (size_t i = 0; i < size; ++i) {
        uint64_t item = 0;
        ok = api_->torch_list_get_item(list, i, &item) == 0 && ok;
        take(item);
      }
      api_->torch_delete_list(list);
    }
  }
  return ok;
}

uint64_t CallSite::marshalled(const SchemaType& type, const SiteArg& arg, const CallValues& values) const {
  if (arg.kind == Kind::kNone) return 0;
  uint64_t value = 0;
  if (type.list) {
    List list = nullptr;
    bool single = arg.kind != Kind::kList;  // an int where int[2] is wanted stands for [int, int]
    size_t size = single ? type.count : arg.items.size();
    api_->torch_new_list_reserve_size(size, &list);
    for (size_t k = 0; k < size; ++k) {
      const SiteArg& item = single ? arg : arg.items[k];
      uint64_t one = item.kind == Kind::kNone ? 0 : marshalled_one(type, item, values);
      if (type.optional_element && item.kind != Kind::kNone)
        one = reinterpret_cast<uint64_t>(new uint64_t(one));
      api_->torch_list_push_back(list, one);
    }
    value = reinterpret_cast<uint64_t>(list);
  } else {
    value = marshalled_one(type, arg, values);
  }
  // libtorch deletes the cell of an optional.
  return type.optional ? reinterpret_cast<uint64_t>(new uint64_t(value)) : value;
}

uint64_t CallSite::marshalled_one(const SchemaType& type, const SiteArg& arg,
                                  const CallValues& values) const {
  switch (type.base) {
    case Base::kTensor: {
      Handle reference = nullptr;
      api_->aoti_torch_new_tensor_handle(values.tensors[arg.slot], &reference);
      return reinterpret_cast<uint64_t>(reference);
    }
    case Base::kInt:
      return static_cast<uint64_t>(int_of(arg, values));
    case Base::kBool:
      return int_of(arg, values) != 0;
    case Base::kFloat: {
      double number = float_of(arg, values);
      uint64_t bits = 0;
      std::memcpy(&bits, &number, sizeof bits);
      return bits;
    }
    case Base::kStr: {
      String text = nullptr;
      api_->torch_new_string_handle(arg.text.data(), arg.text.size(), &text);
      return reinterpret_cast<uint64_t>(text);
    }
    case Base::kDevice:  // type in the upper half, index in the lower
      return static_cast<uint64_t>(static_cast<uint32_t>(api_->aoti_torch_device_type_cpu())) << 32 |
             static_cast<uint32_t>(arg.integer);
    case Base::kDType:
    case Base::kLayout:
    case Base::kMemoryFormat:
      return static_cast<uint64_t>(arg.integer);
    case Base::kScalar:
    case Base::kGenerator:
    case Base::kOther:
      break;
  }
  CHECK(false, "schema type {} reached a call", static_cast<int>(type.base));
}

}  // namespace jumar::runtime::torch
