#include "driver/model_source.h"

#include <fstream>

#include "support/files.h"

namespace jumar::driver {
namespace {

constexpr std::string_view kArchiveMagic = "PK";

}  // namespace

Result<ModelSource> read_model(const std::string& path, const std::string& model, Stages& stages,
                               Report& report) {
  std::string start(kArchiveMagic.size(), '\0');
  std::ifstream(path, std::ios::binary).read(start.data(), static_cast<std::streamsize>(start.size()));
  if (start == kArchiveMagic) {
    const StageTimer timer(report, "import");
    import::ImportOptions options;
    options.model = model;
    JUMAR_ASSIGN(import::Imported imported, import::import_pt2(path, options));
    ModelSource source(std::move(imported.graph));
    source.archive.emplace(std::move(imported));
    return source;
  }
  JUMAR_ASSIGN(const std::string text, bytes_of_file(path));
  JUMAR_ASSIGN(graph::Graph graph, stages.read(text, path));
  return ModelSource(std::move(graph));
}

}  // namespace jumar::driver
