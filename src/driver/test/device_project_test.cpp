// Folders of a device's kernels: how they are written, and what `jumar inspect` says about their
// kernels.json.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "driver/device_project.h"
#include "driver/device_table.h"
#include "driver/inspect_command.h"
#include "support/files.h"

namespace jumar::driver {
namespace {

namespace fs = std::filesystem;

constexpr const char* kJson = R"({"format": "jumar device project 1",
 "target": {"name": "Ascend910B1", "family": "atlas-a2", "ub_usable_bytes": 196608},
 "core_limit": {"cube": 7, "vector": 14}, "sizes": {"s0": 100},
 "launches": [
  {"kernel": "softmax", "grid": [14, 1, 1],
   "tiling": [{"tasks": "s0", "axes": [{"axis": "i0", "extent": "s0", "block": 8, "role": "tasks"},
                                       {"axis": "r0", "extent": "768", "block": 768, "role": "inner"}]},
              {"tasks": "s0", "axes": [{"axis": "i0", "extent": "s0", "block": 4, "role": "loop"}]},
              {"tasks": "s0", "axes": [{"axis": "i0", "extent": "s0", "block": 4, "role": "loop"}]}],
   "ops": [{"op": "aten._softmax.default", "count": 1}, {"op": "aten.add.Tensor", "count": 2}],
   "ub_unshared_bytes": 2048,
   "ub_bytes": 1024, "least_bytes": 2000000, "broadcast_bytes": 10, "gm_bytes": 3000000,
   "ratio_to_least": 1.5, "ratio_with_broadcast": 1.4999, "vector_calls": 77, "scalar_elements": 5,
   "cores_used": 13, "modelled_ns": 12345, "stage": "checked, not linked"},
  {"kernel": "odd", "ops": [], "grid": [2, 3, 1], "tiling": [], "ub_bytes": 0, "least_bytes": 5,
   "not_counted": "too long", "stage": "linked"}],
 "calls": [{"op": "aten.mm.default", "reason": "a matrix product", "count": 2}]})";

class Folder : public testing::Test {
 protected:
  void SetUp() override {
    path_ = testing::TempDir() + "jumar-project-XXXXXX";
    ASSERT_NE(::mkdtemp(path_.data()), nullptr);
  }
  void TearDown() override { fs::remove_all(path_); }

  static DeviceProject project(const std::string& kernel) {
    return {1, kJson, {{"kernels.json", kJson}, {kernel + ".ttir.mlir", "module {}"}}};
  }
  // Files of the folder, sorted.
  static std::vector<std::string> names(const std::string& folder) {
    std::vector<std::string> out;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder))
      out.push_back(entry.path().filename().string());
    std::sort(out.begin(), out.end());
    return out;
  }

  std::string path_;
};

using Names = std::vector<std::string>;

TEST_F(Folder, IsMadeWithItsParents) {
  const std::string folder = path_ + "/a/b/";
  const Status status = write_device_project(project("k"), folder);
  ASSERT_TRUE(status.ok()) << status.error().text();
  EXPECT_EQ(names(folder), (Names{"k.ttir.mlir", "kernels.json"}));
  EXPECT_EQ(names(path_ + "/a"), Names{"b"});  // nothing is left beside it
}

TEST_F(Folder, ReplacesOneOfItsKind) {
  const std::string folder = path_ + "/p";
  ASSERT_TRUE(write_device_project(project("old"), folder).ok());
  ASSERT_TRUE(write_device_project(project("new"), folder).ok());
  EXPECT_EQ(names(folder), (Names{"kernels.json", "new.ttir.mlir"}));
  EXPECT_EQ(names(path_), Names{"p"});
}

TEST_F(Folder, TakesAnEmptyFolder) {
  ASSERT_TRUE(write_device_project(project("k"), path_).ok());
  EXPECT_EQ(names(path_), (Names{"k.ttir.mlir", "kernels.json"}));
}

TEST_F(Folder, LeavesOtherThingsAlone) {
  ASSERT_TRUE(write_file(path_ + "/notes.txt", "mine").ok());
  ASSERT_TRUE(write_file(path_ + "/kernels.json", "{}").ok());
  for (const std::string& place : {path_, path_ + "/notes.txt"}) {
    const Status status = write_device_project(project("k"), place);
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, "io");
    EXPECT_NE(status.error().message.find(place), std::string::npos) << status.error().message;
  }
  EXPECT_EQ(names(path_), (Names{"kernels.json", "notes.txt"}));
}

TEST(DeviceTable, HasARowForEachLaunch) {
  const Result<std::string> text = device_table(kJson, "kernels.json");
  ASSERT_TRUE(text.ok()) << text.error().text();
  EXPECT_EQ(
      *text,
      "target: Ascend910B1, at most 7 cube and 14 vector cores, UB 196608 bytes\n"
      "sizes: s0 = 100\n"
      "kernel   grid  cores  tiling                 UB  unshared  GM MB  ratio  +bcast  vector  scalar    us"
      "  stage                ops\n"
      "softmax    14     13  t8/s0 r768; 2x 4/s0  1024      2048  3.000  1.500   1.500      77       5  12.3"
      "  checked, not linked  _softmax, 2x add.Tensor\n"
      "odd       2x3      ?                          0         ?      ?      ?       ?       ?       ?     ?"
      "  linked\n"
      "2 launches: GM 3.000 MB, 1.500 of the least possible, 12.3 us modelled; 1 not counted\n"
      "not counted: odd: too long\n"
      "called operators:\n"
      "  2x aten.mm.default: a matrix product\n");
}

TEST(DeviceTable, TellsWhatIsComputedOfTheWeights) {
  std::string json = kJson;
  const size_t at = json.find(" \"calls\"");
  json.insert(
      at, R"( "at_load": [{"kernel": "fold_scale", "ops": [], "grid": [1, 1, 1], "tiling": [], "ub_bytes": 64,
   "least_bytes": 5, "not_counted": "too long", "stage": "linked"}],)");
  const Result<std::string> text = device_table(json, "kernels.json");
  ASSERT_TRUE(text.ok()) << text.error().text();
  const size_t head = text->find("computed of the weights, when the package is loaded:\n");
  ASSERT_NE(head, std::string::npos) << *text;
  EXPECT_GT(text->find("fold_scale"), head);
}

TEST(DeviceTable, NamesWhatIsMissing) {
  const auto said = [](const std::string& json) {
    const Result<std::string> text = device_table(json, "x/kernels.json");
    return text.ok() ? "" : text.error().text();
  };
  EXPECT_NE(said("{").find("x/kernels.json"), std::string::npos);
  EXPECT_NE(said(R"({"format": "other"})").find("'other'"), std::string::npos);
  std::string json = kJson;
  json.replace(json.find("\"grid\""), 6, "\"gird\"");
  EXPECT_NE(said(json).find("launches[0]"), std::string::npos) << said(json);
}

TEST(DeviceTable, AnotherFolderIsAnError) {
  InspectArguments arguments;
  arguments.file = testing::TempDir();
  const Options options = Options::from_environment([](const std::string&) { return std::nullopt; }).value();
  const Result<std::string> text = inspect(arguments, options);
  ASSERT_FALSE(text.ok());
  EXPECT_NE(text.error().text().find("it has no kernels.json"), std::string::npos) << text.error().text();
}

}  // namespace
}  // namespace jumar::driver
