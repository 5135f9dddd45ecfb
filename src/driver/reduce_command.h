// `jumar check` and `jumar reduce`: whether a graph file fails, and the smallest that fails in the same way.
//
//   ReduceArguments arguments;
//   arguments.file = "bad.graph";
//   arguments.check = "crash";
//   Result<std::string> said = reduce_command(arguments, options);   // "bad.reduced.graph: 2 nodes, 1 input
//   ..."
//
// Every try runs in a process of its own, with a time limit, so that a crash and an endless loop are failures
// like others. The file that is written has been tried; on errors none is.
#pragma once

#include <string>
#include <vector>

#include "support/options.h"
#include "support/result.h"

namespace jumar::driver {

struct CheckArguments {
  std::string file = "-";
  uint64_t seed = 1;
  int rounds = 3;
  double special_share = 0;
  double tolerance = 1e-4;
  std::vector<std::string> options;
};

// Nothing where every level gives the same (driver/ladder.h).
Status check_command(const CheckArguments& arguments, const Options& base);

struct ReduceArguments {
  std::string file;
  std::string output;           // empty: the file's name with .reduced before its ending
  std::string check = "crash";  // one of check_words()
  std::string command;          // in place of a check: words, with {} for the file
  std::string message;          // what the failure says; empty: what it says at first
  double limit_seconds = 60;    // of a try
  std::vector<std::string> options;
};

std::vector<std::string> check_words();
Result<std::string> reduce_command(const ReduceArguments& arguments, const Options& base);

}  // namespace jumar::driver
