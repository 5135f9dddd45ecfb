// The simulator as a library that is opened: what is missing is said, and a kernel runs.
#include "driver/sim_library.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "driver/sim_command.h"
#include "support/files.h"
#include "support/npy.h"

namespace jumar::driver {
namespace {

const std::string kKernels = std::string(JUMAR_SOURCE_DIR) + "/src/runtime/sim/test/kernels/";

TEST(SimLibrary, AMissingFileIsAnErrorThatHelps) {
  const auto library = SimLibrary::open("/nowhere/libjumar_sim.so");
  ASSERT_FALSE(library.ok());
  const std::string text = library.error().text();
  EXPECT_NE(text.find("/nowhere/libjumar_sim.so"), std::string::npos) << text;
  EXPECT_NE(text.find("libmlir-19"), std::string::npos) << text;
  EXPECT_NE(text.find("JUMAR_SIM_LIBRARY"), std::string::npos) << text;
}

TEST(SimLibrary, AnotherLibraryIsRefused) {
  const auto library = SimLibrary::open("libm.so.6");
  ASSERT_FALSE(library.ok());
  EXPECT_NE(library.error().text().find("is not a simulator"), std::string::npos);
}

#ifdef JUMAR_SIM_FILE
// Several copies of the handle keep one kernel, and the library with it.
TEST(SimLibrary, AKernelOutlivesTheHandleOfItsLibrary) {
  auto library = SimLibrary::open(JUMAR_SIM_FILE);
  ASSERT_TRUE(library.ok()) << library.error().text();
  const std::string text = *bytes_of_file(kKernels + "add_no_mask.linalg.mlir");
  auto made = (*library)->compile(text, {});
  ASSERT_TRUE(made.ok()) << made.error().text();
  SimKernel kernel = *made;
  *library = nullptr;
  std::vector<float> x(128, 2.0f), y(128, 0.0f);
  jumar_sim_fault fault = {};
  int64_t words[] = {reinterpret_cast<int64_t>(x.data()),
                     reinterpret_cast<int64_t>(y.data()),
                     reinterpret_cast<int64_t>(&fault),
                     3,
                     1,
                     1,
                     128,
                     128};
  ASSERT_EQ(kernel.info().word_count, 8);
  kernel.function()(0, 2, reinterpret_cast<void**>(words));
  EXPECT_EQ(fault.flag, 0);
  EXPECT_EQ(y, std::vector<float>(128, 4.0f));
  kernel.function()(2, 3, reinterpret_cast<void**>(words));
  EXPECT_NE(kernel.fault_text(fault).find("reads elements 128 to 191 of argument 0"), std::string::npos);
}

TEST(SimLibrary, ErrorsOfTheTextAreTheSimulators) {
  auto library = SimLibrary::open(JUMAR_SIM_FILE);
  ASSERT_TRUE(library.ok());
  auto kernel = (*library)->compile("module {", {});
  ASSERT_FALSE(kernel.ok());
  EXPECT_EQ(kernel.error().code, "sim");
}

class SimCommand : public testing::Test {
 protected:
  SimCommand() : base_(*Options::from_environment([](const std::string&) { return std::nullopt; })) {
    arguments_.file = kKernels + "persistent.linalg.mlir";
    arguments_.options = {std::string("sim_library=") + JUMAR_SIM_FILE};
    arguments_.output = folder_ + "/sim_{}.npy";
    arguments_.grid = {7};
    x_.resize(1000);
    for (size_t i = 0; i < x_.size(); ++i) x_[i] = static_cast<float>(i);
    NpyArray array{"<f4", {1000}, false, std::vector<uint8_t>(4000)};
    std::memcpy(array.elements.data(), x_.data(), 4000);
    EXPECT_TRUE(write_npy(folder_ + "/sim_x.npy", array).ok());
  }

  std::string folder_ = testing::TempDir();
  Options base_;
  SimArguments arguments_;
  std::vector<float> x_;
};

TEST_F(SimCommand, RunsAKernelOnFiles) {
  arguments_.words = {folder_ + "/sim_x.npy", "1000xf32", "1000"};
  const Status status = sim_command(arguments_, base_);
  ASSERT_TRUE(status.ok()) << status.error().text();
  const auto result = read_npy(folder_ + "/sim_1.npy");
  ASSERT_TRUE(result.ok());
  std::vector<float> y(1000);
  std::memcpy(y.data(), result->elements.data(), 4000);
  for (size_t i = 0; i < y.size(); ++i) EXPECT_EQ(y[i], x_[i] * x_[i]);
}

TEST_F(SimCommand, SaysWhatIsWrongWithItsWords) {
  const auto text_of = [&](std::vector<std::string> words) {
    arguments_.words = std::move(words);
    const Status status = sim_command(arguments_, base_);
    return status.ok() ? std::string() : status.error().text();
  };
  const std::string x = folder_ + "/sim_x.npy";
  EXPECT_NE(text_of({x, "999xf32", "1000"}).find("writes elements 960 to 999 of argument 1"),
            std::string::npos);
  EXPECT_NE(text_of({x, "1000xf16", "1000"}).find("argument 1 of persistent points to f32"),
            std::string::npos);
  EXPECT_NE(text_of({x, "1000xf32", "many"}).find("is a number of type i32, not many"), std::string::npos);
  EXPECT_NE(text_of({x}).find("takes 3 arguments, not 1"), std::string::npos);
}
#endif

}  // namespace
}  // namespace jumar::driver
