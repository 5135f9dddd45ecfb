// JSON, parsed strictly into one table, and read through accessors that answer with a diagnostic.
//
//   JUMAR_ASSIGN(JsonDocument document, JsonDocument::parse(text, "model.json"));
//   JUMAR_ASSIGN(JsonValue nodes, document.root().get("graph_module"));
//   JUMAR_ASSIGN(std::vector<JsonValue> items, nodes.array());
//
// A diagnostic names the place as a path (`graph_module.graph.nodes[3].inputs`), what is wanted and what is
// there. Strings are views of the text until somebody asks for them: most of an exported program is stack
// traces that nobody reads. The text must outlive the document, and the document its values. Of equal keys in
// one object the first counts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/result.h"

namespace jumar::import {

enum class JsonKind : uint8_t { kNull, kBool, kNumber, kString, kArray, kObject };

class JsonDocument;

class JsonValue {
 public:
  JsonKind kind() const;
  bool is_null() const { return kind() == JsonKind::kNull; }

  Result<bool> boolean() const;
  // An integer of 64 bits; a number with a fraction is none.
  Result<int64_t> integer() const;
  // A number, or the strings "Infinity", "-Infinity" and "NaN", as Python writes what JSON has no number for.
  Result<double> number() const;
  Result<std::string> string() const;
  Result<std::vector<JsonValue>> array() const;
  // Members in the order of the text.
  Result<std::vector<std::pair<std::string, JsonValue>>> object() const;

  // A member of an object, which must be there.
  Result<JsonValue> get(std::string_view key) const;
  // Whether this is an object with such a member that is not null.
  bool has(std::string_view key) const;
  // The only member of an object, as unions are written: {"as_int": 3}.
  Result<std::pair<std::string, JsonValue>> only_member() const;

  // Where this value is, for diagnostics.
  std::string path() const;
  // "<path>: <message>".
  template <class... Args>
  Diagnostic error(fmt::format_string<Args...> format, Args&&... args) const {
    return make_error(fmt::format(format, std::forward<Args>(args)...));
  }

 private:
  friend class JsonDocument;
  JsonValue(const JsonDocument* document, uint32_t index) : document_(document), index_(index) {}
  std::optional<uint32_t> find(std::string_view key) const;
  Diagnostic make_error(const std::string& message) const;
  Diagnostic wanted(std::string_view what) const;

  const JsonDocument* document_;
  uint32_t index_;
};

class JsonDocument {
 public:
  static Result<JsonDocument> parse(std::string_view text, const std::string& file);
  JsonValue root() const { return {this, 0}; }

 private:
  friend class JsonValue;
  friend class JsonParser;
  // A value of the text; a container is followed by its items, and `end` is the row after the last of them.
  struct Row {
    JsonKind kind = JsonKind::kNull;
    bool truth = false;
    uint32_t parent = 0;
    uint32_t end = 0;
    std::string_view text;  // of a string or key: what stands between the quotes, escapes not resolved
    std::string_view key;
  };

  std::string file_;
  std::vector<Row> rows_;
};

}  // namespace jumar::import
