#include "driver/sim_kernels.h"

#include <dlfcn.h>

#include <filesystem>

#include "driver/compile_graph.h"
#include "runtime/sim/api.h"

namespace jumar::driver {
namespace {

namespace fs = std::filesystem;
constexpr const char* kLibrary = "libjumar_sim.so";

static_assert(sizeof(jumar_sim_fault) <= sizeof(runtime::IndexStatus));

// Beside what this code is linked into, and where a build puts it.
std::vector<std::string> places() {
  std::vector<std::string> out;
  Dl_info self{};
  if (::dladdr(reinterpret_cast<const void*>(&places), &self) != 0 && self.dli_fname != nullptr) {
    std::error_code error;
    const fs::path folder = fs::absolute(self.dli_fname, error).parent_path();
    out.push_back((folder / kLibrary).string());
    out.push_back((folder / ".." / "python" / "jumar" / kLibrary).string());
    out.push_back((folder / ".." / "lib" / kLibrary).string());
  }
  out.emplace_back(kLibrary);
  return out;
}

}  // namespace

struct SimLibrary::Opened {
  void* handle = nullptr;
  decltype(&jumar_sim_compile) compile = nullptr;
  decltype(&jumar_sim_function) function = nullptr;
  decltype(&jumar_sim_fault_text) fault_text = nullptr;
  decltype(&jumar_sim_free) free_text = nullptr;
  decltype(&jumar_sim_destroy) destroy = nullptr;

  template <class Function>
  bool bind(Function& function, const char* name) {
    function = reinterpret_cast<Function>(::dlsym(handle, name));
    return function != nullptr;
  }
  bool bind_all() {
    return bind(compile, "jumar_sim_compile") && bind(function, "jumar_sim_function") &&
           bind(fault_text, "jumar_sim_fault_text") && bind(free_text, "jumar_sim_free") &&
           bind(destroy, "jumar_sim_destroy");
  }
};

class SimKernel {
 public:
  SimKernel(std::shared_ptr<const SimLibrary::Opened> library, jumar_sim_kernel* kernel)
      : library_(std::move(library)), kernel_(kernel) {}
  ~SimKernel() { library_->destroy(kernel_); }
  SimKernel(const SimKernel&) = delete;
  SimKernel& operator=(const SimKernel&) = delete;

  runtime::KernelFn function() const { return library_->function(kernel_); }
  std::string fault_text(const runtime::IndexStatus& status) const {
    jumar_sim_fault fault{};
    std::memcpy(&fault, &status, sizeof fault);
    char* text = library_->fault_text(kernel_, &fault);
    std::string out = text;
    library_->free_text(text);
    return out;
  }

 private:
  std::shared_ptr<const SimLibrary::Opened> library_;
  jumar_sim_kernel* kernel_;
};

runtime::KernelFn SimKernels::find(std::string_view name) const {
  if (kernels_ == nullptr) return nullptr;
  const auto it = kernels_->find(name);
  return it == kernels_->end() ? nullptr : it->second->function();
}

std::function<std::string(std::string_view, const runtime::IndexStatus&)> SimKernels::fault_texts() const {
  return [kernels = kernels_](std::string_view name, const runtime::IndexStatus& status) {
    const auto it = kernels->find(name);
    return it == kernels->end() ? fmt::format("kernel {} failed", name) : it->second->fault_text(status);
  };
}

Result<std::shared_ptr<const SimLibrary::Opened>> SimLibrary::opened(const Options& options) {
  static_cast<void>(options);
  if (library_ != nullptr) return library_;
  std::string said;
  auto made = std::make_shared<Opened>();
  for (const std::string& place : places()) {
    made->handle = ::dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (made->handle != nullptr) break;
    const char* message = ::dlerror();
    const bool is_absent = place.find('/') != std::string::npos && !fs::exists(place);
    if (!is_absent && said.empty() && message != nullptr) said = message;
  }
  if (made->handle == nullptr)
    return diagnostic("sim", "kernels for a device run by {}, which can't be opened: {}", kLibrary, said);
  const auto version = reinterpret_cast<int32_t (*)()>(::dlsym(made->handle, "jumar_sim_api_version"));
  if (version == nullptr || version() != JUMAR_SIM_API_VERSION || !made->bind_all())
    return diagnostic("sim", "{} is of another version", kLibrary);
  library_ = made;
  return library_;
}

Result<SimKernels> SimLibrary::load(std::span<const KernelObject> objects, const Options& options) {
  const std::lock_guard<std::mutex> lock(mutex_);
  JUMAR_ASSIGN(const std::shared_ptr<const Opened> library, opened(options));
  std::erase_if(loaded_, [](const auto& entry) { return entry.second.expired(); });
  auto table = std::make_shared<SimKernels::Table>();
  for (const KernelObject& object : objects) {
    std::shared_ptr<const SimKernel> kernel = loaded_[object.key].lock();
    if (kernel == nullptr) {
      jumar_sim_options how{};
      how.floats_last = 1;
      jumar_sim_kernel* made = nullptr;
      char* error = nullptr;
      if (library->compile(object.object.data(), object.object.size(), &how, &made, &error) != 0) {
        const std::string text = error != nullptr ? error : "it gives no reason";
        if (error != nullptr) library->free_text(error);
        return diagnostic("sim", "the simulator does not take kernel {}: {}", object.name, text);
      }
      kernel = std::make_shared<const SimKernel>(library, made);
      loaded_[object.key] = kernel;
    }
    (*table)[object.name] = std::move(kernel);
  }
  SimKernels out;
  out.kernels_ = std::move(table);
  return out;
}

}  // namespace jumar::driver
