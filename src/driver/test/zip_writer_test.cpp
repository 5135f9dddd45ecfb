#include "driver/zip_writer.h"

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "support/zip.h"

namespace jumar::driver {
namespace {

using Bytes = std::vector<uint8_t>;

class ZipWriterTest : public testing::Test {
 protected:
  ZipWriterTest() {
    std::string name = testing::TempDir() + "jumar-zip-XXXXXX";
    folder_ = ::mkdtemp(name.data());
    path_ = folder_ + "/a.zip";
  }
  ~ZipWriterTest() override { std::filesystem::remove_all(folder_); }

  // Written with a large entry that packs well, and small ones.
  Bytes written() {
    ZipWriter zip = ZipWriter::create(path_).value();
    const std::array<std::string_view, 3> pieces = {"one, ", "two, ", "three"};
    EXPECT_TRUE(zip.add("m/pieces", pieces).ok());
    EXPECT_TRUE(zip.add_deflated("m/packed", packed_).ok());
    EXPECT_TRUE(zip.add_deflated("m/nothing", "").ok());
    EXPECT_TRUE(zip.add("m/empty", "").ok());
    EXPECT_FALSE(std::filesystem::exists(path_));
    EXPECT_TRUE(zip.finish().ok());
    std::ifstream file(path_, std::ios::binary);
    return Bytes(std::istreambuf_iterator<char>(file), {});
  }

  std::string folder_;
  std::string path_;
  std::string packed_ = std::string(100000, 'x') + "end";
};

TEST_F(ZipWriterTest, WhatIsWrittenReadsBack) {
  const Bytes bytes = written();
  EXPECT_LT(bytes.size(), 2000U);
  const Result<ZipArchive> zip = ZipArchive::read(bytes, "a.zip", ZipArchive::Packing::kDeflate);
  ASSERT_TRUE(zip.ok()) << zip.error().text();
  EXPECT_EQ(zip->find("m/pieces")->text(), "one, two, three");
  EXPECT_TRUE(check_sum(*zip->find("m/pieces"), "m/pieces").ok());
  const ZipEntry& packed = *zip->find("m/packed");
  EXPECT_TRUE(packed.is_deflated);
  EXPECT_EQ(packed.plain_bytes, packed_.size());
  EXPECT_EQ(unpacked(packed, "m/packed", 1 << 20).value(), packed_);
  EXPECT_EQ(unpacked(*zip->find("m/nothing"), "m/nothing", 1 << 20).value(), "");
  EXPECT_EQ(unpacked(*zip->find("m/pieces"), "m/pieces", 1 << 20).value(), "one, two, three");
  for (const auto& [name, entry] : zip->entries())
    EXPECT_EQ(static_cast<size_t>(entry.bytes.data() - bytes.data()) % ZipWriter::kAlignmentBytes, 0U)
        << name;
}

// Pieces that do not shrink are kept plain between those that do: every way to change from one to the other.
TEST_F(ZipWriterTest, PiecesThatDoNotShrinkAreKeptPlain) {
  std::mt19937 random(7);
  std::string noise(50000, ' ');
  for (char& byte : noise) byte = static_cast<char>(random());
  const std::string even(70000, 'y');
  for (const std::string& text : {noise, even + noise, noise + even, even + noise + even + noise + "end"}) {
    packed_ = text;
    std::filesystem::remove(path_);
    const Bytes bytes = written();
    const Result<ZipArchive> zip = ZipArchive::read(bytes, "a.zip", ZipArchive::Packing::kDeflate);
    ASSERT_TRUE(zip.ok()) << zip.error().text();
    const ZipEntry& packed = *zip->find("m/packed");
    EXPECT_EQ(unpacked(packed, "m/packed", 1 << 20).value(), text);
    EXPECT_LT(packed.bytes.size(), text.size() + 100);
    if (text.size() > noise.size()) {
      EXPECT_LT(packed.bytes.size(), text.size() - even.size() / 2);
    }
  }
}

TEST_F(ZipWriterTest, DeflatedEntriesMustBeAllowed) {
  const Result<ZipArchive> zip = ZipArchive::read(written(), "a.zip");
  ASSERT_FALSE(zip.ok());
  EXPECT_NE(zip.error().message.find("compressed (method 8)"), std::string::npos);
}

TEST_F(ZipWriterTest, DamagedEntriesAreErrors) {
  const Bytes good = written();
  const auto place = [&] {
    const Result<ZipArchive> zip = ZipArchive::read(good, "a.zip", ZipArchive::Packing::kDeflate);
    const ZipEntry& packed = *zip->find("m/packed");
    return std::pair(static_cast<size_t>(packed.bytes.data() - good.data()), packed.bytes.size());
  }();
  for (size_t k = 0; k < place.second; ++k) {
    Bytes bytes = good;
    bytes[place.first + k] ^= 0x10;
    const Result<ZipArchive> zip = ZipArchive::read(bytes, "a.zip", ZipArchive::Packing::kDeflate);
    ASSERT_TRUE(zip.ok());
    EXPECT_FALSE(unpacked(*zip->find("m/packed"), "m/packed", 1 << 20).ok()) << k;
  }
  const Result<ZipArchive> zip = ZipArchive::read(good, "a.zip", ZipArchive::Packing::kDeflate);
  const Result<std::string> large = unpacked(*zip->find("m/packed"), "m/packed", 1000);
  ASSERT_FALSE(large.ok());
  EXPECT_NE(large.error().message.find("at most 1000"), std::string::npos);
}

TEST_F(ZipWriterTest, NothingIsLeftWithoutFinish) {
  {
    ZipWriter zip = ZipWriter::create(path_).value();
    EXPECT_TRUE(zip.add("m/a", "a").ok());
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
  EXPECT_FALSE(ZipWriter::create(folder_ + "/no/a.zip").ok());
}

}  // namespace
}  // namespace jumar::driver
