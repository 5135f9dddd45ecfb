#include "driver/store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

namespace jumar::driver {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLayout = "v1";
constexpr char kMagic[8] = {'J', 'U', 'M', 'A', 'R', 'E', '1', '\n'};
constexpr std::string_view kTemporaryMark = ".tmp.";
constexpr std::chrono::hours kTemporaryLife{1};

struct Header {
  char magic[8];
  uint64_t length;
  uint64_t hash_high;
  uint64_t hash_low;
};

// A file descriptor that closes itself.
class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  explicit operator bool() const { return descriptor_ >= 0; }
  int get() const { return descriptor_; }

  bool read_all(void* data, size_t size) const {
    for (char* at = static_cast<char*>(data); size > 0;) {
      const ssize_t count = ::read(descriptor_, at, size);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return false;
      at += count;
      size -= static_cast<size_t>(count);
    }
    return true;
  }
  bool write_all(const void* data, size_t size) const {
    for (const char* at = static_cast<const char*>(data); size > 0;) {
      const ssize_t count = ::write(descriptor_, at, size);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return false;
      at += count;
      size -= static_cast<size_t>(count);
    }
    return true;
  }

 private:
  int descriptor_;
};

// The payload of an entry's file, or nothing when it is not exactly what was written.
std::optional<std::string> payload_of(const File& file) {
  struct stat status;
  Header header;
  if (::fstat(file.get(), &status) != 0 || !file.read_all(&header, sizeof header)) return std::nullopt;
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0) return std::nullopt;
  if (header.length != static_cast<uint64_t>(status.st_size) - sizeof header) return std::nullopt;
  std::string payload(header.length, '\0');
  if (!file.read_all(payload.data(), payload.size())) return std::nullopt;
  if (hash_of(payload) != Hash128{header.hash_high, header.hash_low}) return std::nullopt;
  return payload;
}

struct Entry {
  fs::path path;
  fs::file_time_type used;
  int64_t bytes;
};

// The entries below `root`. Temporary files that a dead process left are removed on the way.
std::vector<Entry> entries_below(const fs::path& root) {
  std::vector<Entry> entries;
  std::error_code error;
  const fs::file_time_type now = fs::file_time_type::clock::now();
  fs::recursive_directory_iterator at(root, fs::directory_options::skip_permission_denied, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    std::error_code ignored;  // another process may remove the file at any time
    if (!at->is_regular_file(ignored)) continue;
    const fs::file_time_type used = at->last_write_time(ignored);
    if (ignored) continue;
    if (at->path().filename().string().find(kTemporaryMark) != std::string::npos) {
      if (now - used > kTemporaryLife) fs::remove(at->path(), ignored);
      continue;
    }
    const auto bytes = static_cast<int64_t>(at->file_size(ignored));
    if (!ignored) entries.push_back({at->path(), used, bytes});
  }
  return entries;
}

// What the entries take together, as all processes that put some have counted; nothing where none has.
std::optional<int64_t> read_total(const File& file) {
  int64_t total = 0;
  if (::pread(file.get(), &total, sizeof total, 0) != sizeof total || total < 0) return std::nullopt;
  return total;
}

void write_total(const File& file, int64_t total) {
  if (::pwrite(file.get(), &total, sizeof total, 0) == sizeof total) return;
  // Nothing is better than a wrong total: it makes the next process measure.
  [[maybe_unused]] const int result = ::ftruncate(file.get(), 0);
}

// Trimming leaves room, so that the next entry does not make it necessary again.
int64_t trimmed_bytes(int64_t limit_bytes) { return limit_bytes - limit_bytes / 16; }

}  // namespace

Store::Store(std::string directory, int64_t limit_bytes)
    : directory_(std::move(directory)), limit_bytes_(limit_bytes) {}

std::string Store::path_of(std::string_view kind, Hash128 key) const {
  const std::string hex = key.hex();
  return fmt::format("{}/{}/{}/{}/{}", directory_, kLayout, kind, hex.substr(0, 2), hex);
}

std::optional<std::string> Store::get(std::string_view kind, Hash128 key) const {
  const std::string path = path_of(kind, key);
  const File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return std::nullopt;
  std::optional<std::string> payload = payload_of(file);
  if (payload) {
    ::futimens(file.get(), nullptr);
  } else {
    ::unlink(path.c_str());
  }
  return payload;
}

Status Store::put(std::string_view kind, Hash128 key, std::string_view payload) const {
  const std::string path = path_of(kind, key);
  const fs::path folder = fs::path(path).parent_path();
  std::error_code error;
  if (!fs::exists(directory_, error)) {
    fs::create_directories(directory_, error);
    fs::permissions(directory_, fs::perms::owner_all, error);
  }
  fs::create_directories(folder, error);
  std::string temporary = path + std::string(kTemporaryMark) + "XXXXXX";
  const auto failed = [&](const char* what) {
    return diagnostic("io", "cannot {} {}: {}", what, temporary, std::strerror(errno));
  };
  {
    const File file(::mkostemp(temporary.data(), O_CLOEXEC));
    if (!file) return failed("create");
    const Hash128 hash = hash_of(payload);
    Header header{{}, payload.size(), hash.high, hash.low};
    std::memcpy(header.magic, kMagic, sizeof kMagic);
    if (!file.write_all(&header, sizeof header) || !file.write_all(payload.data(), payload.size())) {
      const Diagnostic problem = failed("write");
      ::unlink(temporary.c_str());
      return problem;
    }
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    const Diagnostic problem = failed("rename");
    ::unlink(temporary.c_str());
    return problem;
  }
  account(static_cast<int64_t>(payload.size() + sizeof(Header)));
  return {};
}

void Store::account(int64_t bytes) const {
  const File file(::open((directory_ + "/" + std::string(kLayout) + ".size").c_str(),
                         O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!file || ::flock(file.get(), LOCK_EX) != 0) return;
  const std::optional<int64_t> known = read_total(file);
  if (known && *known + bytes <= limit_bytes_) {
    write_total(file, *known + bytes);
    return;
  }
  // Walking the directory takes a while: the others count on from a total that is not above the limit.
  write_total(file, trimmed_bytes(limit_bytes_));
  ::flock(file.get(), LOCK_UN);
  const int64_t total = trim();
  if (::flock(file.get(), LOCK_EX) == 0) write_total(file, total);
}

int64_t Store::trim() const {
  std::vector<Entry> entries = entries_below(fs::path(directory_) / kLayout);
  int64_t total = 0;
  for (const Entry& entry : entries) total += entry.bytes;
  if (total <= limit_bytes_) return total;
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.used, a.path) < std::tie(b.used, b.path);
  });
  for (const Entry& entry : entries) {
    if (total <= trimmed_bytes(limit_bytes_)) break;
    std::error_code ignored;
    fs::remove(entry.path, ignored);
    total -= entry.bytes;
  }
  return total;
}

Store::Stats Store::stats() const {
  Stats stats;
  for (const Entry& entry : entries_below(fs::path(directory_) / kLayout)) {
    ++stats.entries;
    stats.bytes += entry.bytes;
  }
  return stats;
}

Store::Stats Store::clear() const {
  Stats removed;
  for (const Entry& entry : entries_below(fs::path(directory_) / kLayout)) {
    std::error_code ignored;
    if (!fs::remove(entry.path, ignored)) continue;
    ++removed.entries;
    removed.bytes += entry.bytes;
  }
  return removed;
}

}  // namespace jumar::driver
