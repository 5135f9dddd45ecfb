#include "driver/toolchain/hivm_facts.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "driver/toolchain/hivm_machine.h"

namespace jumar::driver::toolchain {
namespace {

struct NeedRow {
  std::string_view kind;
  std::optional<int64_t> HostNeeds::*member;
};
constexpr NeedRow kNeeds[] = {
    {"infer_task_type_function", &HostNeeds::task_type},
    {"infer_workspace_shape_function", &HostNeeds::workspace_bytes},
    {"infer_sync_block_lock_num_function", &HostNeeds::lock_count},
    {"infer_sync_block_lock_init_function", &HostNeeds::lock_initial},
};
// These functions return a constant.
constexpr int64_t kMostHostSteps = 10000;

int64_t ub_bytes_of(const HivmProgram& program, const HivmFunction& function) {
  const std::map<uint32_t, int64_t> constants(function.constants.begin(), function.constants.end());
  int64_t out = 0;
  for (const HivmStep& step : function.steps) {
    if (step.op != HivmOp::kPointer || program.types[step.index].space != HivmSpace::kUb) continue;
    const HivmView view = HivmView::of(program.types[step.index]);
    for (size_t k = 0; k < static_cast<size_t>(step.number) && k < step.operands.size(); ++k) {
      const auto address = constants.find(step.operands[k]);
      if (address != constants.end())
        out = std::max(out, address->second + (view.elements() * view.bits + 7) / 8);
    }
  }
  return out;
}

}  // namespace

HivmFacts facts_of(const HivmProgram& program) {
  HivmFacts out;
  for (const HivmFunction& function : program.functions) {
    out.ub_bytes = std::max(out.ub_bytes, ub_bytes_of(program, function));
    const auto row = std::find_if(std::begin(kNeeds), std::end(kNeeds),
                                  [&](const NeedRow& each) { return each.kind == function.host_kind; });
    if (row == std::end(kNeeds)) continue;
    HivmMachine machine(program, kMostHostSteps);
    HivmWork work;
    const Status done = machine.run(function, {}, 0, 0, work);
    if (done.ok() && machine.returned().size() == 1 && machine.returned()[0].is_known)
      out.needs.*row->member = machine.returned()[0].number;
  }
  return out;
}

}  // namespace jumar::driver::toolchain
