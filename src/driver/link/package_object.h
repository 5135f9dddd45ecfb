// The object file that tells a package's runtime what was linked with it: plans, manifest, kernels.
//
//   std::vector<uint8_t> object = package_object(target, {plan, "", manifest, {{"k0",
//   "jumar_kernel_1f..."}}});
//
// It defines `jumar_package` (runtime/package/package_data.h) and, because no compiler's start files are
// linked, `__dso_handle`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "driver/jit/cpu_target.h"

namespace jumar::driver::link {

struct PackageParts {
  std::string_view plan;
  std::string_view folding_plan;  // empty: none
  std::string_view manifest;
  std::vector<std::pair<std::string, std::string>> kernels;  // the plans' names and the objects' symbols
  std::string device;  // where kernels run that are not linked in; empty: they are
};

std::vector<uint8_t> package_object(const jit::CpuTarget& target, const PackageParts& parts);

}  // namespace jumar::driver::link
