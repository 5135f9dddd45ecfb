#include "runtime/native/onednn_api.h"

#include <dlfcn.h>

namespace jumar::runtime::native {
namespace {

constexpr const char* kLibrary = "libdnnl.so.2";
constexpr int kMajorVersion = DNNL_VERSION_MAJOR;

// libtorch holds another version of oneDNN, whose symbols must not stand in for this one's where a program
// has linked libtorch. Address sanitizers refuse such libraries.
#if defined(__SANITIZE_ADDRESS__)
constexpr int kOwnSymbols = 0;
#else
constexpr int kOwnSymbols = RTLD_DEEPBIND;
#endif

template <class Function>
void find(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
}

}  // namespace

// The library is never closed: OpenMP's threads, which it has started, can't be stopped.
Result<std::shared_ptr<const OneDnnApi>> OneDnnApi::load(const std::string& path) {
  const char* name = path.empty() ? kLibrary : path.c_str();
  void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL | kOwnSymbols);
  if (!library) {
    const char* reason = dlerror();
    return diagnostic("io", "oneDNN cannot be loaded: {}", reason ? reason : name);
  }
  std::shared_ptr<OneDnnApi> api(new OneDnnApi());
  const char* missing = nullptr;
#define JUMAR_DNNL(function)               \
  find(library, #function, api->function); \
  if (!api->function) missing = #function;
#include "runtime/native/onednn_api.def"
#undef JUMAR_DNNL
  if (missing) return diagnostic("unsupported", "{} exports no {}", name, missing);
  const dnnl_version_t* version = api->dnnl_version();
  if (version->major != kMajorVersion)
    return diagnostic("unsupported", "{} is oneDNN {}.{}; version {} is needed", name, version->major,
                      version->minor, kMajorVersion);
  find(library, "GOMP_parallel", api->gomp_parallel);
  find(library, "omp_in_parallel", api->omp_in_parallel);
  find(library, "omp_get_max_threads", api->omp_threads);
  find(library, "omp_set_num_threads", api->set_omp_threads);
  return std::shared_ptr<const OneDnnApi>(std::move(api));
}

}  // namespace jumar::runtime::native
