// The library of a package, loaded without unpacking the package.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "jumar/model.h"
#include "support/result.h"
#include "support/zip.h"

namespace jumar::embed {

// A package's library in this process; unloaded by the destructor.
class Library {
 public:
  // `image` is an ELF file.
  static jumar::Result<std::shared_ptr<const Library>> load(std::string_view image,
                                                            const std::string& package);
  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  const jumar_model_api& api() const { return *api_; }

 private:
  Library(void* handle, const jumar_model_api* api) : handle_(handle), api_(api) {}
  void* handle_;
  const jumar_model_api* api_;
};

// Where a package has its library and its weights.
struct PackageParts {
  ZipEntry library;                  // deflated, mostly
  std::span<const uint8_t> weights;  // with their trailer; empty where there are none
};

// The library's ELF file.
jumar::Result<std::string> library_image(const PackageParts& parts, const std::string& file);

// Of an archive whose entries may be deflated. `model` may be empty where there is one model.
jumar::Result<PackageParts> package_parts(const ZipArchive& zip, const std::string& model);

}  // namespace jumar::embed
