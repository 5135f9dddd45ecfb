// A directory of its own for files that nobody needs afterwards, removed with what is in it.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "support/result.h"

namespace jumar::driver {

class ScratchDirectory {
 public:
  static Result<ScratchDirectory> create(const std::string& parent);
  ScratchDirectory(ScratchDirectory&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  ScratchDirectory& operator=(ScratchDirectory&&) = delete;
  ~ScratchDirectory();

  const std::string& path() const { return path_; }
  // Writes a file in it.
  Status write(std::string_view name, std::string_view bytes) const;

 private:
  explicit ScratchDirectory(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace jumar::driver
