// `jumar compile --target=... --emit=loop,ttir,triton,linalg,hivm`: the kernels of a program for an NPU at
// every stage, in a folder.
//
//   softmax.loop  softmax.ttir.mlir  softmax.triton.py  softmax.linalg.mlir  softmax.hivm.mlir
//   plan.txt      kernels.json
//
// A .loop is a program of its own, which `jumar opt` reads. The folder appears at once or not at all; what
// stood there before is replaced where it is such a folder too, or empty, and left alone otherwise.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "driver/report.h"
#include "support/options.h"
#include "support/result.h"

namespace jumar::driver {

// The words of --emit that are stages of a kernel, in their order.
std::span<const std::string_view> device_stages();

struct DeviceProjectRequest {
  std::string input;                // an archive of torch.export.save, or a file with graph text
  std::string model;                // of an archive that holds several; otherwise empty
  std::vector<std::string> stages;  // which files to write; empty: all
  // Called with what is done now, before each part of the work and after each kernel.
  std::function<void(std::string_view stage)> progress;
};

struct DeviceFile {
  std::string name;
  std::string text;
};

struct DeviceProject {
  size_t launches = 0;
  std::string json;
  std::vector<DeviceFile> files;  // kernels.json among them
};

// `options` name a device. Its toolchain must be there.
Result<DeviceProject> device_project(const DeviceProjectRequest& request, const Options& options,
                                     Report& report);

Status write_device_project(const DeviceProject& project, const std::string& directory);

}  // namespace jumar::driver
