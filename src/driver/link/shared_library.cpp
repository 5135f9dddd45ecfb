#include "driver/link/shared_library.h"

#include <link.h>

#include <array>

#include "driver/link/lld.h"
#include "support/files.h"

extern "C" {
extern const char jumar_package_runtime_begin[];
extern const char jumar_package_runtime_end[];
extern const char jumar_package_onednn_begin[];
extern const char jumar_package_onednn_end[];
}

namespace jumar::driver::link {
namespace {

// The libraries that the runtime of packages and the kernels call, by the names that programs ask for.
constexpr std::array<std::string_view, 5> kSystemLibraries = {"libstdc++.so.6", "libm.so.6", "libgcc_s.so.1",
                                                              "libc.so.6", "ld-linux-x86-64.so.2"};
constexpr std::string_view kExports =
    "{ global: AOTInductorModel*; jumar_model_*; jumar_device_*; local: *; };\n";

std::vector<std::string> loaded_system_libraries() {
  std::vector<std::string> paths;
  const auto look = [](dl_phdr_info* info, size_t, void* out) {
    const std::string_view path(info->dlpi_name);
    const std::string_view name = path.substr(path.rfind('/') + 1);
    for (const std::string_view wanted : kSystemLibraries) {
      if (name == wanted) static_cast<std::vector<std::string>*>(out)->emplace_back(path);
    }
    return 0;
  };
  dl_iterate_phdr(look, &paths);
  return paths;
}

std::string_view between(const char* begin, const char* end) {
  return {begin, static_cast<size_t>(end - begin)};
}

}  // namespace

Status link_shared_library(const LinkRequest& request) {
  const std::string exports = request.scratch + "/exports.map";
  JUMAR_RETURN_IF_ERROR(write_file(exports, kExports));
  std::vector<std::string> arguments = {
      "ld.lld", "-shared", "-o", request.output, "--version-script=" + exports, "--gc-sections", "--icf=safe",
      "--strip-all", "--eh-frame-hdr", "--hash-style=gnu", "--build-id=none", "--no-undefined", "--threads=1",
      // One segment for code and constants together, and pages that need not be apart in the file.
      "-z", "noseparate-code", "-z", "now"};
  std::vector<std::string_view> objects = {between(jumar_package_runtime_begin, jumar_package_runtime_end)};
  if (request.needs_onednn) objects.push_back(between(jumar_package_onednn_begin, jumar_package_onednn_end));
  objects.insert(objects.end(), request.objects.begin(), request.objects.end());
  for (size_t k = 0; k < objects.size(); ++k) {
    arguments.push_back(fmt::format("{}/{}.o", request.scratch, k));
    JUMAR_RETURN_IF_ERROR(write_file(arguments.back(), objects[k]));
  }
  arguments.emplace_back("--as-needed");
  for (std::string& library : loaded_system_libraries()) arguments.push_back(std::move(library));
  std::string messages;
  const bool linked = run_lld(arguments, messages);
  CHECK(linked, "linking failed: {}", messages);
  return {};
}

}  // namespace jumar::driver::link
