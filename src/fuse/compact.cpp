#include "fuse/compact.h"

namespace jumar::fuse {

using loop::BufferId;

namespace {

// Calls visit(BufferId&) for every mention in an argument.
template <class Visit>
void each_buffer(loop::Arg& arg, Visit&& visit) {
  if (auto* id = std::get_if<BufferId>(&arg.data)) visit(*id);
  if (auto* list = std::get_if<loop::ArgList>(&arg.data))
    for (loop::Arg& element : *list) each_buffer(element, visit);
}

template <class Visit>
void each_buffer(loop::Program& program, Visit&& visit) {
  for (loop::Item& item : program.items) {
    if (auto* kernel = std::get_if<loop::Kernel>(&item)) {
      for (loop::Nest& nest : kernel->nests)
        for (loop::Stage& stage : nest.stages)
          for (loop::Stage::Line& line : stage.body)
            if (line.inst.buffer) visit(line.inst.buffer);
    } else if (auto* call = std::get_if<loop::Call>(&item)) {
      for (loop::Arg& arg : call->args) each_buffer(arg, visit);
      for (BufferId& result : call->results)
        if (result) visit(result);
    } else if (auto* host = std::get_if<loop::HostOp>(&item)) {
      for (loop::Arg& arg : host->args) each_buffer(arg, visit);
    }
  }
  for (loop::Arg& output : program.outputs) each_buffer(output, visit);
}

}  // namespace

void replace_buffer(loop::Program& program, BufferId from, BufferId to) {
  each_buffer(program, [&](BufferId& id) {
    if (id == from) id = to;
  });
  for (loop::Buffer& buffer : program.buffers)
    if (buffer.base == from) buffer.base = to;
}

void drop_unused_buffers(loop::Program& program) {
  std::vector<bool> used(program.buffers.size(), false);
  for (size_t k = 0; k < used.size(); ++k) {
    loop::Storage storage = program.buffers[BufferId(static_cast<uint32_t>(k))].storage;
    used[k] = storage == loop::Storage::kInput || storage == loop::Storage::kParameter ||
              storage == loop::Storage::kOutput;
  }
  each_buffer(program, [&](BufferId& id) { used[id.index()] = true; });
  for (size_t k = 0; k < used.size(); ++k) {
    const loop::Buffer& buffer = program.buffers[BufferId(static_cast<uint32_t>(k))];
    if (used[k] && buffer.storage == loop::Storage::kView) used[buffer.base.index()] = true;
  }
  std::vector<BufferId> renumbered(used.size());
  IdTable<BufferId, loop::Buffer> kept;
  for (size_t k = 0; k < used.size(); ++k)
    if (used[k]) renumbered[k] = kept.add(std::move(program.buffers[BufferId(static_cast<uint32_t>(k))]));
  for (loop::Buffer& buffer : kept)
    if (buffer.base) buffer.base = renumbered[buffer.base.index()];
  program.buffers = std::move(kept);
  each_buffer(program, [&](BufferId& id) { id = renumbered[id.index()]; });
}

}  // namespace jumar::fuse
