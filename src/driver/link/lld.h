// lld's ELF linker as a function.
#pragma once

#include <string>
#include <vector>

namespace jumar::driver::link {

// `arguments` are those of ld.lld, the program's name included. False when linking failed: `messages` says
// why. One link runs at a time; the others wait.
bool run_lld(const std::vector<std::string>& arguments, std::string& messages);

}  // namespace jumar::driver::link
