// What each launch of a program for an NPU is and costs, at given sizes: the rows of kernels.json.
//
//   JUMAR_ASSIGN(const std::vector<DeviceLaunch> launches, device_launches(parts, device, sizes));
//   launches[0].grid, launches[0].scalars         // what the launcher passes
//   launches[0].traffic->total.read_bytes         // counted in the compiled kernel
//   launches[0].least.bytes()                     // what no kernel of these loops can avoid
//
// Numbers are those of the compiled code: its scalar part is run for every block of the launch. Where that is
// not possible, `not_counted` says why.
#pragma once

#include "driver/least_traffic.h"
#include "driver/npu_compile.h"
#include "driver/toolchain/hivm_time.h"

namespace jumar::driver {

struct DeviceLaunch {
  const NpuKernel* kernel = nullptr;    // of the parts
  const loop::Kernel* loops = nullptr;  // the same, before it was cut
  std::array<int64_t, 3> grid = {0, 1, 1};
  std::vector<int64_t> scalars;  // in order
  LeastTraffic least;
  std::optional<toolchain::HivmTraffic> traffic;
  toolchain::HivmTime time;  // with traffic
  std::string not_counted;
  // Why elements are handled one by one, where they are.
  std::vector<std::string> scalar_reasons;

  int64_t bytes() const { return traffic ? traffic->total.read_bytes + traffic->total.written_bytes : 0; }
  int64_t cores_used() const { return traffic ? traffic->cores_used : 0; }
  // The least possible, where each core reads broadcast operands once, and the compiler's constants.
  int64_t least_bytes_on_cores() const {
    return least.bytes_on(cores_used()) + (traffic ? traffic->total.table_bytes : 0);
  }
  // Bytes over the least possible, where each core reads broadcast operands once and where they are read once
  // in all; nothing where not all is counted or nothing has to move.
  std::optional<double> ratio_with_broadcast() const;
  std::optional<double> ratio() const;

 private:
  std::optional<double> over(int64_t least_bytes) const;
};

// In the order of the plan. Fails where a grid or an argument has no value at these sizes.
Result<std::vector<DeviceLaunch>> device_launches(const NpuParts& parts, const Device& device,
                                                  const SizeValues& sizes);

// How a buffer of a kernel is used: "read", "written" or "read and written".
std::string_view use_of(const loop::Kernel& kernel, loop::BufferId buffer);

}  // namespace jumar::driver
