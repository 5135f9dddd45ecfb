#include "driver/cxx_compiler.h"

#include <fcntl.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "emit/host/wrapper_header.h"
#include "support/files.h"

extern char** environ;

namespace jumar::driver {
namespace {

// Written programs use nothing newer than C++17, and their own time is not worth more than light
// optimization.
constexpr const char* kFlags[] = {"-std=c++17", "-O1", "-fPIC", "-shared", "-fvisibility=hidden", "-w"};

struct Finished {
  bool is_ok = false;
  std::string output;
};

// Runs a command to its end. Its output goes through a file, which is never too full to be written.
Finished run(const std::vector<std::string>& command, const std::string& output_file) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                   0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t child = 0;
  const int error = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return {false, fmt::format("{} cannot be started: {}", command[0], std::strerror(error))};
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    // Somebody else may have waited for all children; then nothing says how it ended.
    if (errno != EINTR) return {false, fmt::format("nothing says how {} ended", command[0])};
  }
  Finished out{WIFEXITED(status) && WEXITSTATUS(status) == 0, ""};
  if (const Result<std::string> output = bytes_of_file(output_file); output.ok()) out.output = *output;
  return out;
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  for (size_t at = text.find_first_not_of(' '); at != std::string::npos;
       at = text.find_first_not_of(' ', at)) {
    const size_t end = std::min(text.find(' ', at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

}  // namespace

std::optional<CxxCompiler> CxxCompiler::find(const std::string& wanted, const ScratchDirectory& scratch) {
  for (const std::string& candidate :
       {wanted, std::string("c++"), std::string("g++"), std::string("clang++")}) {
    CxxCompiler compiler;
    compiler.command_ = words_of(candidate);
    if (compiler.command_.empty()) continue;
    std::vector<std::string> question = compiler.command_;
    question.emplace_back("--version");
    const Finished answer = run(question, scratch.path() + "/version.txt");
    if (!answer.is_ok) continue;
    compiler.identity_ = fmt::format("{} {}\n{}", candidate, fmt::join(kFlags, " "), answer.output);
    return compiler;
  }
  return std::nullopt;
}

Result<std::string> CxxCompiler::library(const std::string& source, std::span<const KernelObject> kernels,
                                         const ScratchDirectory& scratch) const {
  JUMAR_RETURN_IF_ERROR(scratch.write("wrapper.h", emit::host::kWrapperHeader));
  JUMAR_RETURN_IF_ERROR(scratch.write("program.cpp", source));
  const std::string library = scratch.path() + "/program.so";
  std::vector<std::string> command = command_;
  command.insert(command.end(), std::begin(kFlags), std::end(kFlags));
  command.insert(command.end(), {"-o", library, scratch.path() + "/program.cpp"});
  for (size_t k = 0; k < kernels.size(); ++k) {
    const std::string name = fmt::format("kernel_{}.o", k);
    JUMAR_RETURN_IF_ERROR(scratch.write(name, kernels[k].object));
    command.push_back(scratch.path() + "/" + name);
  }
  command.insert(command.end(), {"-ldl", "-lm"});
  const Finished finished = run(command, scratch.path() + "/messages.txt");
  if (!finished.is_ok) return diagnostic("tool", "{} failed:\n{}", fmt::join(command, " "), finished.output);
  return bytes_of_file(library);
}

}  // namespace jumar::driver
