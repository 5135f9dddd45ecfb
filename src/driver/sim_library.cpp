#include "driver/sim_library.h"

#include <dlfcn.h>
#include <unistd.h>

namespace jumar::driver {
namespace {

constexpr const char* kFileName = "libjumar_sim.so";

// An object whose address says which file this code is in.
const int kInThisFile = 0;

// The simulator in the folder of the file that holds this code; empty where there is none.
std::string path_beside() {
  Dl_info info;
  if (::dladdr(&kInThisFile, &info) == 0 || info.dli_fname == nullptr) return {};
  const std::string here = info.dli_fname;
  const size_t slash = here.rfind('/');
  const std::string path = slash == std::string::npos ? kFileName : here.substr(0, slash + 1) + kFileName;
  return ::access(path.c_str(), R_OK) == 0 ? path : std::string();
}

Diagnostic no_library(const std::string& path, const char* why) {
  Diagnostic error = diagnostic("io", "the simulator {} can't be opened: {}", path, why);
  error.notes.emplace_back(
      "it is built where MLIR 19 is installed (Debian: libmlir-19-dev) or with -DJUMAR_BUILD_SIM=ON, and may "
      "need libmlir-19 where it runs");
  error.notes.emplace_back("JUMAR_SIM_LIBRARY or the option sim_library names another file");
  return error;
}

}  // namespace

Result<std::shared_ptr<const SimLibrary>> SimLibrary::open(const std::string& path) {
  std::shared_ptr<SimLibrary> library(new SimLibrary());
  library->path_ = path.empty() ? path_beside() : path;
  if (library->path_.empty()) library->path_ = kFileName;
  // Local, so that its LLVM and MLIR are seen by nothing else in the process.
  library->handle_ = ::dlopen(library->path_.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library->handle_ == nullptr) return no_library(library->path_, ::dlerror());
  JUMAR_RETURN_IF_ERROR(library->resolve());
  return std::shared_ptr<const SimLibrary>(std::move(library));
}

SimLibrary::~SimLibrary() {
  if (handle_ != nullptr) ::dlclose(handle_);
}

Status SimLibrary::resolve() {
  bool complete = true;
  const auto find = [&](const char* name, auto& function) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(handle_, name));
    complete = complete && function != nullptr;
  };
  decltype(&jumar_sim_api_version) version = nullptr;
  find("jumar_sim_api_version", version);
  find("jumar_sim_compile", compile_);
  find("jumar_sim_function", function_);
  find("jumar_sim_describe", describe_);
  find("jumar_sim_fault_text", fault_text_);
  find("jumar_sim_free", free_);
  find("jumar_sim_destroy", destroy_);
  if (!complete) return diagnostic("io", "{} is not a simulator of Jumar", path_);
  if (version() != JUMAR_SIM_API_VERSION) {
    return diagnostic("io", "{} is of version {}, this Jumar needs version {}", path_, version(),
                      JUMAR_SIM_API_VERSION);
  }
  return {};
}

Result<SimKernel> SimLibrary::compile(std::string_view text, const SimRequest& request) const {
  jumar_sim_options options = {};
  options.kernel = request.kernel.empty() ? nullptr : request.kernel.c_str();
  options.floats_last = request.floats_last ? 1 : 0;
  jumar_sim_kernel* made = nullptr;
  char* error = nullptr;
  if (compile_(text.data(), text.size(), &options, &made, &error) != 0) {
    Diagnostic failure = diagnostic("sim", "{}", error == nullptr ? "no memory" : error);
    free_(error);
    return failure;
  }
  SimKernel kernel;
  kernel.library_ = shared_from_this();
  kernel.kernel_ = std::shared_ptr<jumar_sim_kernel>(
      made, [library = kernel.library_](jumar_sim_kernel* dead) { library->destroy_(dead); });
  return kernel;
}

jumar_sim_fn SimKernel::function() const { return library_->function_(kernel_.get()); }

const jumar_sim_info& SimKernel::info() const { return *library_->describe_(kernel_.get()); }

std::string SimKernel::fault_text(const jumar_sim_fault& fault) const {
  char* text = library_->fault_text_(kernel_.get(), &fault);
  const std::string copy = text == nullptr ? "" : text;
  library_->free_(text);
  return copy;
}

}  // namespace jumar::driver
