#include "loop/lower/lowering.h"

#include <algorithm>

#include "graph/op_traits.h"
#include "loop/lower/kernels.h"

namespace jumar::loop {

Result<Program> lower(const graph::Graph& graph, const LowerOptions& options) {
  return lowering::Lowering(graph, options).run();
}

namespace lowering {

using graph::ValueKind;

Lowering::Lowering(const graph::Graph& graph, const LowerOptions& options)
    : graph_(graph), options_(options), facts_(graph.facts()), program_(graph.shared_cx()) {
  program_.name = graph.name;
  program_.strict = options.strict;
  tensors_.resize(graph.values.size());
  buffers_.resize(graph.values.size());
  numbers_.resize(graph.values.size());
  used_.resize(graph.values.size());
  for (const graph::Value& value : graph.values) names_.insert(value.name);
  auto use = [&](graph::ValueId id) { used_[id.index()] = true; };
  for (graph::NodeId id : graph.order) {
    for (const graph::Arg& arg : graph.nodes[id].args) graph::for_each_value(arg, use);
  }
  for (const graph::Arg& arg : graph.outputs) graph::for_each_value(arg, use);
}

Result<Program> Lowering::run() {
  declare_inputs();
  note_updates();
  for (graph::NodeId id : graph_.order) JUMAR_RETURN_IF_ERROR(lower_node(graph_.nodes[id]));
  JUMAR_RETURN_IF_ERROR(finish_updates());
  finish_outputs();
  return std::move(program_);
}

std::string Lowering::unique_name(std::string name) {
  std::string candidate = name;
  for (int k = 1; !names_.insert(candidate).second; ++k) candidate = fmt::format("{}_{}", name, k);
  return candidate;
}

void Lowering::declare_inputs() {
  for (const graph::SymbolInfo& info : graph_.symbols)
    program_.symbols.push_back({info.symbol, info.range, info.hint});
  program_.input_count = static_cast<uint32_t>(graph_.inputs.size());
  for (uint32_t k = 0; k < graph_.inputs.size(); ++k) {
    const graph::Input& input = graph_.inputs[k];
    const graph::Value& value = graph_.values[input.value];
    if (value.kind == ValueKind::kTensor) {
      Storage storage = input.kind == graph::InputKind::kParameter ? Storage::kParameter : Storage::kInput;
      Tensor tensor = make_result(input.value, storage);
      program_.buffers[tensor.buffer].index = k;
    } else if (value.kind == ValueKind::kInt) {
      program_.int_inputs.push_back({k, value.expr});
    } else if (value.kind == ValueKind::kFloat || value.kind == ValueKind::kBool) {
      NumberKind kind = value.kind == ValueKind::kFloat ? NumberKind::kFloat : NumberKind::kBool;
      numbers_[input.value.index()] = program_.numbers.add({value.name, kind, k});
    }
  }
}

Tensor Lowering::make_result(graph::ValueId id, Storage storage) {
  const graph::Value& value = graph_.values[id];
  CHECK(value.kind == ValueKind::kTensor, "%{} is no tensor", value.name);
  Buffer buffer;
  buffer.name = value.name;
  buffer.type = value.type;
  buffer.storage = storage;
  Tensor tensor{program_.buffers.add(std::move(buffer)), constant(0), value.type};
  tensors_[id.index()] = tensor;
  buffers_[id.index()] = tensor.buffer;
  return tensor;
}

Tensor Lowering::make_temp(std::string name, DType dtype, const Sizes& sizes) {
  Buffer buffer;
  buffer.name = unique_name(std::move(name));
  buffer.type = {dtype, sizes, ir::contiguous_strides(cx(), sizes)};
  ir::TensorType type = buffer.type;
  return {program_.buffers.add(std::move(buffer)), constant(0), std::move(type)};
}

void Lowering::bind_view(graph::ValueId id, const Tensor& base, Expr offset) {
  const graph::Value& value = graph_.values[id];
  const Buffer& storage = program_.buffers[base.buffer];
  CHECK(storage.storage != Storage::kView, "%{} would be a view of a view", value.name);
  offset = sym::simplified(cx(), offset, facts_);
  tensors_[id.index()] = Tensor{base.buffer, offset, value.type};
  if (offset.is_const(0) && storage.type == value.type) {
    buffers_[id.index()] = base.buffer;
    return;
  }
  Buffer view;
  view.name = value.name;
  view.type = value.type;
  view.storage = Storage::kView;
  view.base = base.buffer;
  view.offset = offset;
  buffers_[id.index()] = program_.buffers.add(std::move(view));
}

Tensor Lowering::tensor_of(graph::ValueId value) const {
  CHECK(tensors_[value.index()].has_value(), "%{} has no memory", graph_.values[value].name);
  return *tensors_[value.index()];
}

std::optional<NumberId> Lowering::number_of(graph::ValueId value) const {
  NumberId number = numbers_[value.index()];
  return number ? std::optional(number) : std::nullopt;
}

void Lowering::check(Expr predicate, std::string message) {
  if (predicate.is_const() && predicate.const_value() != 0) return;
  program_.items.push_back(Check{predicate, std::move(message)});
}

void Lowering::kernel(const Op& op, const Write& write) { kernel(op, std::vector<Write>{write}); }

void Lowering::kernel(const Op& op, const std::vector<Write>& nests) { kernel(op.label(), op.name(), nests); }

void Lowering::kernel(const std::string& label, const std::string& origin, const std::vector<Write>& nests) {
  Kernel kernel;
  kernel.name = label;
  for (int k = 1; !kernel_names_.insert(kernel.name).second; ++k)
    kernel.name = fmt::format("{}_{}", label, k);
  kernel.origin = origin;
  for (const Write& write : nests) {
    Nest& nest = kernel.nests.emplace_back();
    Body body(cx(), nest);
    write(body);
  }
  program_.items.push_back(std::move(kernel));
}

Status Lowering::lower_node(const graph::Node& node) {
  if (graph::is_update(node)) return {};
  if (graph::is_host_scalar(node)) return append_host_op(node);
  if (graph::is_python_call(node)) return append_call(node, "a Python function");
  if (std::find(options_.call.begin(), options_.call.end(), node.op) != options_.call.end())
    return append_call(node, "an option asks for the call");
  Mark mark{program_.items.size(), program_.buffers.size()};
  Refusal refusal = try_lowering(node);
  if (!refusal) refusal = refused_kernel(mark.items);
  if (!refusal) return {};
  take_back(node, mark);
  return append_call(node, std::move(*refusal));
}

// Of the kernels from an item on: the first reason why one of them can't be run.
Refusal Lowering::refused_kernel(size_t first_item) const {
  for (size_t k = first_item; k < program_.items.size(); ++k) {
    const Kernel* kernel = std::get_if<Kernel>(&program_.items[k]);
    if (!kernel) continue;
    const auto asked = options_.call_kernels.find(kernel->name);
    if (asked != options_.call_kernels.end()) return asked->second;
    if (!options_.refuses) continue;
    if (Refusal refusal = options_.refuses(program_, *kernel)) return refusal;
  }
  return {};
}

bool overlaps(const ir::TensorType& type) {
  for (size_t k = 0; k < type.rank(); ++k) {
    if (type.strides[k].is_const(0) && !type.sizes[k].is_const(1)) return true;
  }
  return false;
}

namespace {

bool is_empty(const ir::TensorType& type) {
  return std::ranges::any_of(type.sizes, [](Expr size) { return size.is_const(0); });
}

// Why no body can hold elements of this type; empty for those it can.
std::string_view type_fault(DType d) {
  if (ir::is_complex(d)) return "complex numbers";
  if (ir::is_float(d) && ir::dtype_bytes(d) == 1) return "8-bit floats";
  return {};
}

}  // namespace

Refusal Lowering::try_lowering(const graph::Node& node) {
  LowerFunction function = lowering_of(node.op);
  if (!function) return call_reason(node.op);
  std::string_view fault;
  auto look = [&](graph::ValueId id) {
    const graph::Value& value = graph_.values[id];
    if (value.kind == ValueKind::kTensor && fault.empty()) fault = type_fault(value.type.dtype);
  };
  for (graph::ValueId id : node.results) look(id);
  for (const graph::Arg& arg : node.args) graph::for_each_value(arg, look);
  if (!fault.empty() && !is_alias_op(node.op)) return std::string(fault);
  for (graph::ValueId id : node.results) {
    ValueKind kind = graph_.values[id].kind;
    if (kind != ValueKind::kTensor && kind != ValueKind::kNone) return "it returns a number";
    if (kind == ValueKind::kTensor && !is_alias_op(node.op) && overlaps(graph_.values[id].type))
      return "elements of the result overlap";
  }
  Op op(*this, node);
  if (makes_nothing(node)) {
    if (has_indices(node)) return "its result has no elements, and it checks its indices";
    write_nothing(op);
    return {};
  }
  if (Refusal refusal = function(op)) return refusal;
  for (graph::ValueId id : node.results) {
    const graph::Value& value = graph_.values[id];
    CHECK(value.kind != ValueKind::kTensor || is_bound(id) || !is_used(id),
          "the lowering of {} leaves out %{}", node.op, value.name);
  }
  return {};
}

// All results are known to be empty: what would compute an element, of a remainder by a size of zero perhaps,
// is not even asked.
bool Lowering::makes_nothing(const graph::Node& node) const {
  if (is_alias_op(node.op) || node.results.empty()) return false;
  return std::ranges::all_of(node.results, [&](graph::ValueId id) {
    const graph::Value& value = graph_.values[id];
    return value.kind == ValueKind::kTensor && is_empty(value.type);
  });
}

// Integers that an operator may have to refuse, whatever it returns.
bool Lowering::has_indices(const graph::Node& node) const {
  bool found = false;
  const auto look = [&](graph::ValueId id) {
    const graph::Value& value = graph_.values[id];
    if (value.kind != ValueKind::kTensor || is_empty(value.type)) return;
    found = found || (!ir::is_float(value.type.dtype) && !ir::is_bool(value.type.dtype));
  };
  for (const graph::Arg& arg : node.args) graph::for_each_value(arg, look);
  return found;
}

void Lowering::write_nothing(Op& op) {
  for (size_t k = 0; k < op.result_count(); ++k) {
    if (!op.has_result(k)) continue;
    const Tensor out = op.result(k);
    pointwise(op, out, [&](Body& b, const Index&) { return b.scalar({0.0}, out.dtype()); });
  }
}

void Lowering::take_back(const graph::Node& node, Mark mark) {
  for (size_t k = mark.items; k < program_.items.size(); ++k) {
    if (const Kernel* kernel = std::get_if<Kernel>(&program_.items[k])) kernel_names_.erase(kernel->name);
  }
  program_.items.resize(mark.items, Item(Check{}));
  for (size_t k = mark.buffers; k < program_.buffers.size(); ++k)
    names_.erase(program_.buffers[program_.buffers.id_at(k)].name);
  program_.buffers.resize(mark.buffers);
  for (graph::ValueId id : node.results) {
    names_.insert(graph_.values[id].name);
    tensors_[id.index()].reset();
    buffers_[id.index()] = BufferId();
  }
}

Arg Lowering::converted(const graph::Arg& arg) const {
  if (const graph::ValueId* id = arg.as<graph::ValueId>()) {
    const graph::Value& value = graph_.values[*id];
    switch (value.kind) {
      case ValueKind::kTensor:
        CHECK(buffers_[id->index()].valid(), "%{} has no buffer", value.name);
        return Arg(buffers_[id->index()]);
      case ValueKind::kInt:
        return Arg(value.expr);
      case ValueKind::kFloat:
      case ValueKind::kBool:
        CHECK(numbers_[id->index()].valid(), "%{} has no number", value.name);
        return Arg(numbers_[id->index()]);
      case ValueKind::kNone:
        return Arg(ir::NoneArg{});
    }
  }
  if (const graph::ArgList* list = arg.list()) return Arg(converted(*list));
  return ir::converted_arg<Arg>(arg, [](graph::ValueId) { return BufferId(); });
}

ArgList Lowering::converted(const graph::ArgList& args) const {
  ArgList out;
  for (const graph::Arg& arg : args) out.push_back(converted(arg));
  return out;
}

void Lowering::add_schema(const std::string& op, ir::Schema schema) {
  schemas_.emplace(op, std::move(schema));
}

// A called view hands out the memory of its operand, but a temp's memory is used again after its last use,
// and an input's changes when the graph is done.
bool Lowering::must_not_alias(const graph::Node& node, size_t operand, BufferId buffer) const {
  const Buffer& named = program_.buffers[buffer];
  const BufferId root = named.storage == Storage::kView ? named.base : buffer;
  const bool hands_out = operand == 0 && is_alias_op(node.op);
  if (!updated_.contains(root)) return hands_out && program_.buffers[root].storage == Storage::kTemp;
  const bool is_known = node.op.starts_with("aten.");
  return is_known ? operand == 0 && (hands_out || graph::may_alias(node)) : !node.results.empty();
}

// A copy that belongs to the called operator takes the place of what it must not hand out.
void Lowering::guard_alias(const graph::Node& node, ArgList& args) {
  for (size_t k = 0; k < args.size(); ++k) {
    BufferId* operand = std::get_if<BufferId>(&args[k].data);
    if (!operand || !must_not_alias(node, k, *operand)) continue;
    const Buffer& named = program_.buffers[*operand];
    Buffer copy;
    copy.name = unique_name(named.name + "_copy");
    copy.type = named.type;
    copy.storage = Storage::kResult;
    BufferId result = program_.buffers.add(std::move(copy));
    add_schema("aten.clone.default", {{{"Tensor", "self"}, {"MemoryFormat?", "memory_format"}}, {"Tensor"}});
    Call call;
    call.op = "aten.clone.default";
    call.args = {Arg(*operand), Arg(ir::NoneArg{})};
    call.results = {result};
    call.reason = "a called view must not share memory that is used again";
    program_.items.emplace_back(std::move(call));
    *operand = result;
  }
}

// Strides of a whole storage say nothing of the operand but where its storage is: of a view, that is what it
// is a view of, and the caller's own tensor knows where its storage begins.
Status Lowering::name_storage(const graph::Node& node, ArgList& args) const {
  if (!graph::reads_storage(node) || graph::is_python_call(node) || args.empty()) return {};
  BufferId* operand = std::get_if<BufferId>(&args[0].data);
  if (!operand || program_.buffers[*operand].storage != Storage::kView) return {};
  const BufferId base = program_.buffers[*operand].base;
  const Buffer& root = program_.buffers[base];
  if (root.storage != Storage::kInput && root.storage != Storage::kParameter) return {};
  if (!is_alias_op(node.op) || root.type.dtype != program_.buffers[*operand].type.dtype)
    return diagnostic("unsupported", "{} of a view of an input, by an offset into its storage", node.op);
  *operand = base;
  return {};
}

void Lowering::define_call_results(const graph::Node& node, Call& call) {
  for (graph::ValueId id : node.results) {
    const graph::Value& value = graph_.values[id];
    if (value.kind == ValueKind::kTensor) {
      call.results.push_back(make_result(id, Storage::kResult).buffer);
    } else if (value.kind == ValueKind::kNone) {
      call.results.push_back(BufferId());
    }
  }
  call.defines = node.unbacked;
}

Status Lowering::append_call(const graph::Node& node, std::string reason) {
  for (graph::ValueId id : node.results) {
    ValueKind kind = graph_.values[id].kind;
    if (kind != ValueKind::kFloat && kind != ValueKind::kBool) continue;
    if (node.op == "aten._local_scalar_dense.default") return append_host_op(node);
    return diagnostic("unsupported", "{} returns a number", node.op);
  }
  Call call;
  call.op = node.op;
  call.args = converted(node.args);
  call.reason = std::move(reason);
  JUMAR_RETURN_IF_ERROR(name_storage(node, call.args));
  guard_alias(node, call.args);
  define_call_results(node, call);
  auto schema = graph_.schemas.find(node.op);
  if (schema != graph_.schemas.end()) add_schema(node.op, schema->second);
  program_.items.emplace_back(std::move(call));
  return {};
}

Status Lowering::append_host_op(const graph::Node& node) {
  if (node.results.size() != 1)
    return diagnostic("unsupported", "{} has {} results instead of 1", node.op, node.results.size());
  graph::ValueId id = node.results[0];
  const graph::Value& value = graph_.values[id];
  // An int is an expression; only a symbol that stands for it is computed.
  if (value.kind == ValueKind::kInt && node.unbacked.empty()) return {};
  if (value.kind == ValueKind::kInt || (value.kind == ValueKind::kBool && !node.unbacked.empty())) {
    Call call;
    call.op = node.op;
    call.args = converted(node.args);
    call.defines = node.unbacked;
    call.reason = "a number";
    auto schema = graph_.schemas.find(node.op);
    if (schema != graph_.schemas.end()) add_schema(node.op, schema->second);
    program_.items.emplace_back(std::move(call));
    if (value.kind == ValueKind::kInt) return {};
  }
  if (value.kind != ValueKind::kFloat && value.kind != ValueKind::kBool)
    return diagnostic("unsupported", "{} returns no host number", node.op);
  NumberKind kind = value.kind == ValueKind::kFloat ? NumberKind::kFloat : NumberKind::kBool;
  HostOp host;
  host.op = node.op;
  host.args = converted(node.args);
  host.result = program_.numbers.add({value.name, kind, std::nullopt});
  numbers_[id.index()] = host.result;
  program_.items.emplace_back(std::move(host));
  return {};
}

void Lowering::finish_outputs() {
  for (const graph::Arg& arg : graph_.outputs) {
    Arg out = converted(arg);
    if (const BufferId* id = out.as<BufferId>()) {
      const Buffer& named = program_.buffers[*id];
      Buffer& root = program_.buffers[named.storage == Storage::kView ? named.base : *id];
      if (root.storage == Storage::kTemp) root.storage = Storage::kOutput;
    }
    program_.outputs.push_back(std::move(out));
  }
  for (auto& [op, schema] : schemas_) program_.schemas.emplace_back(op, std::move(schema));
}

}  // namespace lowering
}  // namespace jumar::loop
