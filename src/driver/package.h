// From an exported program to a package: one file that torch's own loaders and Jumar's run.
//
//   JUMAR_ASSIGN(import::Imported model, import::import_pt2("model.pt2", {}));
//   JUMAR_ASSIGN(PackageSummary made, write_package(std::move(model), request, options, report));
//
// The package is a zip archive as torch._inductor.aoti_load_package wants it. Its library holds the kernels,
// the plan and a runtime, and its last bytes are the weights (runtime/package/weights.h). No compiler,
// linker or Python takes part.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "driver/report.h"
#include "import/pt2.h"
#include "support/options.h"

namespace jumar::driver {

struct PackageRequest {
  std::string output;  // path of the package
  // Called with what is done now, before each part of the work.
  std::function<void(std::string_view stage)> progress;
};

struct PackageSummary {
  size_t kernels = 0;          // of the plan, each code once
  size_t folding_kernels = 0;  // of what is computed of the weights at load
  uint64_t weights_bytes = 0;
  uint64_t package_bytes = 0;
};

// The file at `output` is replaced when the package is complete, and untouched otherwise.
Result<PackageSummary> write_package(import::Imported model, const PackageRequest& request,
                                     const Options& options, Report& report);

}  // namespace jumar::driver
