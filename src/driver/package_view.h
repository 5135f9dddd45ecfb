// A package as it lies on disk, read without running or loading anything of it.
//
//   JUMAR_ASSIGN(PackageView view, read_package(file->bytes(), "model.jumar.pt2"));
//   view.main.plan                what a call does
//   view.manifest.constants       and so on
//
// The file may come from anywhere. What read_package gives is verified: programs and plans by their own
// verifiers, and the manifest against both, so that every index in it may be used.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "driver/device_archive.h"
#include "driver/report.h"
#include "loop/loop.h"
#include "plan/plan.h"
#include "runtime/package/manifest.h"

namespace jumar::driver {

// A plan with the program that it was made of: the launches of the plan are the kernels of the program, in
// order; of kernels that share their code, a launch names the one that the code is called after.
struct ProgramView {
  loop::Program program;
  plan::Plan plan;
};

// Of a package for a device.
struct DeviceView {
  std::string launches;  // kernels.json, which parses
  std::vector<DeviceKernel> kernels;
};

struct PackageView {
  std::string file;
  uint64_t file_bytes = 0;
  uint64_t library_bytes = 0;  // without the weights
  runtime::package::Manifest manifest;
  std::string target;
  Report report;  // fusions and refusals only
  ProgramView main;
  std::optional<ProgramView> folding;  // what is computed of the weights
  std::optional<DeviceView> device;
};

Result<PackageView> read_package(std::span<const uint8_t> bytes, const std::string& file);

}  // namespace jumar::driver
