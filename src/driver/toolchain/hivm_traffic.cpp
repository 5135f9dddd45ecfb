#include "driver/toolchain/hivm_traffic.h"

#include <algorithm>

#include "driver/toolchain/hivm_machine.h"

namespace jumar::driver::toolchain {
namespace {

// One row for each sum: what follows is said once.
struct SumRow {
  const char* name;
  int64_t HivmWork::*member;
};
constexpr SumRow kSums[] = {
    {"read_bytes", &HivmWork::read_bytes},
    {"written_bytes", &HivmWork::written_bytes},
    {"table_bytes", &HivmWork::table_bytes},
    {"read_rows", &HivmWork::read_rows},
    {"written_rows", &HivmWork::written_rows},
    {"read_calls", &HivmWork::read_calls},
    {"write_calls", &HivmWork::write_calls},
    {"vector_calls", &HivmWork::vector_calls},
    {"vector_elements", &HivmWork::vector_elements},
    {"vector_bytes", &HivmWork::vector_bytes},
    {"vector_instructions", &HivmWork::vector_instructions},
    {"vector_function_calls", &HivmWork::vector_function_calls},
    {"mask_instructions", &HivmWork::mask_instructions},
    {"cube_calls", &HivmWork::cube_calls},
    {"gm_scalar_accesses", &HivmWork::gm_scalar_accesses},
    {"local_scalar_accesses", &HivmWork::local_scalar_accesses},
    {"scalar_elements", &HivmWork::scalar_elements},
    {"barriers", &HivmWork::barriers},
    {"flags", &HivmWork::flags},
    {"block_syncs", &HivmWork::block_syncs},
    {"programs", &HivmWork::programs},
    {"steps", &HivmWork::steps},
};

// The arguments of an entry: pointers as they are typed, the integers of the kernel in order, the grid last.
Result<std::vector<HivmValue>> arguments_of(const HivmFunction& function, const HivmLaunch& launch) {
  std::vector<size_t> integers;
  std::vector<HivmValue> out;
  for (size_t k = 0; k < function.argument_types.size(); ++k) {
    const HivmType& type = function.argument_types[k];
    HivmValue value;
    value.view = HivmView::of(type);
    value.is_known = type.kind != HivmType::Kind::kFloat;
    out.push_back(value);
    // The first argument is an address that the launcher fills in.
    if (type.kind == HivmType::Kind::kInt && k > 0) integers.push_back(k);
  }
  const size_t wanted = integers.size() < launch.grid.size() ? 0 : integers.size() - launch.grid.size();
  if (integers.size() < launch.grid.size() || wanted != launch.scalars.size()) {
    return diagnostic("input", "{} takes {} integers beside its grid, not {}", function.name, wanted,
                      launch.scalars.size());
  }
  for (size_t k = 0; k < integers.size(); ++k)
    out[integers[k]].number = k < wanted ? launch.scalars[k] : launch.grid[k - wanted];
  return out;
}

class Launch {
 public:
  Launch(const HivmProgram& program, const HivmLaunch& launch)
      : program_(program), launch_(launch), machine_(program, launch.most_steps) {}

  Result<HivmTraffic> run() {
    out_.vector_cores.resize(static_cast<size_t>(std::max(launch_.vector_cores, 1)));
    out_.cube_cores.resize(static_cast<size_t>(std::max(launch_.cube_cores, 1)));
    bool has_entry = false;
    for (const HivmFunction& function : program_.functions) {
      if (!function.is_entry) continue;
      has_entry = true;
      JUMAR_RETURN_IF_ERROR(run_entry(function));
    }
    if (!has_entry) return diagnostic("input", "no function of the module is an entry");
    for (const auto* cores : {&out_.vector_cores, &out_.cube_cores}) {
      for (const HivmWork& core : *cores) {
        out_.total += core;
        const int64_t bytes = core.read_bytes + core.written_bytes;
        out_.busiest_core_bytes = std::max(out_.busiest_core_bytes, bytes);
        if (bytes > 0) ++out_.cores_used;
      }
    }
    out_.vectors = machine_.vectors();
    out_.ub_bytes = machine_.ub_bytes();
    out_.data_branches = machine_.data_branches();
    out_.unknown = program_.unknown;
    return std::move(out_);
  }

 private:
  Status run_entry(const HivmFunction& function) {
    JUMAR_ASSIGN(const std::vector<HivmValue> arguments, arguments_of(function, launch_));
    const int64_t blocks = launch_.grid[0] * launch_.grid[1] * launch_.grid[2];
    const bool is_cube = function.core == HivmFunction::Core::kCube;
    auto& cores = is_cube ? out_.cube_cores : out_.vector_cores;
    // The vector cores beside one cube core share its block.
    const auto sharing =
        static_cast<int64_t>(function.is_part_of_mix && !is_cube
                                 ? std::max<size_t>(out_.vector_cores.size() / out_.cube_cores.size(), 1)
                                 : 1);
    const int64_t groups = std::max<int64_t>(static_cast<int64_t>(cores.size()) / sharing, 1);
    for (int64_t block = 0; block < blocks; ++block) {
      for (int64_t sub = 0; sub < sharing; ++sub) {
        HivmWork& core = cores[static_cast<size_t>(block % groups * sharing + sub)];
        JUMAR_RETURN_IF_ERROR(machine_.run(function, arguments, block, sub, core));
        ++core.programs;
      }
    }
    return {};
  }

  const HivmProgram& program_;
  const HivmLaunch& launch_;
  HivmMachine machine_;
  HivmTraffic out_;
};

}  // namespace

HivmWork& HivmWork::operator+=(const HivmWork& other) {
  for (const SumRow& row : kSums) this->*row.member += other.*row.member;
  return *this;
}

HivmWork& HivmWork::operator-=(const HivmWork& other) {
  for (const SumRow& row : kSums) this->*row.member -= other.*row.member;
  return *this;
}

Result<HivmTraffic> hivm_traffic(const HivmProgram& program, const HivmLaunch& launch) {
  return Launch(program, launch).run();
}

void write_members(JsonWriter& json, const HivmTraffic& traffic) {
  for (const SumRow& row : kSums) json.key(row.name).number(traffic.total.*row.member);
  json.key("ub_bytes").number(traffic.ub_bytes);
  json.key("busiest_core_bytes").number(traffic.busiest_core_bytes);
  json.key("cores_used").number(traffic.cores_used);
  json.key("data_branches").number(traffic.data_branches);
  json.key("vectors").object();
  for (const auto& [name, use] : traffic.vectors) {
    json.key(name).object();
    json.key("calls").number(use.calls).key("elements").number(use.elements).end();
  }
  json.end();
  json.key("unknown_operations").object();
  for (const auto& [name, count] : traffic.unknown) json.key(name).number(count);
  json.end();
}

std::string json_text(const HivmTraffic& traffic) {
  JsonWriter json;
  json.object();
  write_members(json, traffic);
  json.end();
  return json.take();
}

}  // namespace jumar::driver::toolchain
