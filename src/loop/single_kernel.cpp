#include "loop/single_kernel.h"

#include <map>
#include <set>

namespace jumar::loop {
namespace {

class Single {
 public:
  Single(const Program& from, const Kernel& kernel) : from_(from), kernel_(kernel), to_(from.shared_cx()) {}

  Program made() {
    to_.name = kernel_.name;
    to_.strict = from_.strict;
    to_.symbols = from_.symbols;
    for_each_line([&](const Inst& inst) {
      if (inst.kind == InstKind::kStore) stored_.insert(inst.buffer);
    });
    for_each_line([&](Inst& inst) {
      if (inst.kind == InstKind::kLoad || inst.kind == InstKind::kStore) inst.buffer = buffer(inst.buffer);
      if (inst.kind == InstKind::kParam) inst.number = number(inst.number);
    });
    for (const SymbolInfo& info : to_.symbols) to_.int_inputs.push_back({to_.input_count++, info.symbol});
    to_.items.emplace_back(std::move(kernel_));
    return std::move(to_);
  }

 private:
  template <class Visit>
  void for_each_line(Visit&& visit) {
    for (Nest& nest : kernel_.nests)
      for (Stage& stage : nest.stages)
        for (Stage::Line& line : stage.body) visit(line.inst);
  }

  BufferId buffer(BufferId id) {
    const auto known = buffers_.find(id);
    if (known != buffers_.end()) return known->second;
    Buffer made = from_.buffers[id];
    const bool is_output = stored_.contains(id);
    made.storage = is_output ? Storage::kOutput : Storage::kInput;
    if (!is_output) made.index = to_.input_count++;
    const BufferId added = to_.buffers.add(std::move(made));
    if (is_output) to_.outputs.emplace_back(added);
    return buffers_[id] = added;
  }

  NumberId number(NumberId id) {
    const auto known = numbers_.find(id);
    if (known != numbers_.end()) return known->second;
    Number made = from_.numbers[id];
    made.input = to_.input_count++;
    return numbers_[id] = to_.numbers.add(std::move(made));
  }

  const Program& from_;
  Kernel kernel_;
  Program to_;
  std::set<BufferId> stored_;
  std::map<BufferId, BufferId> buffers_;
  std::map<NumberId, NumberId> numbers_;
};

}  // namespace

Program single_kernel(const Program& program, const Kernel& kernel) { return Single(program, kernel).made(); }

}  // namespace jumar::loop
