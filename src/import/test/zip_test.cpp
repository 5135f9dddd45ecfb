#include "support/zip.h"

#include <gtest/gtest.h>

#include "archive.h"

namespace jumar::import {
namespace {

using test::Bytes;
using test::ZipWriter;

std::string message(const Bytes& bytes) {
  const Result<ZipArchive> zip = ZipArchive::read(bytes, "a.zip");
  return zip.ok() ? "" : zip.error().message;
}

TEST(Zip, FindsEntriesInPlace) {
  ZipWriter writer;
  writer.add("m/a.txt", "hello");
  writer.add("m/b", "");
  const Bytes bytes = writer.finish();
  const Result<ZipArchive> zip = ZipArchive::read(bytes, "a.zip");
  ASSERT_TRUE(zip.ok()) << zip.error().text();
  ASSERT_EQ(zip->entries().size(), 2U);
  const ZipEntry* entry = zip->find("m/a.txt");
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->text(), "hello");
  EXPECT_GE(entry->bytes.data(), bytes.data());
  EXPECT_LT(entry->bytes.data(), bytes.data() + bytes.size());
  EXPECT_TRUE(check_sum(*entry, "m/a.txt").ok());
  EXPECT_EQ(zip->find("m/c"), nullptr);
}

TEST(Zip, ReadsWhatTorchWrites) {
  const Bytes bytes = test::file_bytes("counter.pt2");
  const Result<ZipArchive> zip = ZipArchive::read(bytes, "counter.pt2");
  ASSERT_TRUE(zip.ok()) << zip.error().text();
  ASSERT_NE(zip->find("counter/archive_format"), nullptr);
  EXPECT_EQ(zip->find("counter/archive_format")->text(), "pt2");
  for (const auto& [name, entry] : zip->entries()) EXPECT_TRUE(check_sum(entry, name).ok()) << name;
}

TEST(Zip, NoticesDamage) {
  ZipWriter writer;
  writer.add("m/a", "hello");
  Bytes bytes = writer.finish();
  const std::string body = "hello";
  *std::search(bytes.begin(), bytes.end(), body.begin(), body.end()) = 'j';
  const Result<ZipArchive> zip = ZipArchive::read(bytes, "a.zip");
  ASSERT_TRUE(zip.ok());
  const Status sum = check_sum(*zip->find("m/a"), "m/a");
  ASSERT_FALSE(sum.ok());
  EXPECT_NE(sum.error().message.find("damaged"), std::string::npos);
}

TEST(Zip, RefusesNamesThatLeaveTheArchive) {
  for (const std::string name : {"../a", "m/../../a", "/etc/passwd", "m\\a", "m/./a", "", "m/\na"}) {
    ZipWriter writer;
    writer.add(name, "x");
    EXPECT_NE(message(writer.finish()), "") << name;
  }
}

TEST(Zip, RefusesWhatIsNotStored) {
  ZipWriter writer;
  writer.add("m/a", "x", 8);
  EXPECT_NE(message(writer.finish()).find("compressed (method 8)"), std::string::npos);
}

TEST(Zip, RefusesTwoEntriesOfOneName) {
  ZipWriter writer;
  writer.add("m/a", "x");
  writer.add("m/a", "y");
  EXPECT_NE(message(writer.finish()).find("two entries"), std::string::npos);
}

TEST(Zip, EveryTruncationIsAnError) {
  ZipWriter writer;
  writer.add("m/a", "hello");
  writer.add("m/b", std::string(100, 'x'));
  const Bytes bytes = writer.finish();
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_NE(message(Bytes(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(size))), "") << size;
}

TEST(Zip, OffsetsAndSizesAreChecked) {
  ZipWriter writer;
  writer.add("m/a", "hello");
  const Bytes good = writer.finish();
  // Every byte of the directory and of the end record, set to its largest and smallest value.
  for (size_t at = good.size() - 22 - 49; at < good.size(); ++at) {
    for (const int value : {0, 1, 127, 255}) {
      Bytes bytes = good;
      bytes[at] = static_cast<uint8_t>(value);
      const Result<ZipArchive> zip = ZipArchive::read(bytes, "a.zip");
      if (!zip.ok()) continue;
      for (const auto& [name, entry] : zip->entries()) {
        ASSERT_GE(entry.bytes.data(), bytes.data());
        ASSERT_LE(entry.bytes.data() + entry.bytes.size(), bytes.data() + bytes.size());
      }
    }
  }
}

}  // namespace
}  // namespace jumar::import
