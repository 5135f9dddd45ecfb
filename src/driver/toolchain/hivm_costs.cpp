// What calls and accesses of optimized HIVM cost.
#include <algorithm>

#include "driver/toolchain/hivm_machine.h"
#include "driver/toolchain/hivm_text.h"

namespace jumar::driver::toolchain {
namespace {

bool holds(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

int64_t bytes_of(int64_t elements, int bits) { return (elements * std::max(bits, 8) + 7) / 8; }

}  // namespace

void HivmMachine::count_vector(uint32_t key, int64_t elements, int64_t bits) {
  ++uses_[key].calls;
  uses_[key].elements += elements;
  if (is_cube_) {
    ++work_.cube_calls;
    return;
  }
  ++work_.vector_calls;
  work_.vector_elements += elements;
  work_.vector_bytes += bytes_of(elements, static_cast<int>(bits));
}

// An instruction of outlined code works on a whole register of 256 bytes.
void HivmMachine::count_instruction(const HivmStep& step) {
  constexpr int64_t kRegisterBytes = 256;
  const std::string& name = program_.names[step.index];
  const uint32_t key = static_cast<uint32_t>(program_.callees.size()) + step.index;
  ++uses_[key].calls;
  uses_[key].elements += step.number;
  if (name.front() != 'v') {
    ++work_.mask_instructions;
    return;
  }
  ++work_.vector_calls;
  ++work_.vector_instructions;
  work_.vector_elements += step.number;
  work_.vector_bytes += kRegisterBytes;
}

void HivmMachine::scalar_access(const HivmStep& step, const Frame& frame) {
  const HivmView view = step.operands.empty() ? HivmView() : frame.values[step.operands[0]].view;
  if (view.space != HivmSpace::kGm) {
    ++work_.local_scalar_accesses;
    return;
  }
  ++work_.gm_scalar_accesses;
  const bool is_load = step.op == HivmOp::kScalarLoad;
  (is_load ? work_.read_bytes : work_.written_bytes) += bytes_of(1, view.bits);
  (is_load ? work_.read_rows : work_.written_rows) += 1;
}

// Functions of the library take their sources first and what they write last. One that has global memory
// among its views moves data; the views of others say how much is computed.
void HivmMachine::count_library_call(const HivmStep& step, const Frame& frame) {
  const std::string& name = program_.callees[step.index].name;
  if (holds(name, "sync_block") || holds(name, "lock_var")) {
    ++work_.block_syncs;
    return;
  }
  const HivmView* gm = nullptr;
  const HivmView* largest = nullptr;
  bool begins_with_gm = false;
  for (const uint32_t slot : step.operands) {
    const HivmView& view = frame.values[slot].view;
    if (view.space == HivmSpace::kNone) continue;
    const bool is_first = gm == nullptr && largest == nullptr;
    if (view.space == HivmSpace::kGm) {
      if (gm == nullptr) gm = &view;
      begins_with_gm = begins_with_gm || is_first;
    } else if (largest == nullptr || view.elements() > largest->elements()) {
      largest = &view;
    }
  }
  if (gm == nullptr) {
    if (largest != nullptr) count_vector(step.index, largest->elements(), largest->bits);
    return;
  }
  // A gather reads as many elements as it has indices, each from somewhere else.
  const bool is_gather =
      largest != nullptr && (holds(name, "gather") || holds(name, "scatter") || holds(name, "indirect"));
  const int64_t elements = is_gather ? largest->elements() : gm->elements();
  const int64_t rows = is_gather ? elements : gm->rows();
  (begins_with_gm ? work_.read_bytes : work_.written_bytes) += bytes_of(elements, gm->bits);
  if (gm->is_table) work_.table_bytes += bytes_of(elements, gm->bits);
  (begins_with_gm ? work_.read_rows : work_.written_rows) += rows;
  (begins_with_gm ? work_.read_calls : work_.write_calls) += 1;
}

// Outlined code is called with the same sizes again and again: it runs once for each set of arguments.
Status HivmMachine::repeat(const HivmFunction& function, std::span<const HivmValue> arguments, int depth) {
  std::vector<int64_t> key = {&function - program_.functions.data()};
  for (const HivmValue& value : arguments) {
    key.insert(key.end(), {value.number, value.is_known ? 1 : 0, value.view.rank});
    key.insert(key.end(), value.view.sizes.begin(), value.view.sizes.begin() + value.view.rank);
    key.insert(key.end(), value.view.strides.begin(), value.view.strides.begin() + value.view.rank);
  }
  const auto found = effects_.find(key);
  if (found != effects_.end()) {
    work_ += found->second.work;
    data_branches_ += found->second.data_branches;
    for (const auto& [index, use] : found->second.uses) {
      uses_[index].calls += use.calls;
      uses_[index].elements += use.elements;
    }
    return {};
  }
  const HivmWork before = work_;
  const std::vector<HivmVectorUse> uses = uses_;
  const int64_t branches = data_branches_;
  JUMAR_RETURN_IF_ERROR(run_frame(function, arguments, depth + 1));
  Effect effect{work_, {}, data_branches_ - branches};
  effect.work -= before;
  for (uint32_t k = 0; k < uses_.size(); ++k) {
    const HivmVectorUse use{uses_[k].calls - uses[k].calls, uses_[k].elements - uses[k].elements};
    if (use.calls != 0) effect.uses.emplace_back(k, use);
  }
  effects_.emplace(std::move(key), std::move(effect));
  return {};
}

Status HivmMachine::call(const HivmStep& step, Frame& frame, int depth) {
  const HivmCallee& callee = program_.callees[step.index];
  if (callee.function < 0) {
    count_library_call(step, frame);
    for (const uint32_t slot : step.results) frame.values[slot] = {0, false, {}};
    return {};
  }
  const HivmFunction& function = program_.functions[static_cast<size_t>(callee.function)];
  if (function.is_vector_code) ++work_.vector_function_calls;
  std::vector<HivmValue> arguments;
  for (const uint32_t slot : step.operands) arguments.push_back(frame.values[slot]);
  if (function.is_repeatable) return repeat(function, arguments, depth);
  JUMAR_RETURN_IF_ERROR(run_frame(function, arguments, depth + 1));
  for (size_t k = 0; k < step.results.size() && k < returned_.size(); ++k)
    frame.values[step.results[k]] = returned_[k];
  return {};
}

const std::map<std::string, HivmVectorUse>& HivmMachine::vectors() {
  vectors_.clear();
  for (size_t k = 0; k < uses_.size(); ++k) {
    if (uses_[k].calls == 0) continue;
    const size_t callees = program_.callees.size();
    HivmVectorUse& use = vectors_[k < callees ? program_.callees[k].name : program_.names[k - callees]];
    use.calls += uses_[k].calls;
    use.elements += uses_[k].elements;
  }
  return vectors_;
}

}  // namespace jumar::driver::toolchain
