#include "driver/toolchain/process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <string_view>

extern char** environ;

namespace jumar::driver::toolchain {
namespace {

using Clock = std::chrono::steady_clock;

// How long a poll waits before it looks whether the child has ended although somebody still holds its
// streams.
constexpr int kLookMs = 20;
// What a child writes beyond this is read and dropped.
constexpr size_t kMostOutputBytes = size_t{256} << 20;

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    close();
    number_ = std::exchange(other.number_, -1);
    return *this;
  }
  ~Descriptor() { close(); }
  int get() const { return number_; }
  bool is_open() const { return number_ >= 0; }
  void close() {
    if (number_ >= 0) ::close(number_);
    number_ = -1;
  }

 private:
  int number_ = -1;
};

// A stream between this process and the child. Our end neither blocks nor goes to other children.
struct Stream {
  Descriptor ours;
  Descriptor theirs;
};

Status cannot(const char* what) { return diagnostic("tool", "cannot {}: {}", what, std::strerror(errno)); }

// The child's input is a socket: writing to it after the child has closed it is an error for the writer and
// not a signal for this process.
Status open_input(Stream& stream) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return cannot("open a socket");
  stream.ours = Descriptor(ends[0]);
  stream.theirs = Descriptor(ends[1]);
  if (::fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) return cannot("set up a socket");
  return {};
}

Status open_output(Stream& stream) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return cannot("open a pipe");
  stream.ours = Descriptor(ends[0]);
  stream.theirs = Descriptor(ends[1]);
  if (::fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) return cannot("set up a pipe");
  return {};
}

std::vector<std::string> environment_with(const std::vector<std::pair<std::string, std::string>>& given) {
  std::vector<std::string> out;
  for (char** at = environ; *at != nullptr; ++at) {
    const std::string_view row = *at;
    const std::string_view name = row.substr(0, row.find('='));
    const bool is_given =
        std::any_of(given.begin(), given.end(), [&](const auto& pair) { return pair.first == name; });
    if (!is_given) out.emplace_back(row);
  }
  for (const auto& [name, value] : given) out.push_back(name + "=" + value);
  return out;
}

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

class Child {
 public:
  explicit Child(const ProcessRequest& request) : request_(request), rest_(request.input) {}

  Status start() {
    JUMAR_RETURN_IF_ERROR(open_input(input_));
    JUMAR_RETURN_IF_ERROR(open_output(output_));
    JUMAR_RETURN_IF_ERROR(open_output(errors_));
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, input_.theirs.get(), STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output_.theirs.get(), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, errors_.theirs.get(), STDERR_FILENO);
    if (!request_.directory.empty())
      posix_spawn_file_actions_addchdir_np(&actions, request_.directory.c_str());
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    set_attributes(attributes);
    const std::vector<std::string> environment = environment_with(request_.variables);
    const int error = posix_spawnp(&id_, request_.command[0].c_str(), &actions, &attributes,
                                   pointers_to(request_.command).data(), pointers_to(environment).data());
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (error != 0)
      return diagnostic("tool", "{} cannot be started: {}", request_.command[0], std::strerror(error));
    for (Stream* stream : {&input_, &output_, &errors_}) stream->theirs.close();
    return {};
  }

  Result<ProcessResult> finish() {
    const Clock::time_point begin = Clock::now();
    const auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
    bool is_late = false;
    bool has_ended = false;
    while (!has_ended && !is_late) {
      exchange(output_.ours.is_open() || errors_.ours.is_open() ? kLookMs : 1);
      JUMAR_ASSIGN(has_ended, ended());
      is_late = request_.limit_seconds > 0 && seconds() >= request_.limit_seconds;
    }
    // The leader is not reaped yet, so the group's number is still its own.
    ::kill(-id_, SIGKILL);
    JUMAR_RETURN_IF_ERROR(reap());
    // What was written before the end is in the pipes.
    exchange(0);
    result_.seconds = seconds();
    if (is_late && !has_ended) {
      result_.end = ProcessResult::End::kTimeLimit;
      result_.code = static_cast<int>(request_.limit_seconds);
    }
    return std::move(result_);
  }

 private:
  static void set_attributes(posix_spawnattr_t& attributes) {
    posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&attributes, 0);
    // Whatever the host program ignores or blocks (Python ignores SIGPIPE), tools start as from a terminal.
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    sigset_t all;
    sigfillset(&all);
    posix_spawnattr_setsigdefault(&attributes, &all);
  }

  // Moves what can be moved, after waiting for that at most `wait_ms`.
  void exchange(int wait_ms) {
    if (rest_.empty()) input_.ours.close();
    pollfd streams[] = {
        {input_.ours.get(), POLLOUT, 0}, {output_.ours.get(), POLLIN, 0}, {errors_.ours.get(), POLLIN, 0}};
    if (::poll(streams, 3, wait_ms) <= 0) return;
    if (streams[0].revents != 0) write_some();
    if (streams[1].revents != 0) read_all(output_.ours, result_.output);
    if (streams[2].revents != 0) read_all(errors_.ours, result_.errors);
  }

  void write_some() {
    const ssize_t count = ::send(input_.ours.get(), rest_.data(), rest_.size(), MSG_NOSIGNAL);
    if (count >= 0) {
      rest_.remove_prefix(static_cast<size_t>(count));
    } else if (errno != EINTR && errno != EAGAIN) {
      rest_ = {};  // nobody reads it any more
    }
  }

  static void read_all(Descriptor& from, std::string& into) {
    char buffer[1 << 16];
    while (true) {
      const ssize_t count = ::read(from.get(), buffer, sizeof buffer);
      if (count > 0) {
        if (into.size() < kMostOutputBytes) into.append(buffer, static_cast<size_t>(count));
      } else if (count == 0 || (errno != EINTR && errno != EAGAIN)) {
        from.close();
        return;
      } else if (errno == EAGAIN) {
        return;
      }
    }
  }

  Result<bool> ended() const {
    siginfo_t info = {};
    if (::waitid(P_PID, static_cast<id_t>(id_), &info, WEXITED | WNOHANG | WNOWAIT) == 0)
      return info.si_pid == id_;
    if (errno == EINTR) return false;
    return unknown_end();
  }

  Status reap() {
    int status = 0;
    while (::waitpid(id_, &status, 0) < 0) {
      if (errno != EINTR) return unknown_end();
    }
    result_.end = WIFSIGNALED(status) ? ProcessResult::End::kSignal : ProcessResult::End::kExit;
    result_.code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
    return {};
  }

  // Somebody else in this process waits for all children.
  Diagnostic unknown_end() const {
    return diagnostic("tool", "nothing says how {} ended", request_.command[0]);
  }

  const ProcessRequest& request_;
  std::string_view rest_;  // of the input
  Stream input_;
  Stream output_;
  Stream errors_;
  pid_t id_ = 0;
  ProcessResult result_;
};

}  // namespace

std::string ProcessResult::ending() const {
  if (end == End::kTimeLimit) return fmt::format("stopped after {} s", code);
  if (end == End::kExit) return fmt::format("exit code {}", code);
  const char* name = sigabbrev_np(code);
  return name == nullptr ? fmt::format("killed by signal {}", code) : fmt::format("killed by SIG{}", name);
}

Result<ProcessResult> run_process(const ProcessRequest& request) {
  CHECK(!request.command.empty(), "a process needs a command");
  Child child(request);
  JUMAR_RETURN_IF_ERROR(child.start());
  return child.finish();
}

}  // namespace jumar::driver::toolchain
