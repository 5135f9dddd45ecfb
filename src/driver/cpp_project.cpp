#include "driver/cpp_project.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "driver/compile_graph.h"
#include "driver/model_source.h"
#include "driver/package_weights.h"
#include "driver/scratch_directory.h"
#include "emit/host/cpp_text.h"
#include "emit/host/emit_cpp.h"
#include "emit/host/wrapper_header.h"
#include "support/files.h"

namespace jumar::driver {
namespace {

constexpr const char* kKernelFolder = "kernels";

// {0}: the program's name, {1}: the object files.
constexpr std::string_view kCMake =
    R"(# Builds lib{0}.so, without headers of torch. The process that loads it has loaded libtorch.
cmake_minimum_required(VERSION 3.16)
project({0} LANGUAGES CXX)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

set(kernels
{1})
list(TRANSFORM kernels PREPEND "${{CMAKE_CURRENT_SOURCE_DIR}}/")
set_source_files_properties(${{kernels}} PROPERTIES EXTERNAL_OBJECT TRUE)
add_library({0} SHARED model.cpp ${{kernels}})
set_target_properties({0} PROPERTIES CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON CXX_VISIBILITY_PRESET hidden)
target_link_libraries({0} PRIVATE ${{CMAKE_DL_LIBS}} m)

# The library looks for its weights beside itself.
if(EXISTS "${{CMAKE_CURRENT_SOURCE_DIR}}/weights.bin")
  file(CREATE_LINK "${{CMAKE_CURRENT_SOURCE_DIR}}/weights.bin" "${{CMAKE_CURRENT_BINARY_DIR}}/weights.bin"
       COPY_ON_ERROR SYMBOLIC)
endif()
)";

void describe_archive(sym::Context& cx, const import::Imported& model, const PackageWeights& layout,
                      emit::host::CppOptions& options) {
  for (size_t k = 0; k < model.weights.size(); ++k)
    options.weights.push_back({model.weights[k].name, static_cast<int64_t>(layout.offset_bytes(k)),
                               ir::storage_extent(cx, model.weights[k].type).const_value() *
                                   ir::dtype_bytes(model.weights[k].type.dtype)});
  options.weights_bytes = static_cast<int64_t>(layout.bytes());
  for (size_t k = 0; k < model.outputs.size(); ++k) {
    if (model.outputs[k].role == import::OutputRole::kUser) continue;
    options.updates[static_cast<uint32_t>(k)] = static_cast<uint32_t>(model.outputs[k].graph_input);
  }
}

Status write_weights(const std::string& path, const PackageWeights& layout) {
  std::ofstream file(path, std::ios::binary);
  for (const std::string_view piece : layout.pieces())
    file.write(piece.data(), static_cast<std::streamsize>(piece.size()));
  file.close();
  if (!file) return diagnostic("io", "cannot write '{}'", path);
  return {};
}

class Project {
 public:
  explicit Project(std::string directory) : directory_(std::move(directory)) {}

  Status create() const {
    std::error_code error;
    std::filesystem::create_directories(path(kKernelFolder), error);
    if (error)
      return diagnostic("io", "cannot make the folder '{}': {}", path(kKernelFolder), error.message());
    return {};
  }

  Status write(const emit::host::CppSource& source, const std::vector<KernelObject>& kernels) const {
    emit::host::CppNames names;
    std::string objects;
    for (const KernelObject& kernel : kernels) {
      const std::string file = fmt::format("{}/{}.o", kKernelFolder, names.unique(kernel.name));
      JUMAR_RETURN_IF_ERROR(write_file(path(file), kernel.object));
      objects += fmt::format("  {}\n", file);
    }
    if (!objects.empty()) objects.pop_back();
    JUMAR_RETURN_IF_ERROR(write_file(path("model.cpp"), source.text));
    JUMAR_RETURN_IF_ERROR(write_file(path("model.h"), source.header));
    JUMAR_RETURN_IF_ERROR(write_file(path("wrapper.h"), emit::host::kWrapperHeader));
    return write_file(path("CMakeLists.txt"), fmt::format(fmt::runtime(kCMake), source.name, objects));
  }

  std::string path(std::string_view file) const { return fmt::format("{}/{}", directory_, file); }

 private:
  std::string directory_;
};

}  // namespace

Result<CppProjectSummary> write_cpp_project(const CppProjectRequest& request, const Options& options,
                                            Report& report) {
  const auto tell = [&](std::string_view stage) {
    if (request.progress) request.progress(stage);
  };
  tell("reading");
  JUMAR_ASSIGN(const jit::CpuTarget target, target_of(options, false));
  JUMAR_ASSIGN(Dumps dumps, Dumps::create({}, [](std::string_view, const std::string&) {}));
  Stages stages(options, report, dumps);
  JUMAR_ASSIGN(ModelSource source, read_model(request.input, request.model, stages, report));
  tell("compiling");
  JUMAR_RETURN_IF_ERROR(stages.optimize(source.graph));
  JUMAR_ASSIGN(CompiledParts parts, compile_graph(stages, source.graph, target, options, nullptr, report));
  emit::host::CppOptions cpp_options;
  cpp_options.name =
      request.name.empty() ? std::filesystem::path(request.input).stem().string() : request.name;
  cpp_options.kernel_symbol = [&](std::string_view name) {
    const auto kernel = std::ranges::find(parts.kernels, name, &KernelObject::name);
    CHECK(kernel != parts.kernels.end(), "the plan launches @{}, which is not there", name);
    return kernel_symbol(kernel->key);
  };
  const std::vector<import::Weight> none;
  const PackageWeights layout(source.archive ? source.archive->weights : none);
  if (source.archive) describe_archive(source.graph.cx(), *source.archive, layout, cpp_options);
  JUMAR_ASSIGN(const emit::host::CppSource text, emit::host::emit_cpp(std::move(parts.plan), cpp_options));
  tell("writing");
  const StageTimer timer(report, "write");
  const Project project(request.directory);
  JUMAR_RETURN_IF_ERROR(project.create());
  JUMAR_RETURN_IF_ERROR(project.write(text, parts.kernels));
  if (layout.bytes() > 0) JUMAR_RETURN_IF_ERROR(write_weights(project.path("weights.bin"), layout));
  return CppProjectSummary{text.name, parts.kernels.size(), layout.bytes()};
}

}  // namespace jumar::driver
