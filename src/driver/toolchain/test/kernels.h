// Small kernels as TTIR, for tests.
#pragma once

#include <fmt/format.h>

#include "driver/toolchain/check_kernels.h"

namespace jumar::driver::toolchain {

// out[k] = a[k] + b[k] for k < n: each program does one block, the last one less.
inline TtirKernel add_kernel(int block) {
  const std::string name = fmt::format("add_{}", block);
  std::string ttir = R"(module {
  tt.func public @NAME(%a: !tt.ptr<f32>, %b: !tt.ptr<f32>, %out: !tt.ptr<f32>, %n: i32) {
    %size = arith.constant BLOCK : i32
    %zeros = arith.constant dense<0.0> : tensor<BLOCKxf32>
    %pid = tt.get_program_id x : i32
    %begin = arith.muli %pid, %size : i32
    %range = tt.make_range {end = BLOCK : i32, start = 0 : i32} : tensor<BLOCKxi32>
    %begins = tt.splat %begin : i32 -> tensor<BLOCKxi32>
    %at = arith.addi %begins, %range : tensor<BLOCKxi32>
    %ends = tt.splat %n : i32 -> tensor<BLOCKxi32>
    %mask = arith.cmpi slt, %at, %ends : tensor<BLOCKxi32>
    %a0 = tt.splat %a : !tt.ptr<f32> -> tensor<BLOCKx!tt.ptr<f32>>
    %a1 = tt.addptr %a0, %at : tensor<BLOCKx!tt.ptr<f32>>, tensor<BLOCKxi32>
    %x = tt.load %a1, %mask, %zeros : tensor<BLOCKx!tt.ptr<f32>>
    %b0 = tt.splat %b : !tt.ptr<f32> -> tensor<BLOCKx!tt.ptr<f32>>
    %b1 = tt.addptr %b0, %at : tensor<BLOCKx!tt.ptr<f32>>, tensor<BLOCKxi32>
    %y = tt.load %b1, %mask, %zeros : tensor<BLOCKx!tt.ptr<f32>>
    %sum = arith.addf %x, %y : tensor<BLOCKxf32>
    %o0 = tt.splat %out : !tt.ptr<f32> -> tensor<BLOCKx!tt.ptr<f32>>
    %o1 = tt.addptr %o0, %at : tensor<BLOCKx!tt.ptr<f32>>, tensor<BLOCKxi32>
    tt.store %o1, %sum, %mask : tensor<BLOCKx!tt.ptr<f32>>
    tt.return
  }
}
)";
  const auto replace_all = [&](const std::string& what, const std::string& with) {
    for (size_t at = ttir.find(what); at != std::string::npos; at = ttir.find(what, at + with.size()))
      ttir.replace(at, what.size(), with);
  };
  replace_all("BLOCK", std::to_string(block));
  replace_all("NAME", name);
  return {name, ttir};
}

}  // namespace jumar::driver::toolchain
