// Kernels of a program for an NPU: cut, written as TTIR, checked by the device's toolchain.
//
//   JUMAR_ASSIGN(NpuKernels made, npu_kernels(program, device.target, tools, options, progress));
//   made.kernels[k].ttir, made.kernels[k].linalg();   // one for each kernel of the program, in order
//   made.refused                                      // kernels that can't be made, with reasons
//
// The first way to cut a kernel is tried first; where the toolchain does not take it, the next one is.
// Without a toolchain nothing is checked and the first one stands.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "driver/toolchain/check_kernels.h"
#include "loop/loop.h"
#include "target/target.h"
#include "tile/npu/tile_npu.h"

namespace jumar::driver {

// One of a kernel's choices that was compiled to be compared with others.
struct RankedChoice {
  size_t number = 0;         // among the kernel's choices
  double modelled_us = 0;    // by the model of the tile stage
  double hivm_us = 0;        // by its HIVM; meaningless unless it is counted
  int64_t buffer_bytes = 0;  // by the model
  bool is_counted = false;   // it compiles, and its HIVM can be counted
};

struct NpuKernel {
  std::string name;      // of the program's kernel
  std::string function;  // of the code: a name that the toolchain takes
  std::string origin;
  tile::npu::Choice choice;
  size_t choice_number = 0;  // among the kernel's choices, the best first
  std::string ttir;
  toolchain::KernelCheck check;       // as it begins, where there is no toolchain
  std::vector<std::string> rejected;  // what the toolchain said about better choices, one text each
  std::vector<RankedChoice> ranking;  // where there was one
  bool is_checked = false;
  double tile_seconds = 0;  // of one processor, from loops to the first TTIR

  const std::string& linalg() const { return check.adapted.linalg->text; }
  bool has_linalg() const { return check.adapted.linalg.has_value(); }
};

// What a kernel's function is called in device binaries, which kernels that differ in names only share.
inline constexpr std::string_view kBinaryFunction = "jumar_kernel_0";
// The linalg with that name in place of the kernel's: equal for kernels that differ in names only.
std::string anonymous_linalg(const NpuKernel& kernel);

// How the reason of a kernel begins that the toolchain takes in no form.
inline constexpr std::string_view kToolchainRefuses = "the toolchain refuses it: ";

struct NpuKernels {
  std::vector<NpuKernel> kernels;
  std::map<std::string, std::string> refused;  // kernel -> reason
  double tile_seconds = 0;
  double toolchain_seconds = 0;
};

struct NpuOptions {
  int toolchain_threads = 0;
  const Store* store = nullptr;  // where what the toolchain says is kept; or null
  size_t most_choices = 10;
  // Of a kernel's choices, compiled and compared: rounded up, at least one.
  std::optional<double> ranked_share;
  std::function<void(size_t done, size_t total)> progress;
};

// What the tile stage is to know about a device.
tile::npu::NpuModel npu_model(const target::Target& target);
// The toolchain by the options; a diagnostic that says what to do where the target's is not there.
Result<toolchain::Toolchain> needed_toolchain(const Options& options, const target::Target& target);

// A diagnostic with the first refused kernel and its reason, where there is one.
Status all_made(const NpuKernels& made, const target::Target& target);

// What an axis of a tiling does: "tasks" (shared out to cores), "loop" (of each task) or "inner".
std::string_view role_of(const tile::npu::AxisTiling& axis);

// How a kernel is cut, for people: a line of what it needs and costs by the model, and one for each nest.
std::string tiling_text(const NpuKernel& kernel);

// `tools` may be null: nothing is checked. An error is that the toolchain can't be run.
Result<NpuKernels> npu_kernels(loop::Program& program, const target::Target& target,
                               const toolchain::Toolchain* tools, const NpuOptions& options);

}  // namespace jumar::driver
