// The entries of a package for an NPU, read and checked.
//
//   JUMAR_ASSIGN(const std::optional<DeviceArchive> archive, read_device_archive(file->bytes(), path));
//   archive->kernels[k].code        linalg text
//
// The file may come from anywhere: every entry but the weights is compared with its checksum, the plans
// verify, and every kernel that they launch is there.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plan/plan.h"
#include "support/result.h"
#include "support/zip.h"
#include "target/target.h"

namespace jumar::driver {

// The names of entries beside the weights.
namespace device_entry {
inline constexpr const char* kTarget = "device.target";
inline constexpr const char* kKernels = "device.json";
inline constexpr const char* kLaunches = "kernels.json";
inline constexpr const char* kPlan = "model.plan";
inline constexpr const char* kFolding = "model.folding";
inline constexpr const char* kManifest = "model.manifest";
}  // namespace device_entry

// A kernel of the plans. Several may share their code.
struct DeviceKernel {
  std::string name;      // as the plans call it
  std::string function;  // in the linalg
  std::string linalg;    // entries
  std::string binary;    // empty: it has yet to be made
};

// device.json
std::string device_kernels_json(const std::string& target, std::span<const DeviceKernel> kernels);
Result<std::vector<DeviceKernel>> read_device_kernels(const std::string& text, const std::string& file);

struct DeviceArchive {
  target::Target target;
  std::string launches;  // kernels.json
  std::string plan_bytes;
  std::string folding_bytes;  // empty: nothing is computed of the weights
  std::string manifest_bytes;
  plan::Plan plan;
  std::optional<plan::Plan> folding;
  std::vector<DeviceKernel> kernels;
  std::vector<std::string> code;     // linalg of each
  std::span<const uint8_t> weights;  // with their trailer; empty where there are none
};

// Whether a package is for a device.
bool is_device_package(const ZipArchive& zip);
// What tools read of such a package.
struct DeviceTexts {
  std::string kernels;   // device.json
  std::string launches;  // kernels.json
};
Result<DeviceTexts> device_texts_of(const ZipArchive& zip);
Result<DeviceArchive> read_device_archive(std::span<const uint8_t> bytes, const std::string& file);

}  // namespace jumar::driver
