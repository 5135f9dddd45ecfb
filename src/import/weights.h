// Parameters, buffers and constants of an archive, seen in place.
//
//   JUMAR_ASSIGN(WeightTable table, WeightTable::read(cx, zip, "model/", "model"));
//   const Weight* weight = table.find("fc.weight");
//   weight->storage                     all bytes of the storage, within the mapped file
//   weight->type, weight->storage_offset      which elements of it are the weight
//
// A storage may be shared: by weights that are tied, and by weights that are views of one another. Whoever
// writes to one must look at `path`. Sizes and strides are constants, and every element lies within the
// storage.
#pragma once

#include <map>
#include <span>
#include <string>

#include "import/exported.h"
#include "support/zip.h"

namespace jumar::import {

struct Weight {
  std::string name;  // "fc.weight"
  std::string path;  // the archive's entry
  bool is_parameter = false;
  ir::TensorType type;
  int64_t storage_offset = 0;  // in elements
  std::span<const uint8_t> storage;

  // The first element; null for a weight without elements. torch aligns storages to 64 bytes within the file;
  // archives packed by other tools may not.
  const uint8_t* data() const;
};

class WeightTable {
 public:
  // `root` is the archive's folder with its slash, `model` the model's name in it.
  static Result<WeightTable> read(sym::Context& cx, const ZipArchive& zip, const std::string& root,
                                  const std::string& model);

  const Weight* find(const std::string& name) const;
  const std::map<std::string, Weight>& weights() const { return weights_; }

 private:
  std::map<std::string, Weight> weights_;
};

}  // namespace jumar::import
