#include "driver/toolchain/process.h"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <thread>

namespace jumar::driver::toolchain {
namespace {

ProcessRequest shell(const std::string& script) {
  ProcessRequest request;
  request.command = {"/bin/sh", "-c", script};
  return request;
}

TEST(Process, StreamsAndExitCode) {
  ProcessRequest request = shell("cat; echo oh >&2; exit 3");
  request.input = "some text";
  const auto done = run_process(request);
  ASSERT_TRUE(done.ok()) << done.error().text();
  EXPECT_EQ(done->output, "some text");
  EXPECT_EQ(done->errors, "oh\n");
  EXPECT_FALSE(done->is_ok());
  EXPECT_EQ(done->ending(), "exit code 3");
}

TEST(Process, LargeInputAndOutputDoNotWaitForEachOther) {
  ProcessRequest request = shell("cat");
  for (int k = 0; k < 300000; ++k) request.input += fmt::format("line {}\n", k);
  const auto done = run_process(request);
  ASSERT_TRUE(done.ok());
  EXPECT_TRUE(done->is_ok());
  EXPECT_EQ(done->output, request.input);
}

TEST(Process, InputThatNobodyReadsIsNoFailure) {
  ProcessRequest request = shell("exec true");
  request.input.assign(10 << 20, 'x');
  const auto done = run_process(request);
  ASSERT_TRUE(done.ok());
  EXPECT_TRUE(done->is_ok()) << done->ending();
}

TEST(Process, DeathBySignalIsNamed) {
  const auto aborted = run_process(shell("kill -ABRT $$"));
  ASSERT_TRUE(aborted.ok());
  EXPECT_EQ(aborted->ending(), "killed by SIGABRT");
  const auto broken = run_process(shell("kill -SEGV $$"));
  ASSERT_TRUE(broken.ok());
  EXPECT_EQ(broken->ending(), "killed by SIGSEGV");
}

TEST(Process, TimeLimitKillsTheGroup) {
  ProcessRequest request = shell("echo begun; sleep 30 & sleep 30; echo never");
  request.limit_seconds = 0.3;
  const auto begin = std::chrono::steady_clock::now();
  const auto done = run_process(request);
  ASSERT_TRUE(done.ok());
  EXPECT_EQ(done->end, ProcessResult::End::kTimeLimit);
  EXPECT_EQ(done->output, "begun\n");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

TEST(Process, ChildrenLeftBehindAreNotWaitedFor) {
  const auto begin = std::chrono::steady_clock::now();
  const auto done = run_process(shell("sleep 30 & echo done"));
  ASSERT_TRUE(done.ok());
  EXPECT_TRUE(done->is_ok());
  EXPECT_EQ(done->output, "done\n");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

TEST(Process, VariablesAndDirectory) {
  ProcessRequest request = shell("echo $WORD; pwd");
  request.variables = {{"WORD", "here"}};
  request.directory = "/";
  const auto done = run_process(request);
  ASSERT_TRUE(done.ok());
  EXPECT_EQ(done->output, "here\n/\n");
}

TEST(Process, IgnoredSignalsAreNotInherited) {
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  const auto done = run_process(shell("kill -PIPE $$; echo alive"));
  std::signal(SIGPIPE, before);
  ASSERT_TRUE(done.ok());
  EXPECT_EQ(done->ending(), "killed by SIGPIPE");
}

TEST(Process, ProgramThatIsMissing) {
  ProcessRequest request;
  request.command = {"/nonexistent/tool"};
  const auto done = run_process(request);
  ASSERT_FALSE(done.ok());
  EXPECT_NE(done.error().message.find("/nonexistent/tool cannot be started"), std::string::npos);
}

TEST(Process, ManyAtOnce) {
  std::vector<std::thread> threads;
  std::vector<std::string> outputs(16);
  for (size_t k = 0; k < outputs.size(); ++k) {
    threads.emplace_back([&, k] {
      ProcessRequest request = shell("cat");
      request.input.assign(100000 + k, static_cast<char>('a' + k));
      const auto done = run_process(request);
      if (done.ok()) outputs[k] = done->output;
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (size_t k = 0; k < outputs.size(); ++k)
    EXPECT_EQ(outputs[k], std::string(100000 + k, static_cast<char>('a' + k)));
}

}  // namespace
}  // namespace jumar::driver::toolchain
