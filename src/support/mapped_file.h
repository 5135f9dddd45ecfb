// A file seen as memory, read-only.
//
//   JUMAR_ASSIGN(std::shared_ptr<const MappedFile> file, MappedFile::open("model.pt2"));
//   std::span<const uint8_t> bytes = file->bytes();      // valid while `file` lives
//
// Pages are read when they are first touched, so that mapping a large archive of weights costs nothing.
// Somebody who truncates the file while it is mapped takes the process down (SIGBUS): that is the price of
// not copying.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "support/result.h"

namespace jumar {

class MappedFile {
 public:
  static Result<std::shared_ptr<const MappedFile>> open(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const uint8_t> bytes() const { return {data_, size_}; }

 private:
  MappedFile(const uint8_t* data, size_t size) : data_(data), size_(size) {}

  const uint8_t* data_;
  size_t size_;
};

}  // namespace jumar
