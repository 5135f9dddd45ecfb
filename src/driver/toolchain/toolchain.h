// The programs that turn TTIR into a device binary, and where they were found.
//
//   Toolchain tools = find_toolchain({.given = options.toolchain_dir(), .installed = data + "/toolchain",
//                                     .environment = process_environment()});
//   if (const Tool* adapter = tools.find(ToolKind::kAdapter)) ... adapter->path ...
//
// Each program is taken from the first of three places that has it: a directory that the user names, what
// `jumar toolchain install` made, an installed CANN (ASCEND_HOME_PATH, then PATH). A directory may hold the
// programs themselves, a `bin`, or one or two unpacked wheels. Finding runs no program; `ask_versions` does.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/options.h"
#include "support/result.h"

namespace jumar::driver::toolchain {

// The A5 programs are builds of their own, for devices with register-based vector units.
enum class ToolKind : uint8_t { kAdapter, kCompiler, kCompilerA5, kLinker, kLinkerA5 };
inline constexpr size_t kToolKinds = 5;

// "triton-adapter-opt", "bishengir-compile", "bishengir-compile-a5", "hivmc", "hivmc-a5".
std::string_view program_of(ToolKind kind);
std::optional<ToolKind> tool_from_program(std::string_view program);
// Which linker a compiler calls.
ToolKind linker_of(ToolKind compiler);

struct Tool {
  std::string path;
  std::string origin;   // "given", "installed", "CANN", "PATH"
  std::string version;  // what it says of itself, on one line; empty until it was asked
  uint64_t bytes = 0;
};

class Toolchain {
 public:
  const Tool* find(ToolKind kind) const;
  void set(ToolKind kind, Tool tool) { tools_[static_cast<size_t>(kind)] = std::move(tool); }

  // Runs each program with --version. One that fails keeps an empty version.
  void ask_versions();
  // Names, versions and sizes of everything found, for cache keys. Where the programs lie is no part of it.
  std::string identity() const;
  // A row per program, for people.
  std::string text() const;
  // That a program is needed and missing, and what to do.
  Diagnostic missing(ToolKind kind) const;

 private:
  std::array<std::optional<Tool>, kToolKinds> tools_;
};

struct ToolchainPlaces {
  std::string given;      // a directory, or nothing
  std::string installed;  // a directory that need not exist, or nothing
  Environment environment;
};

Toolchain find_toolchain(const ToolchainPlaces& places);

// Where `jumar toolchain install` puts it: $XDG_DATA_HOME/jumar/toolchain, ~/.local/share/jumar/toolchain. It is
// no part of the cache, which a process may have of its own. Empty where there is no home.
std::string installed_directory(const Environment& environment);
// The one that the options and the environment lead to.
Toolchain toolchain_of(const Options& options, const Environment& environment);

}  // namespace jumar::driver::toolchain
