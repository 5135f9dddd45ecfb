#include "emit/ttir/nest_writer.h"

#include <algorithm>

#include <fmt/format.h>

#include "support/check.h"
#include "tile/npu/walk.h"

namespace jumar::emit::ttir {

using ir::DType;
using sym::Op;
using tile::npu::Access;
using tile::npu::BlockInst;
using tile::npu::BlockKind;
using tile::npu::BlockLoop;

namespace {

const char* reduction_of(loop::ReduceKind kind, bool is_real) {
  switch (kind) {
    case loop::ReduceKind::kSum:
      return is_real ? "arith.addf" : "arith.addi";
    case loop::ReduceKind::kProd:
      return is_real ? "arith.mulf" : "arith.muli";
    case loop::ReduceKind::kMax:
      return is_real ? "arith.maximumf" : "arith.maxsi";
    default:
      return is_real ? "arith.minimumf" : "arith.minsi";
  }
}

const char* scan_of(loop::ScanKind kind, bool is_real) {
  switch (kind) {
    case loop::ScanKind::kSum:
      return is_real ? "arith.addf" : "arith.addi";
    case loop::ScanKind::kProd:
      return is_real ? "arith.mulf" : "arith.muli";
    case loop::ScanKind::kMax:
      return is_real ? "arith.maximumf" : "arith.maxsi";
    default:
      return is_real ? "arith.minimumf" : "arith.minsi";
  }
}

const char* atomic_of(loop::StoreMode mode, bool is_real) {
  if (mode == loop::StoreMode::kAdd) return is_real ? "fadd" : "add";
  return mode == loop::StoreMode::kMax ? "max" : "min";
}

}  // namespace

NestWriter::NestWriter(const loop::Program& program, const tile::npu::BlockKernel& kernel,
                       const tile::npu::BlockNest& nest, FunctionWriter& out)
    : program_(program), kernel_(kernel), nest_(nest), out_(out), data_(tile::npu::data_values(nest)) {
  tile::npu::for_each_inst(nest.body, [&](const BlockInst& inst) {
    if (inst.result) defined_by_[inst.result] = &inst;
  });
}

void NestWriter::write() {
  out_.enter();
  write(nest_.body);
  out_.leave();
}

void NestWriter::write(const tile::npu::Region& region) {
  for (const tile::npu::BlockNode& node : region) {
    if (const auto* inst = std::get_if<BlockInst>(&node)) {
      if (!inst->result || data_.count(inst->result)) write(*inst);
    } else {
      write(*std::get<std::unique_ptr<BlockLoop>>(node));
    }
  }
}

NestWriter::Dims NestWriter::dims_of(AxisSet axes) const {
  Dims dims;
  for (uint32_t k = 0; k < nest_.axes.size(); ++k)
    if (axes >> k & 1) dims.push_back(k);
  return dims;
}

std::vector<int64_t> NestWriter::shape(const Dims& dims) const {
  std::vector<int64_t> out;
  for (uint32_t axis : dims) out.push_back(nest_.axes[axis].size);
  return out;
}

std::string NestWriter::type(BlockId id) const {
  const tile::npu::BlockType& type = nest_.values[id];
  return tensor_text(shape(dims_of(type.axes)), element_text(type.dtype));
}

// Axes of an index or a mask that have no stride of their own come first, in their order.
NestWriter::Dims NestWriter::memory_dims(const Access& access, AxisSet axes) const {
  if (access.index) return dims_of(axes);
  Dims dims;
  AxisSet strided = 0;
  for (const Access::Dim& dim : access.dims) strided |= AxisSet{1} << dim.axis;
  for (uint32_t axis : dims_of(axes & ~strided)) dims.push_back(axis);
  for (const Access::Dim& dim : access.dims) dims.push_back(dim.axis);
  return dims;
}

void NestWriter::write(const BlockLoop& loop) {
  const std::string begin = out_.scalar(loop.begin, 32);
  const std::string end = out_.scalar(loop.end, 32);
  const std::string step = out_.integer(1, 32);
  const std::string variable = "%" + loop.variable.symbol_name();
  std::vector<std::string> carried;
  std::vector<std::string> types;
  std::vector<std::string> nexts;
  for (const BlockLoop::Carried& one : loop.carried) {
    names_[one.inside] = out_.fresh();
    carried.push_back(fmt::format("{} = {}", value(one.inside), value(one.init)));
    types.push_back(type(one.init));
  }
  std::string results;
  if (!carried.empty()) {
    const std::string name = out_.fresh();
    results = carried.size() == 1 ? name + " = " : fmt::format("{}:{} = ", name, carried.size());
    for (size_t k = 0; k < carried.size(); ++k)
      names_[loop.carried[k].result] = carried.size() == 1 ? name : fmt::format("{}#{}", name, k);
  }
  const std::string list =
      carried.empty() ? "" : fmt::format(" iter_args({}) -> ({})", fmt::join(carried, ", "), fmt::join(types, ", "));
  out_.line(fmt::format("{}scf.for {} = {} to {} step {}{}  : i32 {{", results, variable, begin, end, step, list));
  out_.enter();
  out_.indent(1);
  out_.name_symbol(loop.variable, variable, 32);
  write(loop.body);
  if (!carried.empty()) {
    for (const BlockLoop::Carried& one : loop.carried) nexts.push_back(value(one.next));
    out_.line(fmt::format("scf.yield {} : {}", fmt::join(nexts, ", "), fmt::join(types, ", ")));
  }
  out_.indent(-1);
  out_.leave();
  out_.line("}");
}

void NestWriter::write(const BlockInst& inst) {
  switch (inst.kind) {
    case BlockKind::kConst: {
      const tile::npu::BlockType& t = nest_.values[inst.result];
      names_[inst.result] = out_.constant(t.dtype, inst.constant, shape(dims_of(t.axes)));
      break;
    }
    case BlockKind::kIndex: {
      const tile::npu::BlockType& t = nest_.values[inst.result];
      names_[inst.result] = in_order(inst.result, dims_of(t.axes));
      if (t.axes == 0 && !ir::is_bool(t.dtype))
        out_.name_symbol(program_.cx().value(inst.result.index()), names_[inst.result],
                         t.dtype == DType::kI64 ? 64 : 32);
      break;
    }
    case BlockKind::kParam:
      names_[inst.result] = fmt::format("%p{}", inst.number);
      break;
    case BlockKind::kOp:
      write_op(inst);
      break;
    case BlockKind::kBroadcast: {
      const tile::npu::BlockType& from = nest_.values[inst.operands[0]];
      const tile::npu::BlockType& to = nest_.values[inst.result];
      names_[inst.result] = broadcast(value(inst.operands[0]), dims_of(from.axes), dims_of(to.axes),
                                      element_text(from.dtype));
      break;
    }
    case BlockKind::kLoad:
      write_load(inst);
      break;
    case BlockKind::kStore:
      write_store(inst);
      break;
    case BlockKind::kReduce:
    case BlockKind::kScan:
      write_reduce(inst);
      break;
  }
  if (inst.result) {
    const tile::npu::BlockType& t = nest_.values[inst.result];
    if (t.axes == 0 && (t.dtype == DType::kI32 || t.dtype == DType::kI64))
      out_.name_symbol(program_.cx().value(inst.result.index()), names_[inst.result],
                       t.dtype == DType::kI64 ? 64 : 32);
  }
}

void NestWriter::write_op(const BlockInst& inst) {
  const std::string_view op = tile::npu::ttir_of(inst.op);
  const int arity = tile::npu::arity_of(inst.op);
  std::vector<std::string> operands;
  for (int k = 0; k < arity; ++k) operands.push_back(value(inst.operands[static_cast<size_t>(k)]));
  std::string types;
  if (tile::npu::is_conversion(inst.op))
    types = fmt::format("{} to {}", type(inst.operands[0]), type(inst.result));
  else if (inst.op == tile::npu::BlockOp::kSelect)
    types = nest_.values[inst.operands[0]].axes == 0 ? type(inst.result)
                                                     : fmt::format("{}, {}", type(inst.operands[0]), type(inst.result));
  else
    types = type(inst.operands[0]);
  names_[inst.result] = out_.define(fmt::format("{} {} : {}", op, fmt::join(operands, ", "), types));
}

void NestWriter::write_load(const BlockInst& inst) {
  const tile::npu::BlockType& t = nest_.values[inst.result];
  const Dims dims = memory_dims(inst.access, t.axes);
  const std::string element = element_text(t.dtype);
  std::string text = "tt.load " + pointers(inst.access, dims);
  if (inst.access.mask) {
    text += ", " + in_order(inst.access.mask, dims);
    if (inst.has_other) text += ", " + out_.constant(t.dtype, inst.constant, shape(dims));
  }
  text += " : " + tensor_text(shape(dims), "!tt.ptr<" + element + ">");
  names_[inst.result] = turned(out_.define(text), dims, dims_of(t.axes), element);
}

void NestWriter::write_store(const BlockInst& inst) {
  const tile::npu::BlockType& t = nest_.values[inst.operands[0]];
  const Dims dims = memory_dims(inst.access, t.axes);
  const std::string element = element_text(t.dtype);
  const std::string stored = turned(value(inst.operands[0]), dims_of(t.axes), dims, element);
  const std::string where = pointers(inst.access, dims);
  std::string mask;
  if (inst.access.mask) mask = in_order(inst.access.mask, dims);
  const std::string pointer_type = tensor_text(shape(dims), "!tt.ptr<" + element + ">");
  if (inst.mode == loop::StoreMode::kSet) {
    out_.line(fmt::format("tt.store {}, {}{} : {}", where, stored, mask.empty() ? "" : ", " + mask, pointer_type));
    return;
  }
  if (mask.empty()) mask = out_.constant(DType::kBool, loop::Constant{1}, shape(dims));
  const std::string value_type = tensor_text(shape(dims), element);
  out_.define(fmt::format("tt.atomic_rmw {}, acq_rel, gpu, {}, {}, {} : ({}, {}, {}) -> {}",
                          atomic_of(inst.mode, ir::is_float(t.dtype)), where, stored, mask, pointer_type, value_type,
                          tensor_text(shape(dims), "i1"), value_type));
}

void NestWriter::write_reduce(const BlockInst& inst) {
  const tile::npu::BlockType& from = nest_.values[inst.operands[0]];
  const Dims dims = dims_of(from.axes);
  const auto axis = std::ranges::find(dims, inst.axis) - dims.begin();
  const bool is_real = ir::is_float(from.dtype);
  const bool is_scan = inst.kind == BlockKind::kScan;
  const std::string element = element_text(from.dtype);
  const std::string name = out_.fresh();
  const std::string head = is_scan ? fmt::format("\"tt.scan\"({}) <{{axis = {} : i32, reverse = false}}> ({{",
                                                 value(inst.operands[0]), axis)
                                   : fmt::format("\"tt.reduce\"({}) <{{axis = {} : i32}}> ({{",
                                                 value(inst.operands[0]), axis);
  out_.line(name + " = " + head);
  out_.line(fmt::format("^bb0(%lhs: {0}, %rhs: {0}):", element));
  const char* op = is_scan ? scan_of(inst.scan, is_real) : reduction_of(inst.reduce, is_real);
  out_.line(fmt::format("  %both = {} %lhs, %rhs : {}", op, element));
  out_.line(fmt::format("  tt.{}.return %both : {}", is_scan ? "scan" : "reduce", element));
  out_.line(fmt::format("}}) : ({}) -> {}", type(inst.operands[0]), type(inst.result)));
  names_[inst.result] = name;
}

std::string NestWriter::turned(const std::string& name, const Dims& from, const Dims& to, const std::string& element) {
  if (from == to) return name;
  std::vector<std::ptrdiff_t> order;
  for (uint32_t axis : to) order.push_back(std::ranges::find(from, axis) - from.begin());
  return out_.define(fmt::format("tt.trans {} {{order = array<i32: {}>}} : {} -> {}", name, fmt::join(order, ", "),
                                 tensor_text(shape(from), element), tensor_text(shape(to), element)));
}

std::string NestWriter::splat(const std::string& scalar, const Dims& dims, const std::string& element) {
  if (dims.empty()) return scalar;
  const std::string text = fmt::format("tt.splat {} : {} -> {}", scalar, element, tensor_text(shape(dims), element));
  return out_.once(text, text);
}

std::string NestWriter::broadcast(const std::string& name, const Dims& from, const Dims& to,
                                  const std::string& element) {
  if (from == to) return name;
  if (from.empty()) return splat(name, to, element);
  std::string current = name;
  std::vector<int64_t> have = shape(from);
  // The axis of one element stands for any that is missing.
  const bool is_unit = from.size() == 1 && nest_.axes[from[0]].size == 1 &&
                       std::ranges::find(to, from[0]) == to.end();
  size_t next = is_unit ? from.size() : 0;
  for (size_t k = is_unit ? 1 : 0; k < to.size(); ++k) {
    if (next < from.size() && to[k] == from[next]) {
      ++next;
      continue;
    }
    std::vector<int64_t> wider = have;
    wider.insert(wider.begin() + static_cast<std::ptrdiff_t>(k), 1);
    current = out_.define(fmt::format("tt.expand_dims {} {{axis = {} : i32}} : {} -> {}", current, k,
                                      tensor_text(have, element), tensor_text(wider, element)));
    have = wider;
  }
  if (have == shape(to)) return current;
  return out_.define(fmt::format("tt.broadcast {} : {} -> {}", current, tensor_text(have, element),
                                 tensor_text(shape(to), element)));
}

// Masks are made in the order in which memory is accessed.
std::string NestWriter::in_order(BlockId id, const Dims& dims) {
  const tile::npu::BlockType& t = nest_.values[id];
  const BlockInst* inst = defined_by_.count(id) ? defined_by_.at(id) : nullptr;
  const std::string element = element_text(t.dtype);
  if (inst && inst->kind == BlockKind::kIndex) {
    if (ir::is_bool(t.dtype)) return predicate(inst->expr, dims);
    const int bits = t.dtype == DType::kI64 ? 64 : 32;
    return full(index(inst->expr, dims, bits), dims, element);
  }
  if (inst && inst->kind == BlockKind::kConst) return out_.constant(t.dtype, inst->constant, shape(dims));
  if (inst && inst->kind == BlockKind::kBroadcast) return in_order(inst->operands[0], dims);
  const bool logical = inst && inst->kind == BlockKind::kOp && ir::is_bool(t.dtype) &&
                       (inst->op == tile::npu::BlockOp::kAndI || inst->op == tile::npu::BlockOp::kOrI ||
                        inst->op == tile::npu::BlockOp::kXorI);
  if (logical && !data_.count(id)) {
    const std::string a = in_order(inst->operands[0], dims);
    const std::string b = in_order(inst->operands[1], dims);
    const std::string text =
        fmt::format("{} {}, {} : {}", tile::npu::ttir_of(inst->op), a, b, tensor_text(shape(dims), "i1"));
    return out_.once(text, text);
  }
  CHECK(data_.count(id), "a mask of what is not written");
  const Dims own = dims_of(t.axes);
  Dims order;
  for (uint32_t axis : dims)
    if (std::ranges::find(own, axis) != own.end()) order.push_back(axis);
  const bool is_unit = order.size() != own.size();
  const std::string name = is_unit ? value(id) : turned(value(id), own, order, element);
  return broadcast(name, is_unit ? own : order, dims, element);
}

bool NestWriter::is_axis(Expr symbol) const {
  return std::ranges::any_of(nest_.axes, [&](const tile::npu::BlockAxis& axis) {
    return axis.symbol == symbol && !axis.is_scalar;
  });
}

NestWriter::Partial NestWriter::of_shape(const Partial& value, const std::vector<int64_t>& want,
                                         const std::string& element) {
  if (value.shape == want) return value;
  const std::string text =
      value.shape.empty()
          ? fmt::format("tt.splat {} : {} -> {}", value.name, element, tensor_text(want, element))
          : fmt::format("tt.broadcast {} : {} -> {}", value.name, tensor_text(value.shape, element),
                        tensor_text(want, element));
  return {out_.once(text, text), want};
}

std::string NestWriter::full(const Partial& value, const Dims& dims, const std::string& element) {
  if (dims.empty()) return value.name;
  return of_shape(value, shape(dims), element).name;
}

NestWriter::Partial NestWriter::combined(const char* op, const Partial& a, const Partial& b, int bits,
                                         bool is_comparison) {
  std::vector<int64_t> joint = a.shape.empty() ? b.shape : a.shape;
  if (!a.shape.empty() && !b.shape.empty())
    for (size_t k = 0; k < joint.size(); ++k) joint[k] = std::max(a.shape[k], b.shape[k]);
  const std::string element = fmt::format("i{}", bits);
  const Partial left = of_shape(a, joint, element);
  const Partial right = of_shape(b, joint, element);
  const std::string text = fmt::format("{}{} {}, {} : {}", op, is_comparison ? "," : "", left.name, right.name,
                                       tensor_text(joint, element));
  return {out_.once(text, text), joint};
}

NestWriter::Partial NestWriter::index(Expr e, const Dims& dims, int bits) {
  bool moves = false;
  for (Expr symbol : sym::symbols_of(e)) moves = moves || is_axis(symbol);
  if (!moves) {
    const Expr first = program_.cx().substituted(e, [&](Expr symbol) {
      for (const tile::npu::BlockAxis& axis : nest_.axes)
        if (axis.symbol == symbol) return axis.first;
      return Expr();
    });
    const int own = out_.bits_of(first);
    if (own > bits) {
      const std::string wide = out_.scalar(first, 64);
      const std::string text = fmt::format("arith.trunci {} : i64 to i32", wide);
      return {out_.once(text, text), {}};
    }
    return {out_.scalar(first, bits), {}};
  }
  if (e.is_symbol()) {
    size_t k = 0;
    while (nest_.axes[dims[k]].symbol != e) CHECK(++k < dims.size(), "{} is no dimension", sym::text(e));
    const tile::npu::BlockAxis& axis = nest_.axes[dims[k]];
    const std::string range = fmt::format("tt.make_range {{end = {0} : i32, start = 0 : i32}} : tensor<{0}xi32>", axis.size);
    std::string name = out_.once(range, range);
    std::vector<int64_t> have = {axis.size};
    for (size_t j = 0; j < dims.size(); ++j) {
      if (j == k) continue;
      std::vector<int64_t> wider = have;
      wider.insert(j < k ? wider.begin() : wider.end(), 1);
      const size_t at = j < k ? 0 : wider.size() - 1;
      const std::string text = fmt::format("tt.expand_dims {} {{axis = {} : i32}} : {} -> {}", name, at,
                                           tensor_text(have, "i32"), tensor_text(wider, "i32"));
      name = out_.once(text, text);
      have = wider;
    }
    if (bits == 64) {
      const std::string text =
          fmt::format("arith.extsi {} : {} to {}", name, tensor_text(have, "i32"), tensor_text(have, "i64"));
      name = out_.once(text, text);
    }
    const Partial place = {name, have};
    if (axis.first.is_const(0)) return place;
    return combined("arith.addi", {out_.scalar(axis.first, bits), {}}, place, bits);
  }
  const char* op = nullptr;
  switch (e.op()) {
    case Op::kAdd:
      op = "arith.addi";
      break;
    case Op::kMul:
      op = "arith.muli";
      break;
    case Op::kMin:
      op = "arith.minsi";
      break;
    case Op::kMax:
      op = "arith.maxsi";
      break;
    case Op::kFloorDiv:
      op = "arith.floordivsi";
      break;
    default:
      CHECK(e.op() == Op::kMod, "an expression of axes: {}", sym::text(e));
      return index(program_.cx().sub(e.operands()[0], program_.cx().mul(program_.cx().floordiv(e.operands()[0], e.operands()[1]), e.operands()[1])), dims, bits);
  }
  Partial all;
  for (Expr operand : e.operands()) {
    const Partial next = index(operand, dims, bits);
    all = all.name.empty() ? next : combined(op, all, next, bits);
  }
  return all;
}

std::string NestWriter::predicate(Expr e, const Dims& dims) {
  bool moves = false;
  for (Expr symbol : sym::symbols_of(e)) moves = moves || is_axis(symbol);
  if (!moves) {
    const Expr first = program_.cx().substituted(e, [&](Expr symbol) {
      for (const tile::npu::BlockAxis& axis : nest_.axes)
        if (axis.symbol == symbol) return axis.first;
      return Expr();
    });
    return full({out_.scalar(first, 1), {}}, dims, "i1");
  }
  Expr left = e.operands()[0];
  Expr right = e.operands()[1];
  const auto is_moving = [&](Expr side) {
    return std::ranges::any_of(sym::symbols_of(side), [&](Expr symbol) { return is_axis(symbol); });
  };
  // The range stands on the left of a `<` or a `>=`, which are the forms that are known as bounds.
  const bool swapped = !is_moving(left);
  if (swapped) std::swap(left, right);
  const char* name = e.op() == Op::kEq ? "eq" : "ne";
  if (e.op() == Op::kLt || e.op() == Op::kLe) {
    name = swapped ? "sge" : "slt";
    const bool moves_bound = swapped == (e.op() == Op::kLt);
    if (moves_bound) right = program_.cx().add(right, 1);
  }
  const int bits = std::max(out_.bits_of(left), out_.bits_of(right));
  const Partial result =
      combined(fmt::format("arith.cmpi {}", name).c_str(), index(left, dims, bits), index(right, dims, bits), bits, true);
  return full(result, dims, "i1");
}

std::string NestWriter::pointer_element(const Access& access) const {
  const DType dtype = program_.buffers[kernel_.buffers[access.buffer]].type.dtype;
  return ir::is_bool(dtype) ? "i8" : element_text(dtype);
}

std::string NestWriter::pointers(const Access& access, const Dims& dims) {
  const std::string element = "!tt.ptr<" + pointer_element(access) + ">";
  std::string base = fmt::format("%b{}", access.buffer);
  if (!access.offset.is_const(0)) {
    const int bits = out_.bits_of(access.offset);
    const std::string text =
        fmt::format("tt.addptr {}, {} : {}, i{}", base, out_.scalar(access.offset, bits), element, bits);
    base = out_.once(text, text);
  }
  if (dims.empty()) return base;
  Partial moved;
  int bits = 32;
  if (access.index && nest_.values[access.index].dtype == DType::kI64) bits = 64;
  for (const Access::Dim& dim : access.dims) {
    const sym::Range stride = sym::bounds(dim.stride, kernel_.facts);
    const int64_t last = nest_.axes[dim.axis].size;
    if (stride.hi > INT32_MAX / last || stride.lo < -(INT32_MAX / last)) bits = 64;
  }
  for (const Access::Dim& dim : access.dims) {
    Expr local = nest_.axes[dim.axis].symbol;
    // The range alone: the block's first element is in the offset.
    size_t k = 0;
    while (dims[k] != dim.axis) ++k;
    const std::string range = fmt::format("tt.make_range {{end = {0} : i32, start = 0 : i32}} : tensor<{0}xi32>",
                                          nest_.axes[dim.axis].size);
    std::string name = out_.once(range, range);
    std::vector<int64_t> have = {nest_.axes[dim.axis].size};
    for (size_t j = 0; j < dims.size(); ++j) {
      if (j == k) continue;
      std::vector<int64_t> wider = have;
      wider.insert(j < k ? wider.begin() : wider.end(), 1);
      const std::string text =
          fmt::format("tt.expand_dims {} {{axis = {} : i32}} : {} -> {}", name, j < k ? 0 : wider.size() - 1,
                      tensor_text(have, "i32"), tensor_text(wider, "i32"));
      name = out_.once(text, text);
      have = wider;
    }
    if (bits == 64) {
      const std::string text =
          fmt::format("arith.extsi {} : {} to {}", name, tensor_text(have, "i32"), tensor_text(have, "i64"));
      name = out_.once(text, text);
    }
    Partial step = {name, have};
    if (!dim.stride.is_const(1))
      step = combined("arith.muli", step, {out_.scalar(dim.stride, bits), {}}, bits);
    moved = moved.name.empty() ? step : combined("arith.addi", moved, step, bits);
    (void)local;
  }
  if (access.index) {
    const tile::npu::BlockType& t = nest_.values[access.index];
    std::string index = in_order(access.index, dims);
    if (bits == 64 && t.dtype == DType::kI32) {
      const std::string text = fmt::format("arith.extsi {} : {} to {}", index, tensor_text(shape(dims), "i32"),
                                           tensor_text(shape(dims), "i64"));
      index = out_.once(text, text);
    }
    const Partial step = {index, shape(dims)};
    moved = moved.name.empty() ? step : combined("arith.addi", moved, step, bits);
  }
  const std::string pointer_type = tensor_text(shape(dims), element);
  const std::string base_text = fmt::format("tt.splat {} : {} -> {}", base, element, pointer_type);
  const std::string splatted = out_.once(base_text, base_text);
  if (moved.name.empty()) return splatted;
  const std::string offset = full(moved, dims, fmt::format("i{}", bits));
  const std::string text = fmt::format("tt.addptr {}, {} : {}, {}", splatted, offset, pointer_type,
                                       tensor_text(shape(dims), fmt::format("i{}", bits)));
  return out_.once(text, text);
}

}  // namespace jumar::emit::ttir
