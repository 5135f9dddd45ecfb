#include "driver/jit/cpu_target.h"

#include <fmt/ranges.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/TargetParser/Host.h>

#include <algorithm>

namespace jumar::driver::jit {
namespace {

// 512-bit registers are used wherever they exist: LLVM's tuning for some processors (and for x86-64-v4) would
// otherwise split an explicit 512-bit vector into two halves.
constexpr const char* kUseZmm = "-prefer-256-bit";

struct NamedTarget {
  const char* name;
  CpuTarget target;
};

std::vector<NamedTarget> named_targets() {
  const std::string x86 = "x86_64-unknown-linux-gnu";
  return {
      {"x86-64-v3", {x86, "x86-64-v3", "", 256, false, true, false}},
      {"x86-64-v4", {x86, "x86-64-v4", kUseZmm, 512, true, true, false}},
      {"aarch64", {"aarch64-unknown-linux-gnu", "generic", "+neon", 128, false, true, false}},
  };
}

Result<CpuTarget> host_x86() {
  const llvm::StringMap<bool> host = llvm::sys::getHostCPUFeatures();
  for (const char* needed : {"avx2", "fma", "f16c"}) {
    if (!host.lookup(needed)) {
      return diagnostic("unsupported", "this processor lacks {}: kernels need AVX2, FMA and F16C", needed);
    }
  }
  CpuTarget target;
  target.triple = llvm::sys::getProcessTriple();
  target.cpu = llvm::sys::getHostCPUName().str();
  target.has_avx512 = host.lookup("avx512f") && host.lookup("avx512bw") && host.lookup("avx512dq") &&
                      host.lookup("avx512vl") && host.lookup("avx512cd");
  target.has_f16c = true;
  target.has_avx512_bf16 = target.has_avx512 && host.lookup("avx512bf16");
  target.vector_bits = target.has_avx512 ? 512 : 256;
  std::vector<std::string> features;
  for (const auto& entry : host) features.push_back((entry.second ? "+" : "-") + entry.first().str());
  if (target.has_avx512) features.push_back(kUseZmm);
  std::sort(features.begin(), features.end(),
            [](const std::string& a, const std::string& b) { return a.substr(1) < b.substr(1); });
  target.features = fmt::format("{}", fmt::join(features, ","));
  return target;
}

}  // namespace

std::string CpuTarget::text() const {
  return fmt::format("triple={} cpu={} vector_bits={} features={}", triple, cpu, vector_bits, features);
}

Result<CpuTarget> host_cpu_target() {
#if defined(__x86_64__)
  return host_x86();
#elif defined(__aarch64__)
  CpuTarget target = cpu_target("aarch64").value();
  target.triple = llvm::sys::getProcessTriple();
  target.cpu = llvm::sys::getHostCPUName().str();
  return target;
#else
  return diagnostic("unsupported", "kernels can run on x86-64 and aarch64 only");
#endif
}

std::vector<std::string> cpu_target_names() {
  std::vector<std::string> names;
  for (const NamedTarget& row : named_targets()) names.emplace_back(row.name);
  return names;
}

Result<CpuTarget> cpu_target(std::string_view name) {
  if (name == "host") return host_cpu_target();
  for (NamedTarget& row : named_targets()) {
    if (name == row.name) return std::move(row.target);
  }
  return diagnostic("option", "unknown CPU target '{}': allowed are host, {}", name,
                    fmt::join(cpu_target_names(), ", "));
}

}  // namespace jumar::driver::jit
