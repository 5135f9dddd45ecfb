// Rows of a report about kernels of an NPU: what the toolchain made of each, and what it does in a launch.
//
//   {"name": "k0", "stage": "checked", "choice": 0, "rejected": [], "grid": "...", "tiling": "...",
//    "loops_fold": false, "finds": false, "ub_modelled_bytes": 98304,
//    "ub_unshared_bytes": 98304, "ub_bytes": 98304,
//    "modelled_us": 12.5, "tile_ms": 0.8, "toolchain_ms": 210.5, "dropped_code_motion": false,
//    "dropped_multi_buffer": false, "ranking": [...],
//    "counts": {"gm_bytes": 1024, "least_bytes": 1024, "hivm_us": 11.5, ...}}
//   {"name": "k1", "stage": "refused", "reason": "..."}
//
// "stage" is "not checked" (no toolchain), "checked" (all but the device's linker), "linked" or "refused".
// "ranking" has a row for each choice that was compiled to be compared. "counts" are those of the sizes of
// hinted_sizes and all cores of the device, with the option count_kernels. "finds" tells that an access goes
// by an index, "loops_fold" that a task folds an axis in several blocks.
#pragma once

#include "driver/device_launches.h"

namespace jumar::driver {

void note_refused(const NpuKernels& made, Report& report);
// After the plan is there. Fails where a launch has no numbers at the hinted sizes.
Status note_device_kernels(const NpuParts& parts, const target::Target& target, const Options& options,
                           Report& report);

}  // namespace jumar::driver
