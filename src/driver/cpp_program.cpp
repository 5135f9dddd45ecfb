#include "driver/cpp_program.h"

#include <dlfcn.h>

#include <cstdlib>
#include <vector>

#include "driver/build_id.h"
#include "driver/cxx_compiler.h"
#include "emit/host/emit_cpp.h"
#include "emit/host/wrapper/abi.h"
#include "emit/host/wrapper_header.h"
#include "runtime/memory.h"
#include "runtime/torch/c_api.h"
#include "support/files.h"

namespace jumar::driver {
namespace {

using runtime::InputValue;
using runtime::Output;
using runtime::RunError;
using wrapper::FailureKind;
using wrapper::ValueKind;

constexpr std::string_view kStoreKind = "wrapper";

RunError::Kind kind_of(FailureKind kind) {
  switch (kind) {
    case FailureKind::kInput:
      return RunError::Kind::kInput;
    case FailureKind::kIndex:
      return RunError::Kind::kIndex;
    case FailureKind::kCheck:
      return RunError::Kind::kCheck;
    case FailureKind::kNumber:
      return RunError::Kind::kNumber;
    case FailureKind::kOpFailed:
      return RunError::Kind::kOpFailed;
    case FailureKind::kOpResult:
      return RunError::Kind::kOpResult;
    case FailureKind::kMemory:
      return RunError::Kind::kMemory;
  }
  return RunError::Kind::kMemory;
}

void report_failure(void* context, FailureKind kind, const char* message) {
  *static_cast<std::optional<RunError>*>(context) = RunError{kind_of(kind), message, std::nullopt};
}

// The functions of wrapper::Services; their context is the engine.
const runtime::Engine& engine_of(void* context) { return *static_cast<const runtime::Engine*>(context); }

void* take_block(void* context, int64_t bytes, void** token) {
  runtime::Block block = engine_of(context).pool->take(bytes);
  if (!block) return nullptr;
  auto owner = std::make_unique<runtime::Block>(std::move(block));
  void* data = owner->data();
  *token = owner.release();
  return data;
}

void give_block(void* token) { delete static_cast<runtime::Block*>(token); }

wrapper::Handle large_output(void* context, int32_t dtype, int64_t rank, const int64_t* sizes,
                             const int64_t* strides, int64_t bytes) {
  const std::optional<ir::DType> type = ir::dtype_from_c10(dtype);
  if (!type) return nullptr;
  runtime::torch::Tensor tensor =
      runtime::fresh_tensor(engine_of(context), *type, rank, sizes, strides, bytes);
  return reinterpret_cast<wrapper::Handle>(tensor.release());
}

void convert(const InputValue& from, wrapper::Input& to) {
  to.integer = from.integer;
  to.number = from.number;
  switch (from.kind) {
    case InputValue::Kind::kTensor:
      to.kind = ValueKind::kTensor;
      to.dtype = ir::c10_code(from.tensor.dtype);
      to.device = from.tensor.device_type;
      to.rank = from.tensor.rank;
      to.data = from.tensor.data;
      to.sizes = from.tensor.sizes;
      to.strides = from.tensor.strides;
      return;
    case InputValue::Kind::kInt:
      to.kind = ValueKind::kInt;
      return;
    case InputValue::Kind::kFloat:
      to.kind = ValueKind::kFloat;
      return;
    case InputValue::Kind::kBool:
      to.kind = ValueKind::kBool;
      return;
  }
}

void convert(wrapper::Output& from, const runtime::torch::Api& api, Output& to) {
  switch (from.kind) {
    case ValueKind::kNone:
      return;
    case ValueKind::kInt:
      to.kind = Output::Kind::kInt;
      to.integer = from.integer;
      return;
    case ValueKind::kBool:
      to.kind = Output::Kind::kBool;
      to.integer = from.integer;
      return;
    case ValueKind::kFloat:
      to.kind = Output::Kind::kFloat;
      to.number = from.number;
      return;
    case ValueKind::kTensor:
      to.kind = Output::Kind::kTensor;
      to.tensor = runtime::torch::Tensor(api, reinterpret_cast<runtime::torch::Handle>(from.tensor));
      break;
    case ValueKind::kAlias:
      to.kind = Output::Kind::kAlias;
      to.input = static_cast<uint32_t>(from.input);
      to.whole = from.whole != 0;
      to.offset = from.offset;
      to.sizes.assign(from.dims, from.dims + from.rank);
      to.strides.assign(from.dims + from.rank, from.dims + 2 * from.rank);
      std::free(from.dims);
      break;
  }
  to.dtype = *ir::dtype_from_c10(from.dtype);
}

}  // namespace

struct CppProgram::Scratch {
  std::vector<wrapper::Input> inputs;
  std::vector<wrapper::Output> outputs;
};

CppProgram::CppProgram(runtime::Engine engine) : engine_(std::move(engine)) {}

CppProgram::~CppProgram() {
  if (model_ != nullptr) entry_->close(model_);
  if (library_ != nullptr) dlclose(library_);
}

Result<std::shared_ptr<const CppProgram>> CppProgram::create(const plan::Plan& plan,
                                                             std::span<const KernelObject> kernels,
                                                             CppProgramRequest request) {
  if (request.engine.torch == nullptr) return diagnostic("wrapper", "no libtorch is loaded");
  emit::host::CppOptions options;
  options.kernel_symbol = [&](std::string_view name) {
    for (const KernelObject& kernel : kernels)
      if (kernel.name == name) return kernel_symbol(kernel.key);
    CHECK(false, "the plan launches @{}, which is not there", name);
  };
  JUMAR_ASSIGN(const emit::host::CppSource source, emit::host::emit_cpp(plan, options));
  JUMAR_ASSIGN(const ScratchDirectory scratch,
               ScratchDirectory::create(request.options.resolved_temporary_dir()));
  const std::optional<CxxCompiler> compiler = CxxCompiler::find(request.options.cxx(), scratch);
  if (!compiler) return diagnostic("wrapper", "no C++ compiler found ($CXX, c++, g++, clang++)");
  const Hash128 key = hash_of(fmt::format("wrapper\n{}\n{}\n{}\n{}", build_id(), compiler->identity(),
                                          emit::host::kWrapperHeader, source.text));
  std::optional<std::string> bytes;
  if (request.store != nullptr) bytes = request.store->get(kStoreKind, key);
  if (!bytes) {
    Result<std::string> made = compiler->library(source.text, kernels, scratch);
    CHECK(made.ok(), "the C++ source of a plan does not compile: {}", made.error().text());
    bytes = std::move(*made);
    // A store that cannot be written costs time only; the graph's own entry reports it.
    if (request.store != nullptr) (void)request.store->put(kStoreKind, key, *bytes);
  }
  std::shared_ptr<CppProgram> program(new CppProgram(std::move(request.engine)));
  JUMAR_RETURN_IF_ERROR(program->load(*bytes, source.name, scratch.path()));
  return std::shared_ptr<const CppProgram>(std::move(program));
}

Status CppProgram::load(const std::string& bytes, const std::string& name, const std::string& directory) {
  // The file's name is new for the process: the loader knows libraries by their names.
  const std::string path = directory + "/loaded.so";
  JUMAR_RETURN_IF_ERROR(write_file(path, bytes));
  library_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library_ == nullptr) return diagnostic("wrapper", "the program cannot be loaded: {}", dlerror());
  entry_ = static_cast<const wrapper::Entry*>(dlsym(library_, (name + "_entry").c_str()));
  CHECK(entry_ != nullptr && entry_->abi_version == wrapper::kAbiVersion,
        "a program without a fitting entry");
  std::optional<RunError> error;
  const wrapper::FailureSink sink{&error, report_failure};
  const wrapper::Services services{const_cast<runtime::Engine*>(&engine_), take_block, give_block,
                                   large_output};
  model_ = entry_->open(&services, nullptr, &sink);
  if (model_ == nullptr) return diagnostic("wrapper", "the program cannot be opened: {}", error->message);
  return {};
}

std::optional<RunError> CppProgram::run(std::span<const InputValue> inputs, std::span<Output> outputs) const {
  std::unique_ptr<Scratch> scratch = scratches_.take();
  if (!scratch) scratch = std::make_unique<Scratch>();
  scratch->inputs.resize(inputs.size());
  scratch->outputs.assign(outputs.size(), {});
  for (size_t k = 0; k < inputs.size(); ++k) convert(inputs[k], scratch->inputs[k]);
  for (Output& output : outputs) output.drop();
  std::optional<RunError> error;
  const wrapper::FailureSink sink{&error, report_failure};
  const int32_t failed = entry_->call(model_, scratch->inputs.data(), inputs.size(), scratch->outputs.data(),
                                      outputs.size(), &sink);
  if (failed == 0)
    for (size_t k = 0; k < outputs.size(); ++k) convert(scratch->outputs[k], *engine_.torch, outputs[k]);
  scratches_.give(std::move(scratch));
  return error;
}

int64_t CppProgram::last_arena_bytes() const { return entry_->arena_bytes(model_); }

}  // namespace jumar::driver
