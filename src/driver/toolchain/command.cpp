#include "driver/toolchain/command.h"

#include <cmath>
#include <cstdio>
#include <filesystem>

#include "driver/json_writer.h"
#include "driver/toolchain/check_kernels.h"
#include "driver/toolchain/install.h"
#include "support/files.h"

namespace jumar::driver::toolchain {
namespace {

namespace fs = std::filesystem;

constexpr ToolKind kInstalled[] = {ToolKind::kAdapter, ToolKind::kCompiler, ToolKind::kCompilerA5};

void tell(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

// "softmax" of "kernels/softmax.ttir.mlir".
std::string name_of(const std::string& file) {
  fs::path name = fs::path(file).filename();
  for (const char* ending : {".mlir", ".ttir"})
    if (name.extension() == ending) name.replace_extension();
  return name.string();
}

std::string report_of(const KernelCheck& check) {
  std::string out = fmt::format("{}: {}\n", check.name, stage_text(check.compiled.stage));
  if (const ToolFailure* failure = check.failure()) {
    out += fmt::format("  {}\n", failure->text());
    if (failure->overflow) {
      out += fmt::format("  {} needs {} bytes of {}\n", failure->overflow->memory,
                         failure->overflow->needs_bits / 8, failure->overflow->available_bits / 8);
    }
  }
  const CompileReport& compiled = check.compiled;
  if (compiled.dropped_code_motion) out += "  the compiler gave up code motion to make it fit\n";
  if (compiled.dropped_multi_buffer) out += "  the compiler gave up multiple buffers to make it fit\n";
  if (check.is_ok()) {
    out += fmt::format("  mix mode {}, UB {} bytes\n", check.adapted.linalg->mix_mode, compiled.ub_bytes);
    const HostNeeds& needs = compiled.needs;
    if (needs.workspace_bytes) out += fmt::format("  workspace {} bytes a block\n", *needs.workspace_bytes);
    if (needs.lock_count) out += fmt::format("  {} locks\n", *needs.lock_count);
  }
  out += fmt::format("  adapter {:.0f} ms, compiler {:.0f} ms{}\n", check.adapted.seconds * 1e3,
                     compiled.seconds * 1e3, check.is_from_store ? ", kept from an earlier run" : "");
  return out;
}

Status write_stages(const KernelCheck& check, const std::string& folder) {
  const std::string stem = fmt::format("{}/{}", folder, check.name);
  if (check.adapted.linalg)
    JUMAR_RETURN_IF_ERROR(write_file(stem + ".linalg.mlir", check.adapted.linalg->text));
  if (!check.compiled.hivm.empty())
    JUMAR_RETURN_IF_ERROR(write_file(stem + ".hivm.mlir", check.compiled.hivm));
  if (!check.compiled.device_binary.empty())
    JUMAR_RETURN_IF_ERROR(write_file(stem + ".o", check.compiled.device_binary));
  return {};
}

void write_time(JsonWriter& json, const HivmTime& time) {
  // Nanoseconds: the writer has no fractions.
  const auto number = [&](const char* name, double seconds) {
    json.key(name).number(std::llround(seconds * 1e9));
  };
  number("modelled_ns", time.seconds);
  number("read_ns", time.read_seconds);
  number("write_ns", time.write_seconds);
  number("vector_ns", time.vector_seconds);
  number("scalar_ns", time.scalar_seconds);
  number("sync_ns", time.sync_seconds);
  json.key("bound").text(time.bound);
}

}  // namespace

Result<std::string> install_command(const ToolchainArguments& arguments) {
  InstallRequest request;
  request.directory = installed_directory(process_environment());
  request.from = arguments.from;
  request.python = arguments.python;
  request.index_url = arguments.index_url;
  request.progress = [](std::string_view step) { tell(fmt::format("{}\n", step)); };
  JUMAR_ASSIGN(const std::string told, install_toolchain(request));
  Toolchain tools = find_toolchain({"", request.directory, [](const std::string&) { return std::nullopt; }});
  tools.ask_versions();
  for (const ToolKind kind : kInstalled) {
    const Tool* tool = tools.find(kind);
    if (tool == nullptr || tool->version.empty())
      return diagnostic("toolchain", "{} was installed and does not run here", program_of(kind));
  }
  return fmt::format("{}in {}\n", told, request.directory);
}

std::string status_command(const Options& options, bool& all_found) {
  Toolchain tools = toolchain_of(options, process_environment());
  tools.ask_versions();
  all_found = true;
  for (const ToolKind kind : kInstalled) all_found = all_found && tools.find(kind) != nullptr;
  const std::string directory = installed_directory(process_environment());
  const std::string from = installed_from(directory);
  return tools.text() + (from.empty() ? fmt::format("nothing is installed in {}\n", directory)
                                      : fmt::format("{} was unpacked from\n{}", directory, from));
}

Result<std::string> compile_command(const ToolchainArguments& arguments, const Options& options,
                                    bool& all_ok) {
  JUMAR_ASSIGN(const target::Target target, target::find_target(arguments.target));
  JUMAR_ASSIGN(const ToolchainFlavor flavor, flavor_of(target));
  std::vector<TtirKernel> kernels;
  for (const std::string& file : arguments.files) {
    JUMAR_ASSIGN(std::string text, bytes_of_file(file));
    kernels.push_back({name_of(file), std::move(text)});
  }
  std::error_code error;
  fs::create_directories(arguments.output, error);
  CheckOptions check;
  check.calls.temporary_dir = options.resolved_temporary_dir();
  check.threads = static_cast<int>(options.toolchain_threads());
  std::optional<Store> store;
  if (options.cache() && !options.resolved_cache_dir().empty())
    check.store = &store.emplace(options.resolved_cache_dir(), options.cache_size_bytes());
  if (kernels.size() > 1) {
    check.progress = [](const KernelCheck& each, size_t done, size_t total) {
      tell(fmt::format("{}/{} {}: {}\n", done, total, each.name, stage_text(each.compiled.stage)));
    };
  }
  JUMAR_ASSIGN(const std::vector<KernelCheck> checks,
               check_kernels(kernels, toolchain_of(options, process_environment()), flavor, check));
  std::string out;
  all_ok = true;
  for (const KernelCheck& each : checks) {
    JUMAR_RETURN_IF_ERROR(write_stages(each, arguments.output));
    out += report_of(each);
    all_ok = all_ok && each.is_ok();
  }
  return out;
}

Result<std::string> traffic_command(const ToolchainArguments& arguments) {
  JUMAR_ASSIGN(const std::string text, bytes_of_file(arguments.file));
  JUMAR_ASSIGN(const HivmProgram program, read_hivm(text, arguments.file));
  HivmLaunch launch;
  if (arguments.grid.empty() || arguments.grid.size() > launch.grid.size())
    return diagnostic("option", "a grid has one to three sizes, not {}", arguments.grid.size());
  for (size_t k = 0; k < arguments.grid.size(); ++k) launch.grid[k] = arguments.grid[k];
  launch.scalars = arguments.scalars;
  std::optional<target::Target> target;
  if (!arguments.target.empty()) {
    JUMAR_ASSIGN(target, target::find_target(arguments.target));
    launch.vector_cores = static_cast<int>(target->vector_cores);
    launch.cube_cores = static_cast<int>(target->cube_cores);
  }
  JUMAR_ASSIGN(const HivmTraffic traffic, hivm_traffic(program, launch));
  JsonWriter json;
  json.object();
  write_members(json, traffic);
  if (target) write_time(json, estimated_time(traffic, costs_of(*target)));
  json.end();
  return json.take() + "\n";
}

}  // namespace jumar::driver::toolchain
