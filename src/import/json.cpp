#include "import/json.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

namespace jumar::import {
namespace {

constexpr int kDeepest = 256;
constexpr size_t kMostRows = std::numeric_limits<uint32_t>::max() - 1;
constexpr std::array<std::string_view, 6> kKindNames = {"null",     "a bool",   "a number",
                                                        "a string", "an array", "an object"};

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::optional<uint32_t> hex4(std::string_view text, size_t at) {
  if (at + 4 > text.size()) return std::nullopt;
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data() + at, text.data() + at + 4, value, 16);
  if (error != std::errc() || end != text.data() + at + 4) return std::nullopt;
  return value;
}

void append_utf8(std::string& out, uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | (code >> 6));
    out += static_cast<char>(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xe0 | (code >> 12));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3f));
    out += static_cast<char>(0x80 | (code & 0x3f));
  } else {
    out += static_cast<char>(0xf0 | (code >> 18));
    out += static_cast<char>(0x80 | ((code >> 12) & 0x3f));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3f));
    out += static_cast<char>(0x80 | (code & 0x3f));
  }
}

// What `\u` at `at` stands for, two halves of a surrogate pair taken together; moves `at` past it. A lone
// half becomes the replacement character.
uint32_t unicode_escape(std::string_view raw, size_t& at) {
  constexpr uint32_t kReplacement = 0xfffd;
  const std::optional<uint32_t> high = hex4(raw, at + 2);
  at += 6;
  if (!high) return kReplacement;
  if (*high < 0xd800 || *high > 0xdfff) return *high;
  if (*high > 0xdbff || raw.substr(at, 2) != "\\u") return kReplacement;
  const std::optional<uint32_t> low = hex4(raw, at + 2);
  if (!low || *low < 0xdc00 || *low > 0xdfff) return kReplacement;
  at += 6;
  return 0x10000 + ((*high - 0xd800) << 10) + (*low - 0xdc00);
}

std::string unescaped(std::string_view raw) {
  constexpr std::string_view kLetters = "\"\\/bfnrt";
  constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
  std::string out;
  out.reserve(raw.size());
  for (size_t at = 0; at < raw.size();) {
    if (raw[at] != '\\') {
      const size_t end = std::min(raw.find('\\', at), raw.size());
      out.append(raw.substr(at, end - at));
      at = end;
    } else if (raw[at + 1] == 'u') {
      append_utf8(out, unicode_escape(raw, at));
    } else {
      out += kMeanings[kLetters.find(raw[at + 1])];
      at += 2;
    }
  }
  return out;
}

bool same_text(std::string_view raw, std::string_view text) {
  return raw.find('\\') == std::string_view::npos ? raw == text : unescaped(raw) == text;
}

}  // namespace

class JsonParser {
 public:
  JsonParser(std::string_view text, JsonDocument& document) : text_(text), out_(document) {}

  Status run() {
    JUMAR_RETURN_IF_ERROR(value({}, 0, 0));
    skip_space();
    if (at_ != text_.size()) return fault("there is more after the value");
    return {};
  }

 private:
  using Row = JsonDocument::Row;

  Diagnostic fault(std::string_view message) const {
    Diagnostic out = diagnostic("json", "{} (byte {})", message, at_);
    out.where.file = out_.file_;
    return out;
  }

  void skip_space() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }

  bool accept(char c) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  Status value(std::string_view key, uint32_t parent, int depth) {
    if (depth > kDeepest) return fault("values are nested too deep");
    if (out_.rows_.size() >= kMostRows) return fault("there are too many values");
    skip_space();
    if (at_ >= text_.size()) return fault("the text ends where a value is expected");
    const auto index = static_cast<uint32_t>(out_.rows_.size());
    Row row;
    row.parent = parent;
    row.key = key;
    out_.rows_.push_back(row);
    JUMAR_RETURN_IF_ERROR(body(index, depth));
    out_.rows_[index].end = static_cast<uint32_t>(out_.rows_.size());
    return {};
  }

  Status body(uint32_t index, int depth) {
    Row& row = out_.rows_[index];
    const char c = text_[at_];
    if (c == '{' || c == '[') {
      row.kind = c == '{' ? JsonKind::kObject : JsonKind::kArray;
      ++at_;
      return items(index, c == '{', depth);
    }
    if (c == '"') {
      row.kind = JsonKind::kString;
      JUMAR_ASSIGN(row.text, raw_string());
      return {};
    }
    if (c == '-' || is_digit(c)) {
      row.kind = JsonKind::kNumber;
      JUMAR_ASSIGN(row.text, raw_number());
      return {};
    }
    for (const std::string_view word : {"true", "false", "null"}) {
      if (text_.substr(at_, word.size()) != word) continue;
      at_ += word.size();
      row.kind = word == "null" ? JsonKind::kNull : JsonKind::kBool;
      row.truth = word == "true";
      return {};
    }
    return fault("a value is expected");
  }

  Status items(uint32_t index, bool with_keys, int depth) {
    const char close = with_keys ? '}' : ']';
    if (accept(close)) return {};
    do {
      std::string_view key;
      if (with_keys) {
        skip_space();
        if (at_ >= text_.size() || text_[at_] != '"') return fault("a key is expected");
        JUMAR_ASSIGN(key, raw_string());
        if (!accept(':')) return fault("':' is expected");
      }
      JUMAR_RETURN_IF_ERROR(value(key, index, depth + 1));
    } while (accept(','));
    if (!accept(close)) return fault(with_keys ? "',' or '}' is expected" : "',' or ']' is expected");
    return {};
  }

  // What stands between the quotes, with its escapes checked.
  Result<std::string_view> raw_string() {
    const size_t begin = ++at_;
    while (at_ < text_.size() && text_[at_] != '"') {
      if (static_cast<unsigned char>(text_[at_]) < 0x20) return fault("a control character in a string");
      if (text_[at_] != '\\') {
        ++at_;
        continue;
      }
      if (at_ + 1 >= text_.size()) return fault("the text ends within a string");
      if (text_[at_ + 1] == 'u') {
        if (!hex4(text_, at_ + 2)) return fault("a broken \\u escape");
        at_ += 6;
      } else if (std::string_view("\"\\/bfnrt").find(text_[at_ + 1]) == std::string_view::npos) {
        return fault("an unknown escape");
      } else {
        at_ += 2;
      }
    }
    if (at_ >= text_.size()) return fault("the text ends within a string");
    return text_.substr(begin, at_++ - begin);
  }

  Result<std::string_view> raw_number() {
    const size_t begin = at_;
    if (text_[at_] == '-') ++at_;
    if (!digits()) return fault("a number without digits");
    if (text_[begin + (text_[begin] == '-')] == '0' && at_ - begin > (text_[begin] == '-' ? 2U : 1U))
      return fault("a number with a leading zero");
    if (at_ < text_.size() && text_[at_] == '.') {
      ++at_;
      if (!digits()) return fault("a number without digits after the point");
    }
    if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
      ++at_;
      if (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) ++at_;
      if (!digits()) return fault("a number without digits in its exponent");
    }
    return text_.substr(begin, at_ - begin);
  }

  bool digits() {
    const size_t begin = at_;
    while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
    return at_ > begin;
  }

  std::string_view text_;
  JsonDocument& out_;
  size_t at_ = 0;
};

Result<JsonDocument> JsonDocument::parse(std::string_view text, const std::string& file) {
  JsonDocument out;
  out.file_ = file;
  JUMAR_RETURN_IF_ERROR(JsonParser(text, out).run());
  return out;
}

JsonKind JsonValue::kind() const { return document_->rows_[index_].kind; }

Result<bool> JsonValue::boolean() const {
  if (kind() != JsonKind::kBool) return wanted("a bool");
  return document_->rows_[index_].truth;
}

Result<int64_t> JsonValue::integer() const {
  if (kind() != JsonKind::kNumber) return wanted("an integer");
  const std::string_view text = document_->rows_[index_].text;
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) return this->error("{} does not fit 64 bits", text);
  if (error != std::errc() || end != text.data() + text.size())
    return this->error("expected an integer, found {}", text);
  return value;
}

Result<double> JsonValue::number() const {
  const std::string_view text = document_->rows_[index_].text;
  if (kind() == JsonKind::kString) {
    if (text == "Infinity") return std::numeric_limits<double>::infinity();
    if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
    if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  }
  if (kind() != JsonKind::kNumber) return wanted("a number");
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    return this->error("{} is no number that a double holds", text);
  return value;
}

Result<std::string> JsonValue::string() const {
  if (kind() != JsonKind::kString) return wanted("a string");
  return unescaped(document_->rows_[index_].text);
}

Result<std::vector<JsonValue>> JsonValue::array() const {
  if (kind() != JsonKind::kArray) return wanted("an array");
  std::vector<JsonValue> out;
  const auto& rows = document_->rows_;
  for (uint32_t at = index_ + 1; at < rows[index_].end; at = rows[at].end) out.push_back({document_, at});
  return out;
}

Result<std::vector<std::pair<std::string, JsonValue>>> JsonValue::object() const {
  if (kind() != JsonKind::kObject) return wanted("an object");
  std::vector<std::pair<std::string, JsonValue>> out;
  const auto& rows = document_->rows_;
  for (uint32_t at = index_ + 1; at < rows[index_].end; at = rows[at].end)
    out.emplace_back(unescaped(rows[at].key), JsonValue(document_, at));
  return out;
}

std::optional<uint32_t> JsonValue::find(std::string_view key) const {
  if (kind() != JsonKind::kObject) return std::nullopt;
  const auto& rows = document_->rows_;
  for (uint32_t at = index_ + 1; at < rows[index_].end; at = rows[at].end) {
    if (same_text(rows[at].key, key)) return at;
  }
  return std::nullopt;
}

Result<JsonValue> JsonValue::get(std::string_view key) const {
  if (const std::optional<uint32_t> at = find(key)) return JsonValue(document_, *at);
  if (kind() != JsonKind::kObject) return wanted("an object");
  return error("there is no '{}'", key);
}

bool JsonValue::has(std::string_view key) const {
  const std::optional<uint32_t> at = find(key);
  return at && document_->rows_[*at].kind != JsonKind::kNull;
}

Result<std::pair<std::string, JsonValue>> JsonValue::only_member() const {
  JUMAR_ASSIGN(auto members, object());
  if (members.size() != 1) return error("expected an object with one member, found {}", members.size());
  return members[0];
}

std::string JsonValue::path() const {
  std::string out;
  const auto& rows = document_->rows_;
  for (uint32_t at = index_; at != 0; at = rows[at].parent) {
    const uint32_t parent = rows[at].parent;
    if (rows[parent].kind == JsonKind::kObject) {
      out.insert(0, fmt::format(".{}", unescaped(rows[at].key)));
      continue;
    }
    size_t number = 0;
    for (uint32_t item = parent + 1; item < at; item = rows[item].end) ++number;
    out.insert(0, fmt::format("[{}]", number));
  }
  if (out.empty()) return "the whole text";
  return out[0] == '.' ? out.substr(1) : out;
}

Diagnostic JsonValue::make_error(const std::string& message) const {
  Diagnostic out = diagnostic("json", "{}: {}", path(), message);
  out.where.file = document_->file_;
  return out;
}

Diagnostic JsonValue::wanted(std::string_view what) const {
  return error("expected {}, found {}", what, kKindNames[static_cast<size_t>(kind())]);
}

}  // namespace jumar::import
