// What a compilation begins with: an archive of torch.export.save, or a file with graph text.
#pragma once

#include <optional>
#include <string>

#include "driver/stages.h"
#include "import/pt2.h"

namespace jumar::driver {

struct ModelSource {
  explicit ModelSource(graph::Graph g) : graph(std::move(g)) {}
  graph::Graph graph;
  std::optional<import::Imported> archive;  // without its graph
};

// Which of both a file is follows from how it begins. `model` says which one of an archive that holds
// several.
Result<ModelSource> read_model(const std::string& path, const std::string& model, Stages& stages,
                               Report& report);

}  // namespace jumar::driver
