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

// The text with the value at a place that `seed` picks replaced by `value`.
inline std::string changed_json(std::string text, const std::string& value, uint64_t seed) {
  const size_t at = text.find_first_of(":,[", seed % std::max<size_t>(text.size(), 1));
  if (at == std::string::npos) return text;
  const size_t end = text.find_first_of(",}]", at + 1);
  if (end == std::string::npos) return text;
  return text.replace(at + 1, end - at - 1, value);
}

}  // namespace jumar::import::test
