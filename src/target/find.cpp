#include "support/files.h"
#include "support/options.h"
#include "target/draft.h"

namespace jumar::target {
namespace {

bool is_path(const std::string& name) {
  constexpr std::string_view kEnding = ".target";
  return name.find('/') != std::string::npos || (name.size() > kEnding.size() && name.ends_with(kEnding));
}

}  // namespace

Result<std::vector<Draft>> embedded_drafts() {
  std::vector<Draft> drafts;
  for (const EmbeddedFile& file : embedded_files())
    JUMAR_RETURN_IF_ERROR(read_drafts(file.text, std::string(file.name), drafts));
  return drafts;
}

std::vector<std::string> known_targets() {
  const Result<std::vector<Draft>> drafts = embedded_drafts();
  CHECK(drafts.ok(), "{}", drafts.error().text());
  std::vector<std::string> names;
  for (const Draft& draft : *drafts) {
    if (!draft.is_base) names.push_back(draft.target.name);
  }
  return names;
}

Result<Target> find_target(const std::string& name_or_path) {
  if (is_path(name_or_path)) {
    JUMAR_ASSIGN(const std::string text, bytes_of_file(name_or_path));
    return read_target(text, name_or_path);
  }
  JUMAR_ASSIGN(const std::vector<Draft> drafts, embedded_drafts());
  for (const Draft& draft : drafts) {
    if (!draft.is_base && draft.target.name == name_or_path) return completed(draft);
  }
  const std::vector<std::string> names = known_targets();
  Diagnostic error = diagnostic("target", "there is no target '{}'", name_or_path);
  const std::vector<std::string> near = nearest_words(name_or_path, names);
  if (!near.empty()) error.message += fmt::format("; did you mean {}?", fmt::join(near, " or "));
  error.notes.push_back(fmt::format("targets are {}", fmt::join(names, ", ")));
  error.notes.push_back("a path to a file of your own holds a '/' or ends in .target (docs/add-a-target.md)");
  return error;
}

}  // namespace jumar::target
