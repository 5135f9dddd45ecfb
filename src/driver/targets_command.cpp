#include "driver/targets_command.h"

#include "target/target.h"

namespace jumar::driver {

Result<std::string> targets_text(const std::string& name_or_path) {
  if (!name_or_path.empty()) {
    JUMAR_ASSIGN(const target::Target target, target::find_target(name_or_path));
    return target::write_target(target);
  }
  constexpr std::string_view kLine = "{:<18} {:<9} {:>5} {:>7} {:>8}\n";
  std::string out = fmt::format(fmt::runtime(kLine), "name", "family", "cubes", "vectors", "UB");
  for (const std::string& name : target::known_targets()) {
    JUMAR_ASSIGN(const target::Target target, target::find_target(name));
    out += fmt::format(fmt::runtime(kLine), target.name, target.family, target.cube_cores,
                       target.vector_cores, fmt::format("{} KiB", target.ub_usable_bytes / 1024));
  }
  return out;
}

}  // namespace jumar::driver
