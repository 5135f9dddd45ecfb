// The C API: running a program.
#include <deque>
#include <string>
#include <vector>

#include "driver/c_api/error.h"
#include "driver/c_api/program.h"
#include "jumar/jumar.h"
#include "runtime/dlpack.h"
#include "runtime/executor.h"

namespace driver = jumar::driver;
namespace runtime = jumar::runtime;
using runtime::HostArg;
using runtime::InputValue;
using runtime::Output;

struct jumar_host_results {
  runtime::HostResults* results;
  std::string problem;  // what the host gave that cannot be taken
};

namespace {

bool converted(const jumar_tensor& from, runtime::TensorView& to) {
  const auto dtype = runtime::dtype_from_dl({from.dtype_code, from.dtype_bits, 1});
  if (!dtype) return false;
  to.data = from.data;
  to.dtype = *dtype;
  to.rank = from.rank;
  to.sizes = from.sizes;
  to.strides = from.strides;
  to.device_type = from.device_type;
  return true;
}

jumar_tensor converted(const runtime::TensorView& from) {
  const DLDataType dtype = runtime::dl_dtype(from.dtype);
  return {from.data, from.sizes, from.strides, from.rank, from.device_type, dtype.code, dtype.bits};
}

// Fails with a message about input `index`.
jumar_error* converted(const jumar_value& from, size_t index, InputValue& to) {
  switch (from.kind) {
    case JUMAR_TENSOR:
      to.kind = InputValue::Kind::kTensor;
      to.host = from.object;
      if (converted(from.tensor, to.tensor)) return nullptr;
      return driver::new_error(JUMAR_ERROR_INPUT, "input",
                               fmt::format("input {} has an element type that Jumar does not have", index));
    case JUMAR_INT:
      to.kind = InputValue::Kind::kInt;
      to.integer = from.integer;
      return nullptr;
    case JUMAR_FLOAT:
      to.kind = InputValue::Kind::kFloat;
      to.number = from.number;
      return nullptr;
    case JUMAR_BOOL:
      to.kind = InputValue::Kind::kBool;
      to.integer = from.integer;
      return nullptr;
    default:
      return driver::new_error(JUMAR_ERROR_INPUT, "input",
                               fmt::format("input {} is neither a tensor nor a number", index));
  }
}

// Arguments of a call in the C API's form. Lists live as long as the object.
class ArgBuffer {
 public:
  const std::vector<jumar_arg>& add(const std::vector<HostArg>& args) {
    return add(std::span<const HostArg>(args));
  }
  const std::vector<jumar_arg>& add(std::span<const HostArg> args) {
    std::vector<jumar_arg>& out = lists_.emplace_back();
    out.reserve(args.size());
    for (const HostArg& arg : args) out.push_back(converted(arg));
    return out;
  }

 private:
  static jumar_kind kind_of(HostArg::Kind kind) {
    switch (kind) {
      case HostArg::Kind::kNone:
        return JUMAR_NONE;
      case HostArg::Kind::kTensor:
        return JUMAR_TENSOR;
      case HostArg::Kind::kInt:
        return JUMAR_INT;
      case HostArg::Kind::kFloat:
        return JUMAR_FLOAT;
      case HostArg::Kind::kBool:
        return JUMAR_BOOL;
      case HostArg::Kind::kString:
        return JUMAR_STRING;
      case HostArg::Kind::kWord:
        return JUMAR_WORD;
      case HostArg::Kind::kList:
        return JUMAR_LIST;
    }
    CHECK(false, "argument kind {}", static_cast<int>(kind));
  }

  jumar_arg converted(const HostArg& arg) {
    jumar_arg out{};
    out.kind = kind_of(arg.kind);
    out.word = static_cast<jumar_word_kind>(arg.word);
    out.integer = arg.integer;
    out.number = arg.number;
    out.text = arg.text.data();
    out.text_length = arg.text.size();
    if (arg.kind == HostArg::Kind::kTensor) {
      out.tensor = ::converted(arg.tensor);
      out.object = arg.host;
      out.torch_tensor = arg.handle;
    }
    if (arg.kind == HostArg::Kind::kList) {
      const std::vector<jumar_arg>& items = add(arg.items);
      out.items = items.data();
      out.item_count = items.size();
    }
    return out;
  }

  std::deque<std::vector<jumar_arg>> lists_;
};

// The runtime's view of a jumar_host.
class HostAdapter : public runtime::HostCalls {
 public:
  explicit HostAdapter(const jumar_host& host) : host_(host) {}

  bool call_python(uint32_t callable, std::span<const HostArg> args, runtime::HostResults& results) override {
    if (host_.call_python == nullptr) return refuse("the host makes no Python calls");
    ArgBuffer buffer;
    const std::vector<jumar_arg>& converted = buffer.add(args);
    jumar_host_results out{&results, {}};
    if (host_.call_python(host_.user, callable, converted.data(), converted.size(), &out) != 0) return false;
    return out.problem.empty() || refuse(out.problem);
  }

  bool call_op(const std::string& op, const jumar::plan::Schema&, std::span<const HostArg> args,
               runtime::HostResults& results) override {
    if (host_.call_op == nullptr) return refuse("the host calls no operators");
    ArgBuffer buffer;
    const std::vector<jumar_arg>& converted = buffer.add(args);
    jumar_host_results out{&results, {}};
    if (host_.call_op(host_.user, op.c_str(), converted.data(), converted.size(), &out) != 0) return false;
    return out.problem.empty() || refuse(out.problem);
  }

  // Why a call failed, when it was not the host that refused.
  const std::string& problem() const { return problem_; }

 private:
  bool refuse(std::string problem) {
    problem_ = std::move(problem);
    return false;
  }

  const jumar_host& host_;
  std::string problem_;
};

jumar_output_kind kind_of(Output::Kind kind) {
  switch (kind) {
    case Output::Kind::kNone:
      return JUMAR_OUTPUT_NONE;
    case Output::Kind::kInt:
      return JUMAR_OUTPUT_INT;
    case Output::Kind::kFloat:
      return JUMAR_OUTPUT_FLOAT;
    case Output::Kind::kBool:
      return JUMAR_OUTPUT_BOOL;
    case Output::Kind::kTensor:
      return JUMAR_OUTPUT_TORCH;
    case Output::Kind::kManaged:
      return JUMAR_OUTPUT_MANAGED;
    case Output::Kind::kAlias:
      return JUMAR_OUTPUT_ALIAS;
  }
  return JUMAR_OUTPUT_NONE;
}

}  // namespace

void jumar_host_results_add_tensor(jumar_host_results* results, const jumar_tensor* tensor, void* object,
                                   void (*release)(void* object)) {
  runtime::HostTensor& out = results->results->tensors.emplace_back();
  out.host = {object, release};
  if (!converted(*tensor, out.view))
    results->problem = "a result has an element type that Jumar does not have";
}

void jumar_host_results_add_none(jumar_host_results* results) { results->results->tensors.emplace_back(); }

void jumar_host_results_add_int(jumar_host_results* results, int64_t value) {
  results->results->ints.push_back(value);
}

jumar_error* jumar_program_run(const jumar_program* program, const jumar_value* inputs, size_t input_count,
                               const jumar_host* host, jumar_results** results) {
  return driver::guarded([&]() -> jumar_error* {
    const driver::CompiledGraph& graph = program->graph();
    std::unique_ptr<jumar_results> out = program->shared->results.take();
    if (!out) out = std::make_unique<jumar_results>();
    out->inputs.resize(input_count);
    for (size_t k = 0; k < input_count; ++k) {
      if (jumar_error* error = converted(inputs[k], k, out->inputs[k])) return error;
    }
    out->outputs.resize(graph.output_count());
    const jumar_host none{};
    HostAdapter adapter(host != nullptr ? *host : none);
    const std::optional<runtime::RunError> error =
        graph.run(out->inputs, out->outputs, host != nullptr ? &adapter : nullptr);
    if (error && !adapter.problem().empty()) {
      return driver::new_error(JUMAR_ERROR_RESULT, "run", adapter.problem());
    }
    if (error) return driver::new_error(*error);
    out->shared = program->shared;
    *results = out.release();
    return nullptr;
  });
}

size_t jumar_results_count(const jumar_results* results) { return results->outputs.size(); }

void jumar_results_get(const jumar_results* results, size_t index, jumar_output* output) {
  const Output& from = results->outputs[index];
  const DLDataType dtype = runtime::dl_dtype(from.dtype);
  *output = jumar_output{};
  output->kind = kind_of(from.kind);
  output->integer = from.integer;
  output->number = from.number;
  output->torch_tensor = from.tensor.get();
  output->managed = from.managed;
  output->input = from.input ? static_cast<int64_t>(*from.input) : -1;
  output->object = from.host.object;
  output->whole = from.whole ? 1 : 0;
  output->rank = static_cast<int32_t>(from.sizes.size());
  output->offset = from.offset;
  output->sizes = from.sizes.data();
  output->strides = from.strides.data();
  output->dtype_code = dtype.code;
  output->dtype_bits = dtype.bits;
}

DLManagedTensorVersioned* jumar_results_take_managed(jumar_results* results, size_t index) {
  return std::exchange(results->outputs[index].managed, nullptr);
}

void* jumar_results_take_torch(jumar_results* results, size_t index) {
  return results->outputs[index].tensor.release();
}

void jumar_results_free(jumar_results* results) {
  if (results == nullptr) return;
  const std::shared_ptr<jumar_shared_program> shared = std::move(results->shared);
  for (Output& output : results->outputs) output.drop();
  shared->results.give(std::unique_ptr<jumar_results>(results));
}
