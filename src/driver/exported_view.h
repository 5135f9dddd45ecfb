// What there is to tell about an exported program, which is not compiled: `jumar inspect` of an archive that
// torch.export.save wrote.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "driver/inspection.h"
#include "graph/graph.h"

namespace jumar::driver {

struct WeightRow {
  std::string name;
  std::string kind;  // "parameter", "buffer", "constant"
  std::string type;
  int64_t bytes = 0;
};

struct ExportedView {
  std::string file;
  uint64_t file_bytes = 0;
  std::string torch;  // version
  std::vector<ValueRow> inputs;
  std::vector<SymbolRow> symbols;
  std::vector<ValueRow> results;
  std::vector<WeightRow> weights;
  uint64_t storage_bytes = 0;  // of all weights, each storage once
  std::vector<CountedOp> ops;  // as exported; the most frequent first
};

// `model` of an archive that holds several; otherwise empty.
Result<ExportedView> read_exported_view(std::span<const uint8_t> bytes, const std::string& file,
                                        const std::string& model);
std::string exported_text(const ExportedView& view);
std::string exported_json(const ExportedView& view);

// "f32[s0, 4]", "int(s0)", "float".
std::string value_text(const graph::Graph& graph, const graph::Value& value);

}  // namespace jumar::driver
