// The subcommands of `jumar toolchain`, as the command line's parser has them.
#pragma once

#include <string>
#include <vector>

#include "driver/toolchain/command.h"

namespace CLI {
class App;
}

namespace jumar::driver {

class ToolchainCli {
 public:
  // `app` must outlive this.
  explicit ToolchainCli(CLI::App& app);
  ToolchainCli(const ToolchainCli&) = delete;
  ToolchainCli& operator=(const ToolchainCli&) = delete;

  // After parsing: whether one of them was given.
  bool is_wanted() const;

  struct Outcome {
    std::string text;
    bool is_ok = true;  // false: a kernel was refused or a program is missing, which the text says
  };
  Result<Outcome> run(const Options& base) const;

 private:
  CLI::App& toolchain_;
  CLI::App& install_;
  CLI::App& status_;
  CLI::App& compile_;
  CLI::App& traffic_;
  toolchain::ToolchainArguments arguments_;
  std::vector<std::string> options_;
};

}  // namespace jumar::driver
