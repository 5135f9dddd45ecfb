// What the fixed-seed tests and the libFuzzer target share: one import of any bytes, and changes to JSON that
// keep it nearly right.
#pragma once

#include "archive.h"
#include "import/pt2.h"

namespace jumar::import::test {

// Imports the bytes as an archive; what comes out must be a verified graph with a text, or a diagnostic.
inline bool import_any(std::span<const uint8_t> bytes) {
  const Result<Imported> model = import_pt2(bytes, "fuzz.pt2", {});
  if (!model.ok()) {
    CHECK(!model.error().message.empty(), "a diagnostic without a message");
    return false;
  }
  uint64_t sum = 0;
  for (const Weight& weight : model->weights) {
    if (const uint8_t* data = weight.data()) sum += *data;
    for (const uint8_t byte : weight.storage) sum += byte;
  }
  return !graph::write_graph(model->graph).empty() && !notes(*model).empty() && sum != 1;
}

// The text with the value at a place that `seed` picks replaced by `value`; an empty one takes the value
// away, and the comma after it.
inline std::string changed_json(std::string text, const std::string& value, uint64_t seed) {
  const size_t at = text.find_first_of(":,[", seed % std::max<size_t>(text.size(), 1));
  if (at == std::string::npos) return text;
  const size_t end = text.find_first_of(",}]", at + 1);
  if (end == std::string::npos) return text;
  if (value.empty()) return text.erase(at + 1, end - at - (text[end] == ',' ? 0 : 1));
  return text.replace(at + 1, end - at - 1, value);
}

// The first item of the list that begins at `at`, which is behind its bracket, doubled or taken away.
inline void change_first_item(std::string& text, size_t at, bool doubled) {
  size_t end = at;
  for (int depth = 0; end < text.size(); ++end) {
    if (depth == 0 && (text[end] == ',' || text[end] == ']')) break;
    depth += text[end] == '{' ? 1 : text[end] == '}' ? -1 : 0;
  }
  if (end >= text.size() || end == at) return;
  const std::string item = text.substr(at, end - at);
  if (doubled) {
    text.insert(at, item + ", ");
  } else {
    text.erase(at, end - at + (text[end] == ',' ? 1 : 0));
  }
}

// A tensor's description with one dimension more or less, sizes and strides alike.
inline std::string changed_rank(std::string text, uint64_t seed) {
  constexpr std::string_view kSizes = "\"sizes\": [", kStrides = "\"strides\": [";
  const size_t sizes = text.find(kSizes, seed % std::max<size_t>(text.size(), 1));
  const size_t strides = sizes == std::string::npos ? sizes : text.find(kStrides, sizes);
  if (strides == std::string::npos) return text;
  const bool doubled = seed % 3 == 0;
  change_first_item(text, strides + kStrides.size(), doubled);
  change_first_item(text, sizes + kSizes.size(), doubled);
  return text;
}

}  // namespace jumar::import::test
