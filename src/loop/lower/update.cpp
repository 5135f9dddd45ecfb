// Inputs that change. Updates take effect when the graph is done: they are the program's last kernels.
//
//   %y: f32[4] = aten.add.Tensor(%x, %g, 1)     kernel @y { ... store %y[i0], ... }
//   aten.copy_.default(%x, %y, false)           kernel @x_update { ... load %y[i0]  store %x[i0], ... }
#include "graph/op_traits.h"
#include "loop/lower/lowering.h"

namespace jumar::loop::lowering {

using graph::ValueKind;

void Lowering::note_updates() {
  for (graph::NodeId id : graph_.order) {
    const graph::Node& node = graph_.nodes[id];
    if (!graph::is_update(node)) continue;
    const graph::ValueId input = *node.args[0].as<graph::ValueId>();
    updates_.push_back({tensor_of(input), *node.args[1].as<graph::ValueId>(), graph_.values[input].name});
    updated_.insert(tensor_of(input).buffer);
  }
}

void Lowering::copy(const std::string& label, const Tensor& from, const Tensor& to) {
  kernel(label, "aten.copy_.default", {[&](Body& b) {
           const Index index = b.keep_all(to.sizes());
           b.begin_stage();
           b.store(to, index, b.load(from, index));
         }});
}

// A value whose memory an update changes gets memory of its own: it is what was there before.
Status Lowering::keep_from_updates(graph::ValueId id) {
  const graph::Value& value = graph_.values[id];
  if (value.kind != ValueKind::kTensor || !updated_.contains(tensor_of(id).buffer)) return {};
  if (overlaps(value.type))
    return diagnostic("unsupported", "%{} has the memory of an input that changes, and its elements overlap",
                      value.name);
  Buffer buffer;
  buffer.name = unique_name(value.name + "_before");
  buffer.type = value.type;
  const Tensor kept{program_.buffers.add(std::move(buffer)), constant(0), value.type};
  copy(program_.buffers[kept.buffer].name, tensor_of(id), kept);
  tensors_[id.index()] = kept;
  buffers_[id.index()] = kept.buffer;
  return {};
}

Status Lowering::finish_updates() {
  if (updates_.empty()) return {};
  for (const graph::Arg& arg : graph_.outputs) {
    if (const auto* id = arg.as<graph::ValueId>()) JUMAR_RETURN_IF_ERROR(keep_from_updates(*id));
  }
  for (const Update& update : updates_) JUMAR_RETURN_IF_ERROR(keep_from_updates(update.value));
  for (const Update& update : updates_) copy(update.name + "_update", tensor_of(update.value), update.input);
  return {};
}

}  // namespace jumar::loop::lowering
