#include "driver/toolchain_cli.h"

#include <CLI/CLI.hpp>

#include <fmt/ranges.h>

namespace jumar::driver {

ToolchainCli::ToolchainCli(CLI::App& app)
    : toolchain_(*app.add_subcommand("toolchain", "look after the Ascend toolchain, and try it")),
      install_(*toolchain_.add_subcommand("install", "get it from two wheels, without installing them")),
      status_(*toolchain_.add_subcommand("status", "tell which programs are found, and where")),
      compile_(*toolchain_.add_subcommand("compile", "TTIR to linalg and optimized HIVM")),
      traffic_(*toolchain_.add_subcommand("traffic", "count what a launch of optimized HIVM does, as JSON")) {
  toolchain_.require_subcommand(1);
  install_.add_option("--from", arguments_.from, "wheel files, or folders that hold them; none: download");
  install_.add_option("--python", arguments_.python, "a Python that has pip, for the download");
  install_.add_option("--index-url", arguments_.index_url, "pip's, for the download");
  compile_.add_option("files", arguments_.files, "TTIR texts")->required();
  compile_.add_option("--target", arguments_.target, "the device: a name, or a path to a file")->required();
  compile_.add_option("-o,--output", arguments_.output,
                      "the folder for NAME.linalg.mlir and NAME.hivm.mlir; otherwise this one");
  traffic_.add_option("file", arguments_.file, "what `jumar toolchain compile` wrote as HIVM")->required();
  traffic_.add_option("--grid", arguments_.grid, "blocks in x, y and z")->delimiter(',');
  traffic_.add_option("--args", arguments_.scalars, "the integer arguments, in order")->delimiter(',');
  traffic_.add_option("--target", arguments_.target, "a device, whose cores and constants are used");
  for (CLI::App* sub : {&install_, &status_, &compile_}) {
    sub->add_option("-O", options_, "an option as name=value; `jumar options` lists them")
        ->allow_extra_args(false);
  }
}

bool ToolchainCli::is_wanted() const { return toolchain_.parsed(); }

Result<ToolchainCli::Outcome> ToolchainCli::run(const Options& base) const {
  JUMAR_ASSIGN(const Options options, base.with(fmt::format("{}", fmt::join(options_, "\n"))));
  Outcome out;
  if (install_.parsed()) {
    JUMAR_ASSIGN(out.text, toolchain::install_command(arguments_));
  } else if (status_.parsed()) {
    out.text = toolchain::status_command(options, out.is_ok);
  } else if (compile_.parsed()) {
    JUMAR_ASSIGN(out.text, toolchain::compile_command(arguments_, options, out.is_ok));
  } else {
    JUMAR_ASSIGN(out.text, toolchain::traffic_command(arguments_));
  }
  return out;
}

}  // namespace jumar::driver
