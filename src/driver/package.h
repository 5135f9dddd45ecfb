// From an exported program to a package: one file that torch's own loaders and Jumar's run.
//
//   PackageRequest request{"model.pt2", "", "model.jumar.pt2", {}};
//   JUMAR_ASSIGN(PackageSummary made, compile_package(request, options, report));
//
// The package is a zip archive as torch._inductor.aoti_load_package wants it: a library with the kernels, the
// plan and a runtime, deflated, and the weights beside it as they are (runtime/package/weights.h). No
// compiler, linker or Python takes part. With a device as target it is a package for that device
// (driver/device_package.h), for which the device's toolchain is needed.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "driver/html_report.h"
#include "driver/report.h"
#include "import/pt2.h"
#include "support/options.h"

namespace jumar::driver {

struct PackageRequest {
  std::string archive;  // what torch.export.save wrote
  std::string model;    // of an archive that holds several; otherwise empty
  std::string output;   // path of the package
  std::string page;     // path of the page of html_report; empty: none
  // Called with what is done now, before each part of the work.
  std::function<void(std::string_view stage)> progress;
};

struct PackageSummary {
  size_t kernels = 0;          // of the plan, each code once
  size_t folding_kernels = 0;  // of what is computed of the weights at load
  uint64_t weights_bytes = 0;
  uint64_t package_bytes = 0;
  // Of a package for a device.
  std::string device;
  size_t linked_kernels = 0;  // those with a device binary
};

// The file at `output` is replaced when the package is complete, and untouched otherwise.
Result<PackageSummary> compile_package(const PackageRequest& request, const Options& options, Report& report);

// The page that the request asks for. Title and build of `inputs` are filled in.
Status write_package_page(const PackageRequest& request, const ReportInputs& inputs);

}  // namespace jumar::driver
