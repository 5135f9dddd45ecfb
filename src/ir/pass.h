// Passes over an IR, and the runner that drives them.
//
//   PassResult fold_noop(Graph& graph, PassContext& context);          // a pass: a free function
//   constexpr Pass<Graph> kPasses[] = {{"fold-noop", fold_noop, 1, "removes ..."}};
//   run_passes(graph, kPasses, pipeline, hooks, options)               // names, in order
//
// A pass does one thing, keeps the meaning of the IR and reports whether it changed anything. The runner
// alone knows about disabling, printing, timing and verification; a pipeline is a visible list of names. A
// pass that leaves an IR that does not verify is a bug of Jumar: the runner raises InternalError, which names
// the pass.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/result.h"

namespace jumar::ir {

struct PassResult {
  uint32_t changes = 0;  // places that the pass rewrote
  bool changed() const { return changes > 0; }
};

// What a pass may tell beside its result.
struct PassContext {
  std::vector<std::string> remarks;  // one line per decision worth reporting
};

template <class Ir>
struct Pass {
  std::string_view name;  // "fold-noop"
  PassResult (*run)(Ir&, PassContext&);
  int level;  // 0: correctness depends on it, so that it cannot be disabled; 1: always worth it
  std::string_view summary;
};

template <class Ir>
struct PassHooks {
  std::function<Status(const Ir&)> verify;
  std::function<std::string(const Ir&)> text;
};

struct PassOptions {
  std::vector<std::string> disabled;     // names of passes that are skipped
  std::vector<std::string> print_after;  // names, "all", or "changed"
  bool verify_each = true;
  // A pass that claims to have changed nothing is checked by comparing texts: slow, for tests and `jumar
  // opt`.
  bool check_unchanged = false;
  // Where printed programs go: the pass's name and the text after it.
  std::function<void(std::string_view pass, std::string_view text)> print;
};

struct PassRecord {
  std::string name;
  uint32_t changes = 0;
  double ms = 0;
  std::vector<std::string> remarks;
};

// A row of a pass table without its function: what the checks on names need.
struct PassName {
  std::string_view name;
  int level;
};
// A diagnostic when a name in the pipeline or in the options is not in the table, or cannot be disabled.
Status check_pass_names(std::span<const PassName> table, std::span<const std::string_view> pipeline,
                        const PassOptions& options);
bool is_pass_disabled(std::string_view name, const PassOptions& options);
bool prints_after(std::string_view name, bool changed, const PassOptions& options);
[[noreturn]] void raise_pass_bug(std::string_view pass, std::string_view what);

// Runs the pipeline's passes in order. A record per pass that ran; or a diagnostic for a wrong name.
template <class Ir>
Result<std::vector<PassRecord>> run_passes(Ir& ir, std::span<const Pass<Ir>> table,
                                           std::span<const std::string_view> pipeline,
                                           const PassHooks<Ir>& hooks, const PassOptions& options = {}) {
  std::vector<PassName> names;
  for (const Pass<Ir>& pass : table) names.push_back({pass.name, pass.level});
  JUMAR_RETURN_IF_ERROR(check_pass_names(names, pipeline, options));
  std::vector<PassRecord> records;
  for (std::string_view name : pipeline) {
    if (is_pass_disabled(name, options)) continue;
    const Pass<Ir>* pass = nullptr;
    for (const Pass<Ir>& row : table) {
      if (row.name == name) pass = &row;
    }
    std::string before = options.check_unchanged ? hooks.text(ir) : std::string();
    PassContext context;
    auto begin = std::chrono::steady_clock::now();
    PassResult result = pass->run(ir, context);
    std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - begin;
    if (options.verify_each) {
      if (Status status = hooks.verify(ir); !status.ok()) raise_pass_bug(name, status.error().text());
    }
    if (options.check_unchanged && !result.changed() && hooks.text(ir) != before)
      raise_pass_bug(name, "it changed the program but reports that it did not");
    if (options.print && prints_after(name, result.changed(), options)) options.print(name, hooks.text(ir));
    records.push_back({std::string(name), result.changes, elapsed.count(), std::move(context.remarks)});
  }
  return records;
}

}  // namespace jumar::ir
