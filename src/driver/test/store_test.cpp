#include "driver/store.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

namespace jumar::driver {
namespace {

namespace fs = std::filesystem;

class StoreTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "jumar-store-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    directory_ = name;
  }
  void TearDown() override { fs::remove_all(directory_); }

  fs::path only_file() const {
    fs::path found;
    for (const auto& entry : fs::recursive_directory_iterator(directory_ / "v1")) {
      if (!entry.is_regular_file()) continue;
      EXPECT_TRUE(found.empty()) << "more than one file";
      found = entry.path();
    }
    return found;
  }

  fs::path directory_;
  const Hash128 key_ = hash_of("a key");
};

std::string bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_bytes(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

TEST_F(StoreTest, GivesBackWhatWasPut) {
  const Store store(directory_, 1 << 20);
  EXPECT_FALSE(store.get("graph", key_));
  const std::string payload("with a \0 byte", 13);
  ASSERT_TRUE(store.put("graph", key_, payload).ok());
  EXPECT_EQ(store.get("graph", key_), payload);
  EXPECT_FALSE(store.get("kernel", key_)) << "kinds are apart";
  EXPECT_FALSE(store.get("graph", hash_of("another key")));
  EXPECT_EQ(store.stats().entries, 1);
}

TEST_F(StoreTest, AnEmptyPayloadIsAnEntry) {
  const Store store(directory_, 1 << 20);
  ASSERT_TRUE(store.put("graph", key_, "").ok());
  EXPECT_EQ(store.get("graph", key_), "");
}

TEST_F(StoreTest, EveryFlippedBitIsNoticed) {
  const Store store(directory_, 1 << 20);
  ASSERT_TRUE(store.put("graph", key_, "payload").ok());
  const fs::path file = only_file();
  const std::string good = bytes_of(file);
  for (size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
    write_bytes(file, bad);
    EXPECT_FALSE(store.get("graph", key_)) << "bit " << bit;
    EXPECT_FALSE(fs::exists(file)) << "a damaged entry is dropped";
  }
  ASSERT_TRUE(store.put("graph", key_, "payload").ok());
  EXPECT_EQ(store.get("graph", key_), "payload");
}

TEST_F(StoreTest, EveryTruncationAndExtensionIsNoticed) {
  const Store store(directory_, 1 << 20);
  ASSERT_TRUE(store.put("graph", key_, "payload").ok());
  const fs::path file = only_file();
  const std::string good = bytes_of(file);
  for (size_t length = 0; length < good.size(); ++length) {
    write_bytes(file, good.substr(0, length));
    EXPECT_FALSE(store.get("graph", key_)) << "length " << length;
  }
  write_bytes(file, good + "x");
  EXPECT_FALSE(store.get("graph", key_));
}

TEST_F(StoreTest, TheOldestUnusedEntriesGoFirst) {
  const std::string payload(1000, 'x');
  const Store store(directory_, 3500);
  const auto key = [](int k) { return hash_of("key " + std::to_string(k)); };
  for (int k = 0; k < 3; ++k) {
    ASSERT_TRUE(store.put("graph", key(k), payload).ok());
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  ASSERT_TRUE(store.get("graph", key(0))) << "a use makes it young";
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  ASSERT_TRUE(store.put("graph", key(3), payload).ok());
  EXPECT_TRUE(store.get("graph", key(0)));
  EXPECT_FALSE(store.get("graph", key(1)));
  EXPECT_TRUE(store.get("graph", key(2)));
  EXPECT_TRUE(store.get("graph", key(3)));
  EXPECT_LE(store.stats().bytes, 3500);
}

TEST_F(StoreTest, ProcessesThatPutLittleKeepTheLimitTogether) {
  const std::string payload(1000, 'x');
  for (int k = 0; k < 20; ++k) {
    ASSERT_TRUE(Store(directory_, 5000).put("graph", hash_of(std::to_string(k)), payload).ok());
    EXPECT_LE(Store(directory_, 5000).stats().bytes, 5000);
  }
  // A total that is lost or damaged is measured again.
  for (const std::string total : {"", "abc", "\xff\xff\xff\xff\xff\xff\xff\xff"}) {
    write_bytes(directory_ / "v1.size", total);
    ASSERT_TRUE(Store(directory_, 2500).put("graph", key_, payload).ok());
    EXPECT_LE(Store(directory_, 2500).stats().bytes, 2500);
  }
}

TEST_F(StoreTest, ClearRemovesEverything) {
  const Store store(directory_, 1 << 20);
  for (int k = 0; k < 5; ++k) ASSERT_TRUE(store.put("graph", hash_of(std::to_string(k)), "x").ok());
  EXPECT_EQ(store.clear().entries, 5);
  EXPECT_EQ(store.stats().entries, 0);
  EXPECT_FALSE(store.get("graph", hash_of("0")));
}

TEST_F(StoreTest, ADirectoryThatCannotBeMadeIsADiagnostic) {
  write_bytes(directory_ / "file", "");
  const Store store((directory_ / "file" / "below").string(), 1 << 20);
  const Status status = store.put("graph", key_, "x");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, "io");
  EXPECT_FALSE(store.get("graph", key_));
}

TEST_F(StoreTest, OldTemporaryFilesAreCollected) {
  const Store store(directory_, 1 << 20);
  ASSERT_TRUE(store.put("graph", key_, "x").ok());
  const fs::path old = only_file().string() + ".tmp.abcdef";
  write_bytes(old, "half an entry");
  fs::last_write_time(old, fs::file_time_type::clock::now() - std::chrono::hours(2));
  EXPECT_EQ(store.stats().entries, 1);
  EXPECT_FALSE(fs::exists(old));
}

// Payloads that tell which key they belong to, long enough for a torn write to show.
std::string payload_for(int key) {
  std::string payload;
  for (int k = 0; k < 2000; ++k) payload += fmt::format("{}:{} ", key, k);
  return payload;
}

// Writes and reads the same keys; false when a read gives anything else than the whole payload.
bool hammer(const std::string& directory, int64_t limit_bytes) {
  const Store store(directory, limit_bytes);
  for (int round = 0; round < 60; ++round) {
    const int key = round % 7;
    const Hash128 hash = hash_of(std::to_string(key));
    const std::optional<std::string> got = store.get("graph", hash);
    if (got && *got != payload_for(key)) return false;
    if (!store.put("graph", hash, payload_for(key)).ok()) return false;
  }
  return true;
}

TEST_F(StoreTest, ProcessesThatWriteAtOnceSeeWholeEntries) {
  for (const int64_t limit_bytes : {int64_t{1} << 30, int64_t{40'000}}) {
    std::vector<pid_t> children;
    for (int k = 0; k < 4; ++k) {
      const pid_t child = fork();
      ASSERT_GE(child, 0);
      if (child == 0) _exit(hammer(directory_, limit_bytes) ? 0 : 1);
      children.push_back(child);
    }
    for (const pid_t child : children) {
      int status = -1;
      ASSERT_EQ(waitpid(child, &status, 0), child);
      EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "limit " << limit_bytes;
    }
  }
}

}  // namespace
}  // namespace jumar::driver
