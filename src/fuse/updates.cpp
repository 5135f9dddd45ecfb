#include "fuse/updates.h"

#include <algorithm>
#include <ranges>

#include "fuse/compact.h"
#include "loop/accesses.h"
#include "loop/walk.h"

namespace jumar::fuse {

using loop::BufferId;
using loop::Inst;
using loop::InstKind;

namespace {

bool is_input(const loop::Program& program, BufferId id) {
  const loop::Storage storage = program.buffers[id].storage;
  return storage == loop::Storage::kInput || storage == loop::Storage::kParameter;
}

bool stores_to_input(const loop::Program& program, const loop::Item& item) {
  if (!std::holds_alternative<loop::Kernel>(item)) return false;
  const loop::Accesses accesses = loop::accesses_of(program, item);
  return std::ranges::any_of(accesses.writes, [&](BufferId id) { return is_input(program, id); });
}

// A load and a store of its value to an input.
bool is_copy(const loop::Program& program, const loop::Item& item) {
  const auto* kernel = std::get_if<loop::Kernel>(&item);
  if (!kernel || kernel->nests.size() != 1 || kernel->nests[0].stages.size() != 1) return false;
  const std::vector<loop::Stage::Line>& body = kernel->nests[0].stages[0].body;
  return kernel->nests[0].stages[0].inner.empty() && body.size() == 2 &&
         body[0].inst.kind == InstKind::kLoad && !body[0].inst.guard &&
         body[1].inst.kind == InstKind::kStore && !body[1].inst.guard &&
         body[1].inst.operands[0] == body[0].result && is_input(program, body[1].inst.buffer) &&
         !is_input(program, body[0].inst.buffer);
}

bool touches(const loop::Program& program, const loop::Item& item, BufferId id) {
  const loop::Accesses accesses = loop::accesses_of(program, item);
  return accesses.reads.contains(id) || accesses.writes.contains(id);
}

bool touches(const loop::Nest& nest, BufferId id) {
  return std::ranges::any_of(nest.stages, [&](const loop::Stage& stage) {
    return std::ranges::any_of(stage.body, [&](const auto& line) { return line.inst.buffer == id; });
  });
}

// What may raise: an input must not have changed by then.
bool may_raise(const loop::Item& item) {
  if (std::holds_alternative<loop::Check>(item)) return true;
  if (const auto* call = std::get_if<loop::Call>(&item)) return !call->op.starts_with("aten.");
  const auto* kernel = std::get_if<loop::Kernel>(&item);
  return kernel && std::ranges::any_of(kernel->nests, [](const loop::Nest& nest) {
           return std::ranges::any_of(nest.stages, [](const loop::Stage& stage) {
             return std::ranges::any_of(stage.body, [](const auto& line) {
               return line.inst.kind == InstKind::kWrapIndex || line.inst.kind == InstKind::kCheckIndex;
             });
           });
         });
}

// Whether `value` may live in the memory of `input`: empty, or why it may not.
class InPlace {
 public:
  InPlace(const loop::Program& program, BufferId value, BufferId input)
      : program_(program), value_(value), input_(input) {}

  std::string refusal() {
    const loop::Buffer& value = program_.buffers[value_];
    if (value.storage != loop::Storage::kTemp) return "the program returns the value as well";
    if (!(value.type == program_.buffers[input_].type)) return "the value has another layout";
    std::optional<size_t> writer;
    for (size_t k = 0; k < program_.items.size(); ++k) {
      if (!loop::accesses_of(program_, program_.items[k]).writes.contains(value_)) continue;
      if (writer) return "several items write the value";
      writer = k;
    }
    if (!writer) return "nothing writes the value";
    const auto* kernel = std::get_if<loop::Kernel>(&program_.items[*writer]);
    if (!kernel) return "an operator that is called writes the value";
    for (size_t k = *writer; k < program_.items.size(); ++k) {
      if (may_raise(program_.items[k])) return "a check may fail later";
      if (k > *writer && touches(program_, program_.items[k], input_)) return "the input is read later";
    }
    return refusal(*kernel);
  }

 private:
  std::string refusal(const loop::Kernel& kernel) {
    std::optional<size_t> storing;
    for (size_t k = 0; k < kernel.nests.size(); ++k) {
      if (!stores_value(kernel.nests[k])) continue;
      if (storing) return "several nests write the value";
      storing = k;
    }
    for (size_t k = 0; k < kernel.nests.size(); ++k) {
      const bool is_done = kernel.is_phased && k < *storing;
      if (k != *storing && !is_done && touches(kernel.nests[k], input_))
        return "another nest of the kernel reads the input";
    }
    return refusal(kernel.nests[*storing]);
  }

  bool stores_value(const loop::Nest& nest) const {
    return std::ranges::any_of(nest.stages, [&](const loop::Stage& stage) {
      return std::ranges::any_of(stage.body, [&](const auto& line) {
        return line.inst.kind == InstKind::kStore && line.inst.buffer == value_;
      });
    });
  }

  // All loads of the input stand in the stage of the one store, above it, and at its address.
  std::string refusal(const loop::Nest& nest) const {
    const Inst* store = nullptr;
    const loop::Stage* where = nullptr;
    for (const loop::Stage& stage : nest.stages) {
      for (const loop::Stage::Line& line : stage.body) {
        if (line.inst.kind != InstKind::kStore || line.inst.buffer != value_) continue;
        if (store || line.inst.mode != loop::StoreMode::kSet || line.inst.guard)
          return "the value is written in parts";
        store = &line.inst;
        where = &stage;
      }
    }
    for (const loop::Stage& stage : nest.stages) {
      bool is_below = false;
      for (const loop::Stage::Line& line : stage.body) {
        is_below |= &line.inst == store;
        if (line.inst.buffer != input_) continue;
        if (&stage != where || is_below || line.inst.address != store->address)
          return "other elements of the input are read by then";
      }
    }
    return {};
  }

  const loop::Program& program_;
  BufferId value_;
  BufferId input_;
};

}  // namespace

Updates::Updates(loop::Program& program) : program_(program) {
  while (!program.items.empty() && is_copy(program, program.items.back())) {
    loop::Kernel kernel = std::move(std::get<loop::Kernel>(program.items.back()));
    program.items.pop_back();
    const std::vector<loop::Stage::Line>& body = kernel.nests[0].stages[0].body;
    const BufferId value = body[0].inst.buffer, input = body[1].inst.buffer;
    updates_.push_back({std::move(kernel), value, input});
  }
  std::ranges::reverse(updates_);
  for (const loop::Item& item : program.items) has_others_ |= stores_to_input(program, item);
  for (const Update& update : updates_) {
    program.outputs.push_back(loop::Arg(update.value));
    program.outputs.push_back(loop::Arg(update.input));
  }
}

// Fusion renumbers buffers, in outputs as well.
void Updates::restore_ids() {
  const size_t first = program_.outputs.size() - 2 * updates_.size();
  for (size_t k = 0; k < updates_.size(); ++k) {
    Update& update = updates_[k];
    update.value = *program_.outputs[first + 2 * k].as<BufferId>();
    update.input = *program_.outputs[first + 2 * k + 1].as<BufferId>();
    std::vector<loop::Stage::Line>& body = update.kernel.nests[0].stages[0].body;
    body[0].inst.buffer = update.value;
    body[1].inst.buffer = update.input;
  }
  program_.outputs.resize(first);
}

void Updates::put_back(FuseReport& report, const FuseOptions& options) {
  if (updates_.empty()) return;
  restore_ids();
  std::vector<Update> copies;
  for (Update& update : updates_) {
    const bool is_apart = options.apart.contains(update.kernel.name);
    std::string refusal =
        is_apart ? "an option keeps it apart" : InPlace(program_, update.value, update.input).refusal();
    // The value of two inputs is one buffer: the second input gets a copy of the first.
    if (refusal.empty() && std::ranges::count(updates_, update.value, &Update::value) > 1)
      refusal = "several inputs get the value";
    if (refusal.empty()) {
      replace_buffer(program_, update.value, update.input);
    } else {
      report.refusals.push_back({program_.buffers[update.value].name, update.kernel.name, refusal});
      copies.push_back(std::move(update));
    }
  }
  append_copies(std::move(copies), report, options);
  drop_unused_buffers(program_);
}

// They don't wait for each other: nests beside each other.
void Updates::append_copies(std::vector<Update> copies, FuseReport& report, const FuseOptions& options) {
  loop::Kernel* into = nullptr;
  for (Update& copy : copies) {
    const bool is_apart = options.apart.contains(copy.kernel.name);
    if (into && !is_apart && loop::line_count(*into) + loop::line_count(copy.kernel) <= options.max_lines) {
      report.members[into->name].insert(copy.kernel.name);
      std::ranges::move(copy.kernel.nests, std::back_inserter(into->nests));
      ++report.joined;
      continue;
    }
    report.members[copy.kernel.name].insert(copy.kernel.name);
    program_.items.emplace_back(std::move(copy.kernel));
    into = is_apart ? nullptr : &std::get<loop::Kernel>(program_.items.back());
  }
}

}  // namespace jumar::fuse
