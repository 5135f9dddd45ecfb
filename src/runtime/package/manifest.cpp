#include "runtime/package/manifest.h"

#include <type_traits>

#include "support/bytes.h"

namespace jumar::runtime::package {
namespace {

// The order of the members is written down once, in `fields`, for both directions.
class Writer {
 public:
  template <class... T>
  bool operator()(const T&... values) {
    (write(values), ...);
    return true;
  }
  std::string take() { return out_.take(); }

 private:
  void write(const std::string& value) { out_.text(value); }
  template <class T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void write(T value) { out_.number(static_cast<uint64_t>(value)); }
  template <class A, class B>
  void write(const std::pair<A, B>& value) {
    (*this)(value.first, value.second);
  }
  template <class T>
  void write(const std::vector<T>& values) {
    out_.number(values.size());
    for (const T& value : values) write(value);
  }
  template <class T>
  requires std::is_class_v<T>
  void write(const T& value);

  ByteWriter out_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : in_(bytes) {}

  template <class... T>
  bool operator()(T&... values) {
    return (read(values) && ...);
  }
  bool at_end() const { return in_.at_end(); }

 private:
  bool read(std::string& value) {
    const std::optional<std::string_view> text = in_.text();
    if (text) value = *text;
    return text.has_value();
  }
  template <class T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  bool read(T& value) {
    const std::optional<uint64_t> number = in_.number();
    if (!number) return false;
    value = static_cast<T>(*number);
    return static_cast<uint64_t>(value) == *number;
  }
  template <class A, class B>
  bool read(std::pair<A, B>& value) {
    return (*this)(value.first, value.second);
  }
  template <class T>
  bool read(std::vector<T>& values) {
    const std::optional<uint64_t> count = in_.number();
    if (!count) return false;
    // Nothing is reserved: the count may be anything, but the elements must be there.
    for (uint64_t k = 0; k < *count; ++k) {
      if (!read(values.emplace_back())) return false;
    }
    return true;
  }
  template <class T>
  requires std::is_class_v<T>
  bool read(T& value);

  ByteReader in_;
};

template <class Archive, class T>
bool fields(Archive& archive, T& m) {
  using Value = std::remove_const_t<T>;
  if constexpr (std::is_same_v<Value, Argument>) {
    return archive(m.name, m.is_constant, m.is_tensor);
  } else if constexpr (std::is_same_v<Value, CallResult>) {
    return archive(m.role, m.index);
  } else if constexpr (std::is_same_v<Value, Constant>) {
    return archive(m.name, m.fqn, m.kind, m.dtype, m.sizes, m.strides, m.offset_bytes);
  } else if constexpr (std::is_same_v<Value, PlanConstant>) {
    return archive(m.is_folded, m.index);
  } else {
    static_assert(std::is_same_v<Value, Manifest>);
    return archive(m.arguments, m.results, m.constants, m.plan_constants, m.proxied_steps, m.in_spec,
                   m.out_spec, m.cpu, m.cpu_features, m.provider, m.checks_arguments, m.weights_id,
                   m.weights_bytes, m.facts);
  }
}

template <class T>
requires std::is_class_v<T>
void Writer::write(const T& value) { fields(*this, value); }

template <class T>
requires std::is_class_v<T>
bool Reader::read(T& value) { return fields(*this, value); }

}  // namespace

std::string Manifest::bytes() const {
  Writer writer;
  writer(kFormat, *this);
  return writer.take();
}

jumar::Result<Manifest> Manifest::read(std::string_view bytes) {
  Reader reader(bytes);
  uint64_t format = 0;
  if (!reader(format)) return diagnostic("input", "the package's manifest is cut short");
  if (format != kFormat) {
    return diagnostic("input", "the package's manifest has format {}, but this runtime reads format {}",
                      format, kFormat);
  }
  Manifest manifest;
  if (!reader(manifest) || !reader.at_end()) return diagnostic("input", "the package's manifest is broken");
  return manifest;
}

}  // namespace jumar::runtime::package
