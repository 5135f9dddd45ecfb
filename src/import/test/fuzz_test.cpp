// Broken archives, by fixed seeds: the importer answers with a diagnostic or a graph, and never anything
// else. Under the sanitizers this is also a test that no byte outside of the archive is read.
#include <gtest/gtest.h>

#include <random>

#include "fuzzing.h"

namespace jumar::import {
namespace {

using test::Bytes;

void run(const Bytes& bytes) { test::import_any(bytes); }

const char* const kFiles[] = {"counter.pt2", "block.pt2", "mixed.pt2"};

TEST(Fuzz, Truncated) {
  for (const char* file : kFiles) {
    const Bytes bytes = test::file_bytes(file);
    ASSERT_FALSE(bytes.empty());
    for (size_t size = 0; size < bytes.size(); size += 1 + size / 97)
      run(Bytes(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(size)));
  }
}

TEST(Fuzz, FlippedBytes) {
  std::mt19937 random(1);
  for (const char* file : kFiles) {
    const Bytes good = test::file_bytes(file);
    for (int k = 0; k < 2000; ++k) {
      Bytes bytes = good;
      for (int flips = 1 + static_cast<int>(random() % 4); flips > 0; --flips)
        bytes[random() % bytes.size()] = static_cast<uint8_t>(random());
      run(bytes);
    }
  }
}

// Damage that the checksums would hide: programs and tables that are changed and packed again.
TEST(Fuzz, ChangedTexts) {
  std::mt19937 random(2);
  const std::string tokens[] = {"",
                                "",
                                "0",
                                "1",
                                "-1",
                                "9223372036854775807",
                                "null",
                                "true",
                                "\"\"",
                                "[]",
                                "{}",
                                "{\"as_int\": 0}",
                                "{\"as_none\": true}",
                                "1e9",
                                "\"x\"",
                                "-9223372036854775808"};
  for (const char* file : kFiles) {
    const Bytes bytes = test::file_bytes(file);
    const Result<ZipArchive> zip = ZipArchive::read(bytes, file);
    ASSERT_TRUE(zip.ok());
    for (int k = 0; k < 3000; ++k) {
      test::ZipWriter writer;
      for (const auto& [name, entry] : zip->entries()) {
        std::string body(entry.text());
        if (name.ends_with(".json") && random() % 2 == 0)
          body = test::changed_json(body, tokens[random() % std::size(tokens)], random());
        writer.add(name, body);
      }
      run(writer.finish());
    }
  }
}

// Tensors whose rank is not what operators make of it.
TEST(Fuzz, ChangedRanks) {
  std::mt19937 random(3);
  for (const char* file : kFiles) {
    const Bytes bytes = test::file_bytes(file);
    const Result<ZipArchive> zip = ZipArchive::read(bytes, file);
    ASSERT_TRUE(zip.ok());
    for (int k = 0; k < 1000; ++k) {
      test::ZipWriter writer;
      for (const auto& [name, entry] : zip->entries()) {
        std::string body(entry.text());
        if (name.ends_with("model.json"))
          body = test::changed_rank(test::changed_rank(body, random()), random());
        writer.add(name, body);
      }
      run(writer.finish());
    }
  }
}

}  // namespace
}  // namespace jumar::import
