// jumar_graph_check [FILE...]: reads graph texts (standard input without arguments), verifies each, checks
// that writing is stable: write(read(write(g))) == write(g), and that the default passes keep it valid. With
// a text from standard input, prints it back as it was read.

#include <fmt/format.h>

#include <fstream>
#include <iostream>
#include <sstream>

#include "graph/passes/passes.h"

namespace {

using namespace jumar;

Result<std::string> checked(std::string_view text, const std::string& name) {
  JUMAR_ASSIGN(graph::Graph graph, graph::read_graph(text, name));
  JUMAR_RETURN_IF_ERROR(graph::verify(graph));
  std::string written = graph::write_graph(graph);
  JUMAR_ASSIGN(graph::Graph again, graph::read_graph(written, name + " (written)"));
  if (graph::write_graph(again) != written)
    return diagnostic("check", "{}: the written text changes when it is read and written again", name);
  ir::PassOptions options;
  options.check_unchanged = true;
  JUMAR_ASSIGN([[maybe_unused]] auto records,
               graph::run_graph_passes(graph, graph::default_graph_pipeline(), options));
  return written;
}

template <class Stream>
std::string contents(Stream& stream) {
  std::ostringstream out;
  out << stream.rdbuf();
  return out.str();
}

}  // namespace

int main(int argc, char** argv) {
  int failures = 0;
  for (int k = 1; k < argc; ++k) {
    std::ifstream file(argv[k]);
    Result<std::string> result = checked(contents(file), argv[k]);
    if (result.ok()) continue;
    ++failures;
    fmt::print(stderr, "{}\n", result.error().text());
  }
  if (argc > 1) return failures > 0;
  Result<std::string> result = checked(contents(std::cin), "<stdin>");
  if (!result.ok()) {
    fmt::print(stderr, "{}\n", result.error().text());
    return 1;
  }
  std::cout << *result;
  return 0;
}
