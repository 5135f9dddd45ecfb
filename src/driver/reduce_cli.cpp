#include "driver/reduce_cli.h"

#include <CLI/CLI.hpp>

namespace jumar::driver {

ReduceCli::ReduceCli(CLI::App& app)
    : check_(*app.add_subcommand("check", "run a graph at every level on made-up inputs, and compare")),
      reduce_(*app.add_subcommand("reduce", "find the smallest part of a graph that still fails")) {
  check_.add_option("file", check_arguments_.file, "a graph as text")->required();
  check_.add_option("--seed", check_arguments_.seed, "of the inputs");
  check_.add_option("--rounds", check_arguments_.rounds, "so often, with other inputs and sizes")
      ->check(CLI::Range(1, 1000000));
  check_
      .add_option("--special", check_arguments_.special_share,
                  "the share of floats that are zeros, infinities, NaN, very large or very small")
      ->check(CLI::Range(0.0, 1.0));
  check_
      .add_option("--tolerance", check_arguments_.tolerance,
                  "how far floats may be apart, relative, in single precision")
      ->check(CLI::NonNegativeNumber);
  reduce_.add_option("file", reduce_arguments_.file, "a graph as text, such as a reproducer")->required();
  reduce_
      .add_option("--check", reduce_arguments_.check,
                  "crash: compiling it ends as it does now; differs: `jumar check` says so")
      ->check(CLI::IsMember(check_words()));
  reduce_.add_option("--command", reduce_arguments_.command,
                     "a program in place of a check, {} for the file; it fails where it ends as it does now");
  reduce_.add_option("--message", reduce_arguments_.message, "what a failure must say, where that matters");
  reduce_.add_option("--limit", reduce_arguments_.limit_seconds, "seconds that a try may take")
      ->check(CLI::PositiveNumber);
  reduce_.add_option("-o,--output", reduce_arguments_.output,
                     "the file to write; otherwise NAME.reduced.graph");
  for (auto& [sub, options] :
       {std::pair(&check_, &check_arguments_.options), std::pair(&reduce_, &reduce_arguments_.options)})
    sub->add_option("-O", *options, "an option as name=value; `jumar options` lists them")
        ->allow_extra_args(false);
}

bool ReduceCli::is_wanted() const { return check_.parsed() || reduce_.parsed(); }

Result<std::string> ReduceCli::run(const Options& base) const {
  if (reduce_.parsed()) return reduce_command(reduce_arguments_, base);
  JUMAR_RETURN_IF_ERROR(check_command(check_arguments_, base));
  return std::string();
}

}  // namespace jumar::driver
