// JSON, written member by member.
//
//   JsonWriter json;
//   json.object();
//   json.key("inputs").list().text("x").text("y").end();
//   json.key("bytes").number(12);
//   json.end();
//   json.take()                  {"inputs": ["x", "y"], "bytes": 12}
//
// Texts may hold anything: what is no UTF-8 becomes U+FFFD.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace jumar::driver {

// With quotes and escapes.
std::string json_text(std::string_view text);

class JsonWriter {
 public:
  JsonWriter& object() { return open('{', '}'); }
  JsonWriter& list() { return open('[', ']'); }
  // Of the object or list that was begun last.
  JsonWriter& end();

  JsonWriter& key(std::string_view name);
  JsonWriter& text(std::string_view value) { return put(json_text(value)); }
  JsonWriter& number(int64_t value) { return put(std::to_string(value)); }
  JsonWriter& count(uint64_t value) { return put(std::to_string(value)); }
  // Must be finite.
  JsonWriter& real(double value);
  JsonWriter& boolean(bool value) { return put(value ? "true" : "false"); }
  JsonWriter& null() { return put("null"); }
  // One that is JSON already.
  JsonWriter& value(std::string_view json) { return put(json); }

  std::string take();

 private:
  JsonWriter& open(char begin, char end);
  JsonWriter& put(std::string_view value);
  void separate();

  std::string out_;
  std::string open_;      // what closes each object and list that is not ended yet
  bool is_first_ = true;  // of the innermost object or list
  bool follows_key_ = false;
};

}  // namespace jumar::driver
