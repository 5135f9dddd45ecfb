#include "driver/toolchain/toolchain.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "driver/toolchain/process.h"

namespace jumar::driver::toolchain {
namespace {

constexpr std::string_view kPrograms[kToolKinds] = {"triton-adapter-opt", "bishengir-compile",
                                                    "bishengir-compile-a5", "hivmc", "hivmc-a5"};
constexpr ToolKind kAll[kToolKinds] = {ToolKind::kAdapter, ToolKind::kCompiler, ToolKind::kCompilerA5,
                                       ToolKind::kLinker, ToolKind::kLinkerA5};

// Below a directory that somebody names: the programs, a bin, the wheels unpacked into one or two folders.
constexpr std::string_view kLayouts[] = {"",
                                         "/bin",
                                         "/triton/backends/ascend",
                                         "/ascendnpuir/bin",
                                         "/triton_ascend/triton/backends/ascend",
                                         "/ascendnpu_ir/ascendnpuir/bin"};
// Below ASCEND_HOME_PATH.
constexpr std::string_view kCannLayouts[] = {"/bin", "/tools/bishengir/bin", "/bisheng_toolkit/bishengir/bin",
                                             "/compiler/bishengir/bin", "/bishengir/bin"};

constexpr double kVersionSeconds = 20;

std::optional<Tool> program_at(const std::string& path, std::string_view origin) {
  struct stat status;
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  if (::access(path.c_str(), X_OK) != 0) return std::nullopt;
  return Tool{path, std::string(origin), "", static_cast<uint64_t>(status.st_size)};
}

// Answers on one line whatever the program says: "bishengir-compile 1.2.0 (...) llvm 19.1.7 ... Release
// build".
std::string one_line(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool is_space = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (!is_space) {
      out += c;
    } else if (!out.empty() && out.back() != ' ') {
      out += ' ';
    }
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

struct Folder {
  std::string path;
  std::string_view origin;
};

std::vector<Folder> folders_of(const ToolchainPlaces& places) {
  std::vector<Folder> out;
  const auto add = [&](const std::string& root, std::string_view origin, const auto& layouts) {
    if (root.empty()) return;
    for (const std::string_view layout : layouts) out.push_back({root + std::string(layout), origin});
  };
  add(places.given, "given", kLayouts);
  add(places.installed, "installed", kLayouts);
  add(places.environment("ASCEND_HOME_PATH").value_or(""), "CANN", kCannLayouts);
  const std::string path = places.environment("PATH").value_or("");
  for (size_t at = 0; at <= path.size();) {
    const size_t end = std::min(path.find(':', at), path.size());
    if (end > at) out.push_back({path.substr(at, end - at), "PATH"});
    at = end + 1;
  }
  return out;
}

}  // namespace

std::string_view program_of(ToolKind kind) { return kPrograms[static_cast<size_t>(kind)]; }

std::optional<ToolKind> tool_from_program(std::string_view program) {
  for (const ToolKind kind : kAll)
    if (program_of(kind) == program) return kind;
  return std::nullopt;
}

ToolKind linker_of(ToolKind compiler) {
  return compiler == ToolKind::kCompilerA5 ? ToolKind::kLinkerA5 : ToolKind::kLinker;
}

const Tool* Toolchain::find(ToolKind kind) const {
  const std::optional<Tool>& tool = tools_[static_cast<size_t>(kind)];
  return tool ? &*tool : nullptr;
}

void Toolchain::ask_versions() {
  for (std::optional<Tool>& tool : tools_) {
    if (!tool || !tool->version.empty()) continue;
    ProcessRequest request;
    request.command = {tool->path, "--version"};
    request.limit_seconds = kVersionSeconds;
    const Result<ProcessResult> done = run_process(request);
    if (done.ok() && done->is_ok()) tool->version = one_line(done->output);
  }
}

std::string Toolchain::identity() const {
  std::string out;
  for (const ToolKind kind : kAll) {
    if (const Tool* tool = find(kind))
      out += fmt::format("{} {} bytes: {}\n", program_of(kind), tool->bytes, tool->version);
  }
  return out;
}

std::string Toolchain::text() const {
  std::string out;
  for (const ToolKind kind : kAll) {
    const Tool* tool = find(kind);
    if (tool == nullptr) {
      out += fmt::format("{:<22} not found\n", program_of(kind));
      continue;
    }
    out += fmt::format("{:<22} {} ({})\n", program_of(kind), tool->path, tool->origin);
    if (!tool->version.empty()) out += fmt::format("{:<22} {}\n", "", tool->version);
  }
  return out;
}

Diagnostic Toolchain::missing(ToolKind kind) const {
  Diagnostic out = diagnostic("toolchain", "{} is not found", program_of(kind));
  const bool is_linker = kind == ToolKind::kLinker || kind == ToolKind::kLinkerA5;
  out.notes.emplace_back(
      is_linker
          ? "it is part of CANN, which is found by ASCEND_HOME_PATH or PATH"
          : "`jumar toolchain install` gets it; an installed CANN is found by ASCEND_HOME_PATH or PATH");
  return out;
}

std::string installed_directory(const Environment& environment) {
  const std::string data = environment("XDG_DATA_HOME").value_or("");
  if (!data.empty()) return data + "/jumar/toolchain";
  const std::string home = environment("HOME").value_or("");
  return home.empty() ? "" : home + "/.local/share/jumar/toolchain";
}

Toolchain toolchain_of(const Options& options, const Environment& environment) {
  return find_toolchain({options.toolchain_dir(), installed_directory(environment), environment});
}

Toolchain find_toolchain(const ToolchainPlaces& places) {
  Toolchain out;
  const std::vector<Folder> folders = folders_of(places);
  for (const ToolKind kind : kAll) {
    for (const Folder& folder : folders) {
      std::optional<Tool> tool = program_at(folder.path + "/" + std::string(program_of(kind)), folder.origin);
      if (!tool) continue;
      out.set(kind, std::move(*tool));
      break;
    }
  }
  return out;
}

}  // namespace jumar::driver::toolchain
