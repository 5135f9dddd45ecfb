#include "driver/device_archive.h"

#include <gtest/gtest.h>

#include "driver/scratch_directory.h"
#include "driver/zip_writer.h"
#include "support/files.h"

namespace jumar::driver {
namespace {

const std::vector<DeviceKernel> kKernels = {
    {"gelu", "gelu", "kernels/gelu.linalg.mlir", ""},
    {"fold_%1", "k_1", "kernels/at_load/k_1.linalg.mlir", "kernels/k_1.o"}};

TEST(DeviceKernels, AreReadAsTheyWereWritten) {
  const std::string text = device_kernels_json("Card \"7\"", kKernels);
  const Result<std::vector<DeviceKernel>> again = read_device_kernels(text, "device.json");
  ASSERT_TRUE(again.ok()) << again.error().text();
  ASSERT_EQ(again->size(), kKernels.size());
  for (size_t k = 0; k < kKernels.size(); ++k) {
    EXPECT_EQ((*again)[k].name, kKernels[k].name);
    EXPECT_EQ((*again)[k].function, kKernels[k].function);
    EXPECT_EQ((*again)[k].linalg, kKernels[k].linalg);
    EXPECT_EQ((*again)[k].binary, kKernels[k].binary);
  }
  EXPECT_EQ(device_kernels_json("Card \"7\"", *again), text);
}

TEST(DeviceKernels, OfAnotherFormatAreRefused) {
  for (const char* text : {"", "[]", R"({"format": "jumar device package 2", "kernels": []})",
                           R"({"format": "jumar device package 1"})",
                           R"({"format": "jumar device package 1", "kernels": [{"kernel": "a"}]})"}) {
    const Result<std::vector<DeviceKernel>> read = read_device_kernels(text, "device.json");
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_NE(read.error().text().find("device.json"), std::string::npos) << read.error().text();
  }
}

// An archive of these entries, in the folder of a model.
std::string archive_of(const std::vector<std::pair<std::string, std::string>>& entries) {
  const auto scratch = ScratchDirectory::create("/tmp");
  const std::string path = scratch->path() + "/x.pt2";
  auto zip = ZipWriter::create(path);
  for (const auto& [name, text] : entries)
    EXPECT_TRUE(zip->add_deflated("x/data/aotinductor/model/" + name, text).ok());
  EXPECT_TRUE(zip->finish().ok());
  return *bytes_of_file(path);
}

Diagnostic error_of(const std::string& bytes) {
  const Result<DeviceArchive> read =
      read_device_archive({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, "x.pt2");
  EXPECT_FALSE(read.ok());
  return read.ok() ? Diagnostic{} : read.error();
}

TEST(DeviceArchive, NamesWhatIsMissing) {
  EXPECT_EQ(error_of(archive_of({{"model.wrapper.so", "elf"}})).message,
            "'x.pt2' is no package for a device");
  std::vector<std::pair<std::string, std::string>> entries = {
      {device_entry::kKernels, device_kernels_json("Card", {})}};
  EXPECT_NE(
      error_of(archive_of(entries)).message.find("it has no entry 'x/data/aotinductor/model/device.target'"),
      std::string::npos);
  entries.emplace_back(device_entry::kTarget, "target \"Card\" from \"Ascend910B1\" { vector_cores }\n");
  EXPECT_NE(error_of(archive_of(entries)).text().find("x.pt2: device.target"), std::string::npos);
  entries.back().second = "target \"Card\" from \"Ascend910B1\" {}\n";
  EXPECT_NE(error_of(archive_of(entries)).message.find("kernels.json"), std::string::npos);
  entries.emplace_back(device_entry::kLaunches, "{}");
  entries.emplace_back(device_entry::kManifest, "manifest");
  entries.emplace_back(device_entry::kPlan, "no plan");
  EXPECT_NE(error_of(archive_of(entries)).text().find("model.plan"), std::string::npos);
}

}  // namespace
}  // namespace jumar::driver
