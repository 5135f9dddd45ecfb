#include "driver/toolchain/hivm_time.h"

#include <algorithm>
#include <utility>

namespace jumar::driver::toolchain {
namespace {

double over(int64_t amount, double rate) { return rate > 0 ? static_cast<double>(amount) / rate : 0; }
double times(int64_t count, double seconds) { return static_cast<double>(count) * seconds; }

double moved(int64_t bytes, int64_t rows, int64_t calls, const HivmCosts& costs) {
  const double least = static_cast<double>(rows) * costs.burst_bytes;
  const double whole = std::max(static_cast<double>(bytes), least);
  const double data = costs.core_bytes_per_second > 0 ? whole / costs.core_bytes_per_second : 0;
  return data + times(calls, costs.transfer_seconds);
}

HivmTime time_of(const HivmWork& work, const HivmCosts& costs) {
  HivmTime out;
  out.read_seconds = moved(work.read_bytes, work.read_rows, work.read_calls, costs);
  out.write_seconds = moved(work.written_bytes, work.written_rows, work.write_calls, costs);

  // A function of instructions is started once, and issues one of them after the other, those on masks as
  // well.
  constexpr int64_t kRegisterBytes = 256;
  const int64_t starts = work.vector_calls - work.vector_instructions + work.vector_function_calls;
  const int64_t bytes = work.vector_bytes + work.mask_instructions * kRegisterBytes;
  out.vector_seconds = over(bytes, costs.vector_bytes_per_second) + times(starts, costs.vector_call_seconds);
  out.scalar_seconds = times(work.local_scalar_accesses, costs.scalar_element_seconds) +
                       times(work.gm_scalar_accesses, costs.gm_scalar_seconds);
  out.sync_seconds = times(work.barriers, costs.barrier_seconds) + times(work.flags, costs.flag_seconds) +
                     times(work.block_syncs, costs.block_sync_seconds);
  out.start_seconds = times(work.programs, costs.program_seconds);
  const double longest = std::max({out.read_seconds, out.write_seconds, out.vector_seconds});
  const double sum = out.read_seconds + out.write_seconds + out.vector_seconds;
  out.seconds = longest + (1 - costs.overlap) * (sum - longest) + out.scalar_seconds + out.sync_seconds +
                out.start_seconds;
  const std::pair<double, std::string_view> parts[] = {
      {out.read_seconds, "read"},     {out.write_seconds, "write"}, {out.vector_seconds, "vector"},
      {out.scalar_seconds, "scalar"}, {out.sync_seconds, "sync"},   {out.start_seconds, "start"}};
  double most = -1;
  for (const auto& [seconds, name] : parts) {
    if (seconds <= most) continue;
    most = seconds;
    out.bound = name;
  }
  return out;
}

}  // namespace

HivmTime estimated_time(const HivmTraffic& traffic, const HivmCosts& costs) {
  HivmTime out;
  for (const auto* cores : {&traffic.vector_cores, &traffic.cube_cores}) {
    for (const HivmWork& core : *cores) {
      const HivmTime time = time_of(core, costs);
      if (out.bound.empty() || time.seconds > out.seconds) out = time;
    }
  }
  const double memory =
      over(traffic.total.read_bytes + traffic.total.written_bytes, costs.device_bytes_per_second);
  if (memory > out.seconds) {
    out.seconds = memory;
    out.bound = "memory";
  }
  out.seconds += costs.launch_seconds;
  return out;
}

}  // namespace jumar::driver::toolchain
