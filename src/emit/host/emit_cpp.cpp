#include "emit/host/emit_cpp.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "emit/host/cpp_body.h"

namespace jumar::emit::host {
namespace {

constexpr size_t kUsualDims = 8;  // kMostDims of the wrapper, unless a program asks for more

// Steps that have no C++ form.
Status refusal(const runtime::Code& code) {
  std::vector<std::string> reasons;
  for (size_t k = 0; k < code.plan.steps.size(); ++k)
    if (const auto* python = std::get_if<plan::PythonStep>(&code.plan.steps[k].data))
      reasons.push_back(
          fmt::format("step {} calls Python function {}{}", k, python->callable,
                      code.plan.steps[k].origin.empty() ? "" : ": " + code.plan.steps[k].origin));
  for (const auto& called : code.host_called)
    reasons.push_back(
        fmt::format("only Python can call {} (step {}): {}", called.op, called.step, called.reason));
  for (const runtime::EntryCode& entry : code.entries)
    if (entry.binding.of_cores())
      reasons.push_back(fmt::format("it takes {} of a device", plan::place_text(code.plan, entry.binding)));
  if (reasons.empty()) return {};
  Diagnostic error = diagnostic("wrapper", "the plan has no C++ form: {}", reasons.front());
  error.notes.assign(reasons.begin() + 1, reasons.end());
  return error;
}

// "bert_base" -> BertBaseProgram
std::string class_name(std::string_view name) {
  std::string out;
  bool starts = true;
  for (const char c : name) {
    if (c != '_') out += starts ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    starts = c == '_';
  }
  return out + "Program";
}

size_t most_dims(const plan::Plan& plan) {
  size_t most = kUsualDims;
  for (const plan::Tensor& tensor : plan.tensors) most = std::max(most, tensor.type.rank());
  return most;
}

class File {
 public:
  File(const runtime::Code& code, const CppOptions& options, const CppBody& body, std::string name)
      : code_(code), options_(options), body_(body), name_(std::move(name)), class_(class_name(name_)) {}

  std::string text() {
    head();
    kernels();
    operators();
    out_ += fmt::format("struct {} : Program<Operators> {{\n  using Program::Program;\n\n  void run() {{\n",
                        class_);
    out_ += body_.text();
    out_ += "  }\n};\n\n";
    tables();
    out_ += "}  // namespace\n\n";
    entry();
    return std::move(out_);
  }

 private:
  void line(const std::string& text) { out_ += cpp_wrapped(text) + "\n"; }

  void head() {
    line(fmt::format(
        "// One call of {}, in order. Written by Jumar from a plan; read with docs/cpp-wrapper.md.", name_));
    if (const size_t most = most_dims(code_.plan); most > kUsualDims)
      out_ += fmt::format("#define JUMAR_WRAPPER_MOST_DIMS {}\n", most);
    out_ += "#include \"wrapper.h\"\n\n";
  }

  void kernels() {
    const auto& kernels = body_.declarations().kernels;
    auto symbol = [this](const std::string& kernel) {
      return options_.kernel_symbol ? options_.kernel_symbol(kernel) : cpp_identifier(kernel);
    };
    if (!kernels.empty()) out_ += "// Compiled code; each function does units [begin, end) of a loop.\n";
    for (const auto& [kernel, identifier] : kernels)
      line(fmt::format("extern \"C\" jumar::wrapper::KernelFunction {};", symbol(kernel)));
    out_ += fmt::format("{}namespace {{\n\nusing namespace jumar::wrapper;\n\n", kernels.empty() ? "" : "\n");
    for (const auto& [kernel, identifier] : kernels)
      line(fmt::format("constexpr Kernel {}{{{}, {}}};", identifier, cpp_string(kernel), symbol(kernel)));
    if (!kernels.empty()) out_ += "\n";
  }

  void operators() {
    const std::vector<std::string>& operators = body_.declarations().operators;
    if (operators.empty()) {
      out_ += "struct Operators {};\n\n";
      return;
    }
    out_ += "// Operators of libtorch that are called.\nstruct Operators {\n";
    for (const std::string& declaration : operators) line("  " + declaration);
    out_ += "};\n\n";
  }

  void tables() {
    const CppDeclarations& declarations = body_.declarations();
    const size_t user_inputs = code_.inputs.size() - options_.weights.size();
    if (user_inputs > 0) out_ += "constexpr InputInfo kInputs[] = {\n";
    for (size_t k = 0; k < user_inputs; ++k) line("    " + input_row(code_.inputs[k]) + ",");
    if (user_inputs > 0) out_ += "};\n";
    if (!options_.weights.empty())
      out_ += "// Names, with place and length in the file of weights.\nconstexpr Weight kWeights[] = {\n";
    for (const CppWeight& weight : options_.weights)
      line(fmt::format("    {{{}, {}, {}}},", cpp_string(weight.name), weight.offset_bytes, weight.bytes));
    if (!options_.weights.empty()) out_ += "};\n";
    std::vector<std::string> names;
    for (const std::string& tensor : declarations.tensors) names.push_back(cpp_string(tensor));
    if (!names.empty()) {
      out_ += "// For messages: the plan's names of tensors, in the order in which they appear above.\n";
      line(fmt::format("constexpr const char* kTensors[] = {{{}}};", fmt::join(names, ", ")));
    }
    const bool updates_weights = std::ranges::any_of(
        options_.updates, [&](const auto& update) { return update.second >= user_inputs; });
    line(fmt::format("constexpr ProgramInfo kProgram{{{}, {}, {}, {}, {}, {}, {}, {}, {}}};",
                     user_inputs > 0 ? "kInputs" : "nullptr", user_inputs, declarations.output_count,
                     names.empty() ? "nullptr" : "kTensors", names.size(),
                     options_.weights.empty() ? "nullptr" : "kWeights", options_.weights.size(),
                     options_.weights_bytes, updates_weights));
    line(fmt::format("using {}Model = Model<{}, Operators>;", class_, class_));
    out_ += "\n";
  }

  std::string input_row(const runtime::InputCode& input) const {
    const std::string name = cpp_string(input.name);
    switch (input.kind) {
      case runtime::InputValue::Kind::kInt:
        return fmt::format("int_input({})", name);
      case runtime::InputValue::Kind::kFloat:
        return fmt::format("float_input({})", name);
      case runtime::InputValue::Kind::kBool:
        return fmt::format("bool_input({})", name);
      case runtime::InputValue::Kind::kTensor:
        break;
    }
    const runtime::TensorCode& t = code_.tensors[input.index];
    return fmt::format("tensor_input({}, {}, {}, {})", name, cpp_dtype(t.dtype), t.rank,
                       cpp_string(input.type));
  }

  void entry() {
    const std::string model = class_ + "Model";
    out_ += "// Inputs are borrowed, results are the caller's; a message ends up in `error`.\n";
    out_ += fmt::format(
        "JUMAR_WRAPPER_EXPORT void* {0}_open(const char* weights_file, char* error, size_t error_bytes) {{\n"
        "  MessageBuffer message{{error, error_bytes}};\n"
        "  return open_model<{1}>(kProgram, nullptr, weights_file, message.sink());\n"
        "}}\n\n"
        "JUMAR_WRAPPER_EXPORT int32_t {0}_run(void* model, const Value* inputs, size_t input_count, Value* "
        "outputs,\n"
        "{2}size_t output_count, char* error, size_t error_bytes) {{\n"
        "  MessageBuffer message{{error, error_bytes}};\n"
        "  return run_model(*static_cast<{1}*>(model), inputs, input_count, outputs, output_count,\n"
        "                   message.sink());\n"
        "}}\n\n"
        "JUMAR_WRAPPER_EXPORT void {0}_close(void* model) {{ delete static_cast<{1}*>(model); }}\n\n"
        "// The same for Jumar itself.\n"
        "JUMAR_WRAPPER_EXPORT const Entry {0}_entry;\n"
        "const Entry {0}_entry = entry_of<{1}, kProgram>();\n",
        name_, model, std::string(name_.size() + 34, ' '));
  }

  const runtime::Code& code_;
  const CppOptions& options_;
  const CppBody& body_;
  const std::string name_;
  const std::string class_;
  std::string out_;
};

std::string input_text(const runtime::InputCode& input) {
  switch (input.kind) {
    case runtime::InputValue::Kind::kInt:
      return "integer";
    case runtime::InputValue::Kind::kFloat:
      return "number";
    case runtime::InputValue::Kind::kBool:
      return "integer, 0 or 1";
    case runtime::InputValue::Kind::kTensor:
      break;
  }
  return input.type;
}

std::string output_text(const plan::Plan& plan, const plan::Arg& output) {
  if (const auto* tensor = output.as<plan::TensorId>())
    return ir::text(plan.cx(), plan.tensors[*tensor].type);
  if (const auto* e = output.as<sym::Expr>()) return "integer " + sym::text(*e);
  const auto* number = output.as<plan::NumberId>();
  const bool is_bool = output.as<bool>() || (number && plan.numbers[*number].kind == plan::NumberKind::kBool);
  if (is_bool) return "integer, 0 or 1";
  return output.is_none() ? "nothing" : "number";
}

// The exported functions for C, with what each input and result is.
std::string header(const runtime::Code& code, const CppOptions& options, const std::string& name) {
  std::string values;
  for (size_t k = 0; k + options.weights.size() < code.inputs.size(); ++k)
    values += fmt::format(" *   inputs[{}]   %{}: {}\n", k, code.inputs[k].name, input_text(code.inputs[k]));
  size_t count = 0;
  for (size_t k = 0; k < code.plan.outputs.size(); ++k)
    if (!options.updates.contains(static_cast<uint32_t>(k)))
      values += fmt::format(" *   outputs[{}]  {}\n", count++, output_text(code.plan, code.plan.outputs[k]));
  constexpr std::string_view kForm =
      R"(/* The functions that lib{0}.so exports. Tensors are libtorch's AtenTensorHandle.
 *
{1} *
 * Inputs are borrowed, results are the caller's. A model may be run by several threads at once. Functions
 * that fail write a message to `error`, which may be NULL. */
#ifndef {2}_MODEL_H_
#define {2}_MODEL_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {{
#endif

typedef union {0}_value {{
  void* tensor;
  int64_t integer;
  double number;
}} {0}_value;

/* `weights_file` NULL: weights.bin beside the library. NULL after a failure. */
void* {0}_open(const char* weights_file, char* error, size_t error_bytes);
/* 0 for success. */
int32_t {0}_run(void* model, const {0}_value* inputs, size_t input_count,
                {0}_value* outputs, size_t output_count, char* error, size_t error_bytes);
void {0}_close(void* model);

#ifdef __cplusplus
}}
#endif
#endif
)";
  std::string upper = name;
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return fmt::format(fmt::runtime(kForm), name, values, upper);
}

}  // namespace

Result<CppSource> emit_cpp(plan::Plan plan, const CppOptions& options) {
  JUMAR_ASSIGN(const std::unique_ptr<runtime::Code> code, runtime::described(std::move(plan)));
  JUMAR_RETURN_IF_ERROR(refusal(*code));
  const std::string name = cpp_identifier(options.name.empty() ? code->plan.name : options.name);
  CppBody body(*code, options);
  JUMAR_RETURN_IF_ERROR(body.write());
  File file(*code, options, body, name);
  return CppSource{name, file.text(), header(*code, options, name)};
}

}  // namespace jumar::emit::host
