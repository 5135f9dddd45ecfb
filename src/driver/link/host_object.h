// The host's part of a package for an NPU as an object file: include/jumar/device.h.
//
//   std::vector<uint8_t> object = host_object(host_architecture("aarch64"), {target_text, main, folding,
//   kernels});
//
// It needs no library, so that it is made for every architecture on any.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "driver/jit/cpu_target.h"
#include "sym/expr.h"

namespace jumar::driver::link {

struct HostKernel {
  std::string name;
  std::string function;
  std::string linalg;
  std::string binary;  // empty: none
  std::string binary_function;
  int32_t pointers = 0;
  std::vector<uint8_t> integer_bits;
  int32_t numbers = 0;
  bool in_turn = false;
  int64_t workspace_bytes = 0;
  int64_t locks = 0;
};

struct HostLaunch {
  uint32_t step = 0;
  uint32_t kernel = 0;
  std::vector<sym::Expr> words;
};

struct HostPlan {
  std::string_view bytes;  // empty: no plan
  std::vector<HostLaunch> launches;
};

struct HostProgram {
  std::string target;
  HostPlan main;
  HostPlan folding;
  std::vector<HostKernel> kernels;
};

// "x86_64", "aarch64".
std::span<const std::string_view> host_architectures();
// The one that this process runs on.
std::string_view own_architecture();
// Any processor of it.
jit::CpuTarget host_architecture(std::string_view name);

std::vector<uint8_t> host_object(const jit::CpuTarget& target, const HostProgram& program);

}  // namespace jumar::driver::link
