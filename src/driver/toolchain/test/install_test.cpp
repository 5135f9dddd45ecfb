#include "driver/toolchain/install.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>

#include "driver/scratch_directory.h"
#include "driver/toolchain/toolchain.h"
#include "driver/zip_writer.h"
#include "support/files.h"

namespace jumar::driver::toolchain {
namespace {

namespace fs = std::filesystem;

// Wheels with programs that only tell their version.
class Install : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(wheels());
    put_wheel("triton_ascend-3.2.0-cp311-cp311-any.whl",
              {{"triton/backends/ascend/triton-adapter-opt", "#!/bin/sh\necho adapter one\n"},
               {"triton/language/core.py", "nothing that is needed"}});
    put_wheel("ascendnpu_ir-1.2.0-cp311-cp311-any.whl",
              {{"ascendnpuir/bin/bishengir-compile", "#!/bin/sh\necho compiler\necho two\n"},
               {"ascendnpuir/bin/bishengir-compile-a5", "#!/bin/sh\necho compiler three\n"},
               {"ascendnpuir/bin/bishengir-opt", "not needed"},
               {"ascendnpuir/lib/host.bc", "bitcode"}});
  }

  std::string wheels() const { return scratch_.path() + "/wheels"; }
  std::string directory() const { return scratch_.path() + "/data/toolchain"; }

  void put_wheel(const std::string& name, const std::vector<std::pair<std::string, std::string>>& files) {
    ZipWriter zip = std::move(ZipWriter::create(wheels() + "/" + name).value());
    for (const auto& [path, text] : files) ASSERT_TRUE(zip.add_deflated(path, text).ok());
    ASSERT_TRUE(zip.finish().ok());
  }

  Result<std::string> install(std::vector<std::string> from) const {
    InstallRequest request;
    request.directory = directory();
    request.from = std::move(from);
    return install_toolchain(request);
  }

  // What lies beside the directory.
  size_t entries_beside() const {
    size_t count = 0;
    for (const auto& entry : fs::directory_iterator(scratch_.path() + "/data"))
      count += entry.exists() ? 1 : 0;
    return count;
  }

  ScratchDirectory scratch_ = std::move(ScratchDirectory::create("/tmp").value());
};

TEST_F(Install, UnpacksWhatIsNeededAndNothingElse) {
  const Result<std::string> told = install({wheels()});
  ASSERT_TRUE(told.ok()) << told.error().text();
  EXPECT_NE(told->find("triton_ascend-3.2.0-cp311-cp311-any.whl"), std::string::npos);
  EXPECT_EQ(installed_from(directory()), *told);
  EXPECT_TRUE(fs::exists(directory() + "/ascendnpuir/lib/host.bc"));
  EXPECT_FALSE(fs::exists(directory() + "/ascendnpuir/bin/bishengir-opt"));
  EXPECT_FALSE(fs::exists(directory() + "/triton/language"));
  EXPECT_EQ(entries_beside(), 1U);
}

TEST_F(Install, ProgramsAreFoundAndRun) {
  ASSERT_TRUE(install({wheels()}).ok());
  Toolchain tools = find_toolchain({"", directory(), [](const std::string&) { return std::nullopt; }});
  tools.ask_versions();
  EXPECT_EQ(tools.find(ToolKind::kAdapter)->version, "adapter one");
  EXPECT_EQ(tools.find(ToolKind::kAdapter)->origin, "installed");
  EXPECT_EQ(tools.find(ToolKind::kCompiler)->version, "compiler two");
  EXPECT_EQ(tools.find(ToolKind::kCompilerA5)->version, "compiler three");
  EXPECT_EQ(tools.find(ToolKind::kLinker), nullptr);
  // A directory that is named comes first.
  Toolchain given =
      find_toolchain({directory(), "/nowhere", [](const std::string&) { return std::nullopt; }});
  EXPECT_EQ(given.find(ToolKind::kAdapter)->origin, "given");
  given.ask_versions();
  EXPECT_EQ(given.identity(), tools.identity());
}

TEST_F(Install, FilesMayBeNamed) {
  EXPECT_TRUE(install({wheels() + "/triton_ascend-3.2.0-cp311-cp311-any.whl",
                       wheels() + "/ascendnpu_ir-1.2.0-cp311-cp311-any.whl"})
                  .ok());
}

TEST_F(Install, ReplacesWhatWasThere) {
  ASSERT_TRUE(install({wheels()}).ok());
  ASSERT_TRUE(write_file(directory() + "/old", "old").ok());
  ASSERT_TRUE(install({wheels()}).ok());
  EXPECT_FALSE(fs::exists(directory() + "/old"));
  EXPECT_EQ(entries_beside(), 1U);
}

TEST_F(Install, FailureLeavesWhatWasThere) {
  ASSERT_TRUE(install({wheels()}).ok());
  ASSERT_TRUE(write_file(directory() + "/old", "old").ok());
  put_wheel("ascendnpu_ir-1.2.0-cp311-cp311-any.whl", {{"ascendnpuir/bin/bishengir-compile", "x"}});
  const Result<std::string> told = install({wheels()});
  ASSERT_FALSE(told.ok());
  EXPECT_NE(told.error().message.find("holds no ascendnpuir/bin/bishengir-compile-a5"), std::string::npos);
  EXPECT_TRUE(fs::exists(directory() + "/old"));
  EXPECT_EQ(entries_beside(), 1U);
}

TEST_F(Install, LeftoversOfKilledInstallsGo) {
  const std::string left = scratch_.path() + "/data/.toolchain-killed";
  fs::create_directories(left + "/toolchain");
  ASSERT_TRUE(install({wheels()}).ok());
  EXPECT_TRUE(fs::exists(left));  // another install may be at work
  fs::last_write_time(left, fs::file_time_type::clock::now() - std::chrono::hours(2));
  ASSERT_TRUE(install({wheels()}).ok());
  EXPECT_FALSE(fs::exists(left));
}

TEST_F(Install, MissingWheelIsNamed) {
  fs::remove(wheels() + "/ascendnpu_ir-1.2.0-cp311-cp311-any.whl");
  const Result<std::string> told = install({wheels()});
  ASSERT_FALSE(told.ok());
  EXPECT_NE(told.error().message.find("ascendnpu_ir-*.whl"), std::string::npos);
  EXPECT_FALSE(fs::exists(directory()));
}

TEST_F(Install, DownloadWithoutPipSaysWhatToDo) {
  InstallRequest request;
  request.directory = directory();
  request.python = "/bin/false";
  const Result<std::string> told = install_toolchain(request);
  ASSERT_FALSE(told.ok());
  EXPECT_EQ(told.error().message, "/bin/false could not get the wheels (exit code 1)");
  EXPECT_NE(told.error().text().find("--from"), std::string::npos);
  EXPECT_FALSE(fs::exists(directory()));
}

}  // namespace
}  // namespace jumar::driver::toolchain
