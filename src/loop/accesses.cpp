#include "loop/accesses.h"

namespace jumar::loop {
namespace {

class Collector {
 public:
  explicit Collector(const Program& program) : program_(program) {}

  void operator()(const Kernel& kernel) {
    for (const Nest& nest : kernel.nests)
      for (const Stage& stage : nest.stages)
        for (const Stage::Line& line : stage.body) {
          if (line.inst.kind == InstKind::kLoad) found.reads.insert(line.inst.buffer);
          if (line.inst.kind == InstKind::kStore) found.writes.insert(line.inst.buffer);
        }
  }

  void operator()(const Call& call) {
    args(call.args);
    for (BufferId result : call.results)
      if (result) found.writes.insert(storage_of(program_, result));
  }

  void operator()(const HostOp& host) { args(host.args); }
  void operator()(const Check&) {}

  Accesses found;

 private:
  void args(const ArgList& list) {
    for (const Arg& arg : list)
      ir::for_each_ref(arg, [&](auto ref) {
        if constexpr (std::is_same_v<decltype(ref), BufferId>) found.reads.insert(storage_of(program_, ref));
      });
  }

  const Program& program_;
};

}  // namespace

BufferId storage_of(const Program& program, BufferId buffer) {
  const Buffer& b = program.buffers[buffer];
  return b.storage == Storage::kView ? b.base : buffer;
}

Accesses accesses_of(const Program& program, const Item& item) {
  Collector collector(program);
  std::visit(collector, item);
  return std::move(collector.found);
}

}  // namespace jumar::loop
