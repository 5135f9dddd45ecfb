#include "import/exported_argument.h"

#include "import/srepr.h"

namespace jumar::import {
namespace {

using ir::DType;
using ir::WordArg;
using sym::Expr;
using List = Argument::List;

struct DTypeRow {
  int64_t code;
  DType dtype;
};
constexpr DTypeRow kDTypes[] = {
    {1, DType::kU8},          {2, DType::kI8},          {3, DType::kI16},       {4, DType::kI32},
    {5, DType::kI64},         {6, DType::kF16},         {7, DType::kF32},       {8, DType::kF64},
    {9, DType::kC32},         {10, DType::kC64},        {11, DType::kC128},     {12, DType::kBool},
    {13, DType::kBF16},       {28, DType::kU16},        {29, DType::kF8E4M3FN}, {30, DType::kF8E5M2},
    {31, DType::kF8E4M3FNUZ}, {32, DType::kF8E5M2FNUZ},
};

struct WordRow {
  int64_t code;
  std::string_view word;
};
constexpr WordRow kMemoryFormats[] = {
    {1, "contiguous"}, {2, "channels_last"}, {3, "channels_last_3d"}, {4, "preserve"}};
constexpr WordRow kLayouts[] = {{1, "sparse_coo"}, {2, "sparse_csr"}, {7, "strided"}};
constexpr int64_t kStrided = 7;

template <size_t n>
Result<Argument> word(const WordRow (&rows)[n], WordArg::Kind kind, std::string_view what,
                      const JsonValue& value) {
  JUMAR_ASSIGN(const int64_t code, value.integer());
  for (const WordRow& row : rows) {
    if (row.code == code) return Argument(WordArg{kind, std::string(row.word)});
  }
  return value.error("{} {} is not known", what, code);
}

Result<DType> read_dtype(const JsonValue& value) {
  JUMAR_ASSIGN(const int64_t code, value.integer());
  if (const std::optional<DType> dtype = dtype_from_export(code)) return *dtype;
  return value.error("element type {} is not known", code);
}

Result<std::string> named(const JsonValue& value) {
  JUMAR_ASSIGN(const JsonValue name, value.get("name"));
  return name.string();
}

Result<Argument> tensor(const JsonValue& value) {
  JUMAR_ASSIGN(std::string name, named(value));
  return Argument(TensorName{std::move(name)});
}

Result<Argument> device(const JsonValue& value) {
  JUMAR_ASSIGN(const JsonValue type_value, value.get("type"));
  JUMAR_ASSIGN(const std::string type, type_value.string());
  return Argument(WordArg{WordArg::Kind::kDevice, type});
}

Result<Argument> text(const JsonValue& value) {
  JUMAR_ASSIGN(std::string out, value.string());
  return Argument(std::move(out));
}

Result<Argument> truth(const JsonValue& value) {
  JUMAR_ASSIGN(const bool out, value.boolean());
  return Argument(out);
}

Result<Argument> number(const JsonValue& value) {
  JUMAR_ASSIGN(const double out, value.number());
  return Argument(out);
}

template <class ReadItem>
Result<Argument> list(const JsonValue& value, ReadItem&& read_item) {
  JUMAR_ASSIGN(const std::vector<JsonValue> items, value.array());
  List out;
  for (const JsonValue& item : items) {
    JUMAR_ASSIGN(Argument arg, read_item(item));
    out.push_back(std::move(arg));
  }
  return Argument(std::move(out));
}

// A name or a number: {"as_name": "sym_size_int"}, {"as_int": 3}.
Result<Argument> symbolic(sym::Context& cx, const JsonValue& value) {
  JUMAR_ASSIGN(const auto member, value.only_member());
  const auto& [kind, inside] = member;
  if (kind == "as_name") {
    JUMAR_ASSIGN(std::string name, inside.string());
    return Argument(NumberName{std::move(name)});
  }
  if (kind == "as_int") {
    JUMAR_ASSIGN(const int64_t constant, inside.integer());
    return Argument(cx.constant(constant));
  }
  if (kind == "as_float") return number(inside);
  if (kind == "as_bool") return truth(inside);
  return value.error("a number of the unknown kind {}", kind);
}

Result<Argument> optional_tensor(const JsonValue& value) {
  JUMAR_ASSIGN(const auto member, value.only_member());
  if (member.first == "as_none") return Argument();
  if (member.first == "as_tensor") return tensor(member.second);
  return value.error("an optional tensor of the unknown kind {}", member.first);
}

Result<Argument> integer(sym::Context& cx, const JsonValue& value) {
  JUMAR_ASSIGN(const int64_t constant, value.integer());
  return Argument(cx.constant(constant));
}

Status check_storage(const JsonValue& value, const TensorMeta& meta) {
  JUMAR_ASSIGN(const JsonValue layout_value, value.get("layout"));
  JUMAR_ASSIGN(const int64_t layout, layout_value.integer());
  if (layout != kStrided)
    return layout_value.error("a tensor of layout {} is not supported, only strided ones", layout);
  JUMAR_ASSIGN(const JsonValue device_value, value.get("device"));
  JUMAR_ASSIGN(const Argument where, device(device_value));
  const std::string& name = where.as<WordArg>()->word;
  if (name != "cpu") return device_value.error("a tensor on device {} is not supported, only on cpu", name);
  // Products of sizes must fit 64 bits, in bytes, wherever they are all known.
  int64_t bytes = ir::dtype_bytes(meta.type.dtype);
  for (const Expr size : meta.type.sizes) {
    const std::optional<int64_t> constant = size.as_const();
    if (constant && *constant < 0) return value.error("a size is negative: {}", *constant);
    if (constant && *constant > 0 && __builtin_mul_overflow(bytes, *constant, &bytes))
      return value.error("a tensor of more than 2**63 bytes");
  }
  for (const Expr stride : meta.type.strides) {
    if (stride.is_const() && stride.const_value() < 0)
      return value.error("a stride is negative: {}", stride.const_value());
  }
  return {};
}

}  // namespace

std::optional<DType> dtype_from_export(int64_t code) {
  for (const DTypeRow& row : kDTypes) {
    if (row.code == code) return row.dtype;
  }
  return std::nullopt;
}

Result<Expr> read_size(sym::Context& cx, const JsonValue& value, std::map<std::string, int64_t>& hints) {
  JUMAR_ASSIGN(const auto member, value.only_member());
  const auto& [kind, inside] = member;
  if (kind == "as_int") {
    JUMAR_ASSIGN(const int64_t constant, inside.integer());
    return cx.constant(constant);
  }
  if (kind != "as_expr") return value.error("a size of the unknown kind {}", kind);
  JUMAR_ASSIGN(const JsonValue text_value, inside.get("expr_str"));
  JUMAR_ASSIGN(const std::string text, text_value.string());
  Result<Expr> e = read_srepr(cx, text);
  if (!e.ok()) return text_value.error("{}", e.error().message);
  if (!inside.has("hint") || !e->is_symbol()) return e;
  JUMAR_ASSIGN(const JsonValue hint, inside.get("hint"));
  if (!hint.has("as_int")) return e;
  JUMAR_ASSIGN(const JsonValue hint_value, hint.get("as_int"));
  JUMAR_ASSIGN(const int64_t seen, hint_value.integer());
  hints.emplace(e->symbol_name(), seen);
  return e;
}

Result<Expr> read_truth(sym::Context& cx, const JsonValue& value) {
  JUMAR_ASSIGN(const auto member, value.only_member());
  const auto& [kind, inside] = member;
  if (kind == "as_bool") {
    JUMAR_ASSIGN(const bool constant, inside.boolean());
    return cx.constant(constant ? 1 : 0);
  }
  if (kind != "as_expr") return value.error("a bool of the unknown kind {}", kind);
  JUMAR_ASSIGN(const JsonValue text_value, inside.get("expr_str"));
  JUMAR_ASSIGN(const std::string text, text_value.string());
  const Result<Expr> e = read_srepr(cx, text);
  return e.ok() ? *e : Expr();
}

Result<TensorMeta> read_tensor_meta(sym::Context& cx, const JsonValue& value,
                                    std::map<std::string, int64_t>& hints) {
  TensorMeta out;
  JUMAR_ASSIGN(const JsonValue dtype, value.get("dtype"));
  JUMAR_ASSIGN(out.type.dtype, read_dtype(dtype));
  for (const bool strides : {false, true}) {
    JUMAR_ASSIGN(const JsonValue list_value, value.get(strides ? "strides" : "sizes"));
    JUMAR_ASSIGN(const std::vector<JsonValue> items, list_value.array());
    for (const JsonValue& item : items) {
      JUMAR_ASSIGN(const Expr e, read_size(cx, item, hints));
      (strides ? out.type.strides : out.type.sizes).push_back(e);
    }
  }
  if (out.type.strides.size() != out.type.sizes.size())
    return value.error("{} strides for {} sizes", out.type.strides.size(), out.type.sizes.size());
  JUMAR_ASSIGN(const JsonValue offset, value.get("storage_offset"));
  JUMAR_ASSIGN(out.storage_offset, read_size(cx, offset, hints));
  JUMAR_RETURN_IF_ERROR(check_storage(value, out));
  return out;
}

Result<Argument> ArgumentReader::argument(const JsonValue& value) {
  JUMAR_ASSIGN(const auto member, value.only_member());
  return of_kind(member.first, member.second);
}

Result<Argument> ArgumentReader::of_kind(const std::string& kind, const JsonValue& value) {
  const auto one_symbolic = [this](const JsonValue& v) { return symbolic(cx_, v); };
  const auto one_integer = [this](const JsonValue& v) { return integer(cx_, v); };
  if (kind == "as_none") return Argument();
  if (kind == "as_tensor") return tensor(value);
  if (kind == "as_tensors") return list(value, tensor);
  if (kind == "as_optional_tensor") return optional_tensor(value);
  if (kind == "as_optional_tensors") return list(value, optional_tensor);
  if (kind == "as_int") return integer(cx_, value);
  if (kind == "as_ints") return list(value, one_integer);
  if (kind == "as_float") return number(value);
  if (kind == "as_floats") return list(value, number);
  if (kind == "as_bool") return truth(value);
  if (kind == "as_bools") return list(value, truth);
  if (kind == "as_string") return text(value);
  if (kind == "as_strings") return list(value, text);
  if (kind == "as_sym_int" || kind == "as_sym_float" || kind == "as_sym_bool") return symbolic(cx_, value);
  if (kind == "as_sym_ints" || kind == "as_sym_floats" || kind == "as_sym_bools")
    return list(value, one_symbolic);
  if (kind == "as_device") return device(value);
  if (kind == "as_memory_format")
    return word(kMemoryFormats, WordArg::Kind::kMemoryFormat, "memory format", value);
  if (kind == "as_layout") return word(kLayouts, WordArg::Kind::kLayout, "layout", value);
  if (kind == "as_scalar_type") {
    JUMAR_ASSIGN(const DType dtype, read_dtype(value));
    return Argument(WordArg{WordArg::Kind::kDType, std::string(ir::dtype_name(dtype))});
  }
  if (kind == "as_nested_tensors") return list(value, [](const JsonValue& v) { return list(v, tensor); });
  if (kind == "as_int_lists") {
    return list(value, [&](const JsonValue& v) { return list(v, one_integer); });
  }
  if (kind == "as_graph") {
    JUMAR_ASSIGN(std::string name, named(value));
    JUMAR_ASSIGN(const JsonValue inside, value.get("graph"));
    JUMAR_ASSIGN(ExportedGraph graph, read_graph_(inside));
    return Argument(Subgraph{std::move(name), std::make_shared<const ExportedGraph>(std::move(graph))});
  }
  return Argument(Opaque{kind});
}

namespace {

struct InputRow {
  std::string_view kind;
  InputRole role;
  std::string_view target;  // the member that names what the input holds
};
constexpr InputRow kInputs[] = {
    {"user_input", InputRole::kUser, ""},
    {"parameter", InputRole::kParameter, "parameter_name"},
    {"buffer", InputRole::kBuffer, "buffer_name"},
    {"tensor_constant", InputRole::kTensorConstant, "tensor_constant_name"},
    {"constant_input", InputRole::kConstant, "name"},
    {"custom_obj", InputRole::kCustomObject, "custom_obj_name"},
    {"token", InputRole::kToken, ""},
};

struct OutputRow {
  std::string_view kind;
  OutputRole role;
  std::string_view target;
};
constexpr OutputRow kOutputs[] = {
    {"user_output", OutputRole::kUser, ""},
    {"loss_output", OutputRole::kUser, ""},
    {"buffer_mutation", OutputRole::kBufferMutation, "buffer_name"},
    {"parameter_mutation", OutputRole::kParameterMutation, "parameter_name"},
    {"user_input_mutation", OutputRole::kUserInputMutation, "user_input_name"},
    {"gradient_to_parameter", OutputRole::kGradient, "parameter_name"},
    {"gradient_to_user_input", OutputRole::kGradient, "user_input_name"},
    {"token", OutputRole::kToken, ""},
};

Result<std::string> target_name(const JsonValue& value, std::string_view key) {
  if (key.empty()) return std::string();
  JUMAR_ASSIGN(const JsonValue name, value.get(key));
  return name.string();
}

Result<ExportedGraph> no_graph(const JsonValue& value) { return value.error("a graph is no value"); }

// `arg` of a signature's line: a union of a user's value, else only a name.
Result<Argument> spec_value(sym::Context& cx, const JsonValue& value, bool is_union) {
  JUMAR_ASSIGN(const JsonValue arg, value.get("arg"));
  if (!is_union) return tensor(arg);
  ArgumentReader reader(cx, no_graph);
  return reader.argument(arg);
}

}  // namespace

Result<InputSpec> read_input_spec(sym::Context& cx, const JsonValue& value) {
  JUMAR_ASSIGN(const auto member, value.only_member());
  for (const InputRow& row : kInputs) {
    if (row.kind != member.first) continue;
    InputSpec out;
    out.role = row.role;
    JUMAR_ASSIGN(out.target, target_name(member.second, row.target));
    if (row.role != InputRole::kConstant) {
      JUMAR_ASSIGN(out.value, spec_value(cx, member.second, row.role == InputRole::kUser));
      return out;
    }
    ArgumentReader reader(cx, no_graph);
    JUMAR_ASSIGN(const JsonValue constant, member.second.get("value"));
    JUMAR_ASSIGN(out.value, reader.argument(constant));
    return out;
  }
  return value.error("an input of the unknown kind {}", member.first);
}

Result<OutputSpec> read_output_spec(sym::Context& cx, const JsonValue& value) {
  JUMAR_ASSIGN(const auto member, value.only_member());
  for (const OutputRow& row : kOutputs) {
    if (row.kind != member.first) continue;
    OutputSpec out;
    out.role = row.role;
    JUMAR_ASSIGN(out.target, target_name(member.second, row.target));
    JUMAR_ASSIGN(out.value, spec_value(cx, member.second, row.kind == "user_output"));
    return out;
  }
  return value.error("an output of the unknown kind {}", member.first);
}

}  // namespace jumar::import
