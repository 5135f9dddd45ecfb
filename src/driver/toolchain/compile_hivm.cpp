#include "driver/toolchain/compile_hivm.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "driver/scratch_directory.h"
#include "support/files.h"

namespace jumar::driver::toolchain {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kHivmFile = "module.hivm.opt.mlir";

// A link to a program that does nothing and succeeds. A link rather than a script: a file that is just being
// written cannot be executed, and a child that another thread starts at that moment may hold it open.
Status put_linker(const std::string& folder, std::string_view name) {
  for (const char* nothing : {"/bin/true", "/usr/bin/true"}) {
    if (::access(nothing, X_OK) != 0) continue;
    const std::string path = folder + "/" + std::string(name);
    if (::symlink(nothing, path.c_str()) == 0) return {};
    return diagnostic("io", "cannot make {}: {}", path, std::strerror(errno));
  }
  return diagnostic("toolchain", "neither /bin/true nor /usr/bin/true is there to stand in for {}", name);
}

// The PATH of the compiler: the directory of the linker, real or not, and then the usual one.
Result<std::string> path_for_linker(const Toolchain& tools, const ToolchainFlavor& flavor,
                                    const ScratchDirectory& scratch) {
  const ToolKind kind = linker_of(flavor.compiler);
  const std::string rest = process_environment()("PATH").value_or("/usr/bin:/bin");
  if (const Tool* linker = tools.find(kind))
    return fs::path(linker->path).parent_path().string() + ":" + rest;
  const std::string folder = scratch.path() + "/bin";
  std::error_code error;
  fs::create_directory(folder, error);
  if (error) return diagnostic("io", "cannot make {}: {}", folder, error.message());
  JUMAR_RETURN_IF_ERROR(put_linker(folder, program_of(kind)));
  return folder + ":" + rest;
}

// What the linker wrote; older compilers name it differently.
std::string device_binary_in(const ScratchDirectory& scratch) {
  for (const char* name : {"kernel.o", "kernel_reloc.o", "kernel"}) {
    const Result<std::string> bytes = bytes_of_file(scratch.path() + "/" + name);
    if (bytes.ok() && !bytes->empty()) return *bytes;
  }
  return "";
}

void fill_report(const ProcessResult& done, const Messages& said, const ScratchDirectory& scratch,
                 const ToolchainFlavor& flavor, bool has_linker, CompileReport& out) {
  out.seconds = done.seconds;
  out.dropped_code_motion = said.dropped_code_motion;
  out.dropped_multi_buffer = said.dropped_multi_buffer;
  const Result<std::string> hivm = bytes_of_file(fmt::format("{}/save/{}", scratch.path(), kHivmFile));
  const bool has_hivm = hivm.ok() && !hivm->empty();
  if (!done.is_ok() || !has_hivm) {
    const bool linker_failed = has_hivm && has_linker && done.end == ProcessResult::End::kExit;
    const ToolKind culprit = linker_failed ? linker_of(flavor.compiler) : flavor.compiler;
    out.failure = failure_of(std::string(program_of(culprit)), done, said);
    if (done.is_ok()) out.failure->message = fmt::format("it succeeded without writing {}", kHivmFile);
    if (!linker_failed) return;
  }
  out.stage = CompileReport::Stage::kChecked;
  out.hivm = *hivm;
  // A text that is not understood has no facts; whoever needs more of it reads it and is told why.
  if (const Result<HivmProgram> program = read_hivm(out.hivm); program.ok()) {
    const HivmFacts facts = facts_of(*program);
    out.needs = facts.needs;
    out.ub_bytes = facts.ub_bytes;
  }
  if (said.allocated_ub_bits) out.ub_bytes = *said.allocated_ub_bits / 8;
  if (!has_linker || out.failure) return;
  out.device_binary = device_binary_in(scratch);
  if (!out.device_binary.empty()) out.stage = CompileReport::Stage::kLinked;
}

}  // namespace

std::string_view stage_text(CompileReport::Stage stage) {
  switch (stage) {
    case CompileReport::Stage::kFailed:
      return "failed";
    case CompileReport::Stage::kChecked:
      return "checked, not linked";
    case CompileReport::Stage::kLinked:
      return "linked";
  }
  return "";
}

Result<CompileReport> compile_hivm(const std::string& linalg, const Toolchain& tools,
                                   const ToolchainFlavor& flavor, const ToolCalls& calls) {
  const Tool* tool = tools.find(flavor.compiler);
  if (tool == nullptr) return tools.missing(flavor.compiler);
  JUMAR_ASSIGN(const ScratchDirectory scratch, ScratchDirectory::create(calls.temporary_dir));
  JUMAR_RETURN_IF_ERROR(scratch.write("kernel.linalg.mlir", linalg));
  JUMAR_ASSIGN(const std::string path, path_for_linker(tools, flavor, scratch));
  ProcessRequest request = tool_request(calls);
  request.command = {tool->path, scratch.path() + "/kernel.linalg.mlir"};
  request.command.insert(request.command.end(), flavor.compiler_args.begin(), flavor.compiler_args.end());
  request.command.push_back("--save-temps=" + scratch.path() + "/save");
  request.command.insert(request.command.end(), {"-o", scratch.path() + "/kernel"});
  request.directory = scratch.path();
  request.variables.emplace_back("PATH", path);
  std::error_code error;
  fs::create_directory(scratch.path() + "/save", error);
  JUMAR_ASSIGN(const ProcessResult done, run_tool(request));
  CompileReport out;
  const bool has_linker = tools.find(linker_of(flavor.compiler)) != nullptr;
  fill_report(done, read_messages(done.errors + "\n" + done.output), scratch, flavor, has_linker, out);
  return out;
}

}  // namespace jumar::driver::toolchain
