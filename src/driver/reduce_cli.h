// `jumar check` and `jumar reduce`, as the command line's parser has them.
#pragma once

#include <string>

#include "driver/reduce_command.h"

namespace CLI {
class App;
}

namespace jumar::driver {

class ReduceCli {
 public:
  // `app` must outlive this.
  explicit ReduceCli(CLI::App& app);
  ReduceCli(const ReduceCli&) = delete;
  ReduceCli& operator=(const ReduceCli&) = delete;

  // After parsing: whether one of them was given.
  bool is_wanted() const;
  // What is to be printed.
  Result<std::string> run(const Options& base) const;

 private:
  CLI::App& check_;
  CLI::App& reduce_;
  CheckArguments check_arguments_;
  ReduceArguments reduce_arguments_;
};

}  // namespace jumar::driver
