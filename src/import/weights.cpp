#include "import/weights.h"

namespace jumar::import {
namespace {

using sym::Expr;

// Where the elements end, counted from the storage's beginning; nothing when that leaves 64 bits.
std::optional<int64_t> end_element(const Weight& weight) {
  int64_t last = weight.storage_offset;
  for (size_t k = 0; k < weight.type.rank(); ++k) {
    const int64_t size = weight.type.sizes[k].const_value();
    if (size == 0) return 0;
    int64_t step = 0;
    if (__builtin_mul_overflow(size - 1, weight.type.strides[k].const_value(), &step)) return std::nullopt;
    if (__builtin_add_overflow(last, step, &last)) return std::nullopt;
  }
  if (__builtin_add_overflow(last, int64_t{1}, &last)) return std::nullopt;
  return last;
}

class Reader {
 public:
  Reader(sym::Context& cx, const ZipArchive& zip, std::string folder, std::map<std::string, Weight>& weights)
      : cx_(cx), zip_(zip), folder_(std::move(folder)), weights_(weights) {}

  // One of the two tables: {"config": {name: {path_name, is_param, use_pickle, tensor_meta}}}.
  Status run(const std::string& config_name) {
    const std::string path = folder_ + config_name;
    const ZipEntry* entry = zip_.find(path);
    if (entry == nullptr) return diagnostic("archive", "{}: there is no entry '{}'", zip_.file(), path);
    JUMAR_RETURN_IF_ERROR(check_sum(*entry, path));
    JUMAR_ASSIGN(const JsonDocument document, JsonDocument::parse(entry->text(), path));
    JUMAR_ASSIGN(const JsonValue config, document.root().get("config"));
    JUMAR_ASSIGN(const auto members, config.object());
    for (const auto& [name, value] : members) JUMAR_RETURN_IF_ERROR(row(name, value));
    return {};
  }

 private:
  Status row(const std::string& name, const JsonValue& value) {
    JUMAR_ASSIGN(const JsonValue pickle_value, value.get("use_pickle"));
    JUMAR_ASSIGN(const bool pickled, pickle_value.boolean());
    if (pickled) return value.error("'{}' is a Python object (pickle), which only Python can read", name);
    Weight weight;
    weight.name = name;
    JUMAR_ASSIGN(const JsonValue path_value, value.get("path_name"));
    JUMAR_ASSIGN(const std::string path_name, path_value.string());
    weight.path = folder_ + path_name;
    JUMAR_ASSIGN(const JsonValue is_param, value.get("is_param"));
    JUMAR_ASSIGN(weight.is_parameter, is_param.boolean());
    JUMAR_ASSIGN(const JsonValue meta_value, value.get("tensor_meta"));
    std::map<std::string, int64_t> no_hints;
    JUMAR_ASSIGN(TensorMeta meta, read_tensor_meta(cx_, meta_value, no_hints));
    weight.type = std::move(meta.type);
    const std::optional<int64_t> offset = meta.storage_offset.as_const();
    if (!offset || *offset < 0 || !ir::is_static(weight.type))
      return meta_value.error("the sizes of '{}' are not constants", name);
    weight.storage_offset = *offset;
    JUMAR_RETURN_IF_ERROR(locate(weight, value));
    if (!weights_.emplace(name, weight).second) return value.error("'{}' is there twice", name);
    return {};
  }

  Status locate(Weight& weight, const JsonValue& value) const {
    const std::optional<int64_t> end = end_element(weight);
    int64_t bytes = 0;
    if (!end || __builtin_mul_overflow(*end, ir::dtype_bytes(weight.type.dtype), &bytes))
      return value.error("'{}' has more than 2**63 bytes", weight.name);
    const ZipEntry* entry = zip_.find(weight.path);
    if (entry == nullptr) return value.error("there is no entry '{}' for '{}'", weight.path, weight.name);
    if (static_cast<uint64_t>(bytes) > entry->bytes.size())
      return value.error("'{}' needs {} bytes, but '{}' has {}", weight.name, bytes, weight.path,
                         entry->bytes.size());
    if (*end == 0) weight.storage_offset = 0;
    weight.storage = entry->bytes;
    return {};
  }

  sym::Context& cx_;
  const ZipArchive& zip_;
  std::string folder_;
  std::map<std::string, Weight>& weights_;
};

}  // namespace

const uint8_t* Weight::data() const {
  for (const Expr size : type.sizes) {
    if (size.is_const(0)) return nullptr;
  }
  return storage.data() + storage_offset * ir::dtype_bytes(type.dtype);
}

Result<WeightTable> WeightTable::read(sym::Context& cx, const ZipArchive& zip, const std::string& root,
                                      const std::string& model) {
  WeightTable out;
  JUMAR_RETURN_IF_ERROR(
      Reader(cx, zip, root + "data/weights/", out.weights_).run(model + "_weights_config.json"));
  JUMAR_RETURN_IF_ERROR(
      Reader(cx, zip, root + "data/constants/", out.weights_).run(model + "_constants_config.json"));
  return out;
}

const Weight* WeightTable::find(const std::string& name) const {
  const auto found = weights_.find(name);
  return found == weights_.end() ? nullptr : &found->second;
}

}  // namespace jumar::import
