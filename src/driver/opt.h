// `jumar opt`: any stage from any text.
//
//   OptRequest request;
//   request.to = Level::kTiled;
//   Result<std::string> text = opt(request, graph_text, "in.graph", options);
//
// The text's first word says what it is; loop text may be told to be fused or tiled already, and a plan may
// be in its binary form. Nothing is run and the processor need not be this one.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "driver/report.h"
#include "graph/graph.h"
#include "support/options.h"
#include "support/result.h"

namespace jumar::driver {

// kTtir and kTriton are for devices (option target), kLlvm, kAsm and kCpp for processors.
enum class Level : uint8_t { kGraph, kLoop, kFused, kTiled, kLlvm, kAsm, kPlan, kCpp, kTtir, kTriton };

std::optional<Level> level_from_name(std::string_view name);
std::vector<std::string> level_names();

struct OptRequest {
  std::optional<Level> from;  // otherwise told by the text's first word
  Level to = Level::kGraph;
  std::optional<std::vector<std::string>> passes;  // graph passes instead of the usual ones
  std::vector<std::string> print_after;
  bool print_report = false;  // remarks instead of the program
  bool html = false;          // the page of html_report instead of the program
  std::string title;          // of the page
};

// The text of the wanted level, after the texts that print_after asked for. Stages are timed into `report`.
Result<std::string> opt(const OptRequest& request, std::string_view text, const std::string& file,
                        const Options& options, Report& report);

// The same from a graph that is in memory already, whose level is kGraph.
Result<std::string> opt(const OptRequest& request, graph::Graph graph, const Options& options,
                        Report& report);

// Options that a reproducer's comments hold ("# OPTION: cpu=x86-64-v3"), as option text.
inline constexpr std::string_view kOptionMark = "# OPTION: ";
std::string options_in_comments(std::string_view text);

}  // namespace jumar::driver
