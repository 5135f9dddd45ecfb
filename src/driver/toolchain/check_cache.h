// Results of kernels that went through the toolchain, kept on disk.
//
// The key holds all that decides a result: the TTIR, how the programs are called, and the programs' names,
// versions and sizes. What depends on the machine's load is not kept: a time limit that passed, a kill from
// outside.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "driver/store.h"
#include "driver/toolchain/check_kernels.h"

namespace jumar::driver::toolchain {

Hash128 check_key(const TtirKernel& kernel, const std::string& tools_identity, const std::string& flavor);
bool is_lasting(const KernelCheck& check);

std::string bytes_of(const KernelCheck& check);
std::optional<KernelCheck> check_from(std::string_view bytes);

}  // namespace jumar::driver::toolchain
