#include "emit/ttir/nest_writer.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "support/check.h"

namespace jumar::emit::ttir {

using ir::DType;
using sym::Op;
using tile::npu::Access;
using tile::npu::BlockInst;
using tile::npu::BlockKind;
using tile::npu::BlockLoop;
using tile::npu::MaskForm;

namespace {

// Of reductions and of scans: sum, prod, max or min.
template <class Kind>
const char* fold_of(Kind kind, bool is_real) {
  switch (kind) {
    case Kind::kSum:
      return is_real ? "arith.addf" : "arith.addi";
    case Kind::kProd:
      return is_real ? "arith.mulf" : "arith.muli";
    case Kind::kMax:
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
    : program_(program), kernel_(kernel), nest_(nest), layout_(kernel, nest), out_(out) {}

void NestWriter::write() {
  out_.enter();
  write(nest_.body);
  out_.leave();
}

void NestWriter::write(const tile::npu::Region& region) {
  for (const tile::npu::BlockNode& node : region) {
    if (const auto* inst = std::get_if<BlockInst>(&node)) {
      if (layout_.is_written(*inst)) write(*inst);
    } else {
      write(*std::get<std::unique_ptr<BlockLoop>>(node));
    }
  }
}

std::string NestWriter::type(BlockId id) const {
  const tile::npu::BlockType& type = nest_.values[id];
  return tensor_text(shape(layout_.dims_of(type.axes)), element_text(type.dtype));
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
  const std::string list = carried.empty() ? ""
                                           : fmt::format(" iter_args({}) -> ({})", fmt::join(carried, ", "),
                                                         fmt::join(types, ", "));
  out_.line(
      fmt::format("{}scf.for {} = {} to {} step {}{}  : i32 {{", results, variable, begin, end, step, list));
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
      names_[inst.result] = out_.constant(t.dtype, inst.constant, shape(layout_.dims_of(t.axes)));
      break;
    }
    case BlockKind::kIndex: {
      const tile::npu::BlockType& t = nest_.values[inst.result];
      names_[inst.result] = in_order(inst.result, layout_.dims_of(t.axes));
      break;
    }
    case BlockKind::kParam:
      names_[inst.result] = fmt::format("%p{}", inst.number);
      if (ir::is_bool(nest_.values[inst.result].dtype))
        names_[inst.result] = out_.define(fmt::format("arith.cmpf une, %p{}, {} : f32", inst.number,
                                                      out_.constant(DType::kF32, loop::Constant{0}, {})));
      break;
    case BlockKind::kOp:
      write_op(inst);
      break;
    case BlockKind::kBroadcast: {
      const tile::npu::BlockType& from = nest_.values[inst.operands[0]];
      const tile::npu::BlockType& to = nest_.values[inst.result];
      names_[inst.result] = broadcast(value(inst.operands[0]), layout_.dims_of(from.axes),
                                      layout_.dims_of(to.axes), element_text(from.dtype));
      break;
    }
    case BlockKind::kSlice:
      write_slice(inst);
      break;
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
    types = nest_.values[inst.operands[0]].axes == 0
                ? type(inst.result)
                : fmt::format("{}, {}", type(inst.operands[0]), type(inst.result));
  else
    types = type(inst.operands[0]);
  names_[inst.result] = out_.define(fmt::format("{} {} : {}", op, fmt::join(operands, ", "), types));
}

void NestWriter::write_load(const BlockInst& inst) {
  const tile::npu::BlockType& t = nest_.values[inst.result];
  const Dims dims = layout_.memory_dims(inst.access, t.axes);
  const std::string element = element_text(t.dtype);
  std::string text = "tt.load " + pointers(inst.access, dims);
  if (inst.access.mask) {
    text += ", " + in_order(inst.access.mask, dims);
    if (inst.has_other) text += ", " + out_.constant(t.dtype, inst.constant, shape(dims));
  }
  text += " : " + tensor_text(shape(dims), "!tt.ptr<" + element + ">");
  const std::string block = out_.define(text);
  if (inst.is_single) write_single(block, tensor_text(shape(dims), element));
  const std::string loaded = turned_round(inst.access, block, dims, element);
  names_[inst.result] = turned(loaded, dims, layout_.dims_of(t.axes), element);
}

void NestWriter::write_slice(const BlockInst& inst) {
  const BlockId whole = inst.operands[0];
  const Dims dims = layout_.dims_of(whole);
  const auto axis = static_cast<size_t>(std::ranges::find(dims, inst.axis) - dims.begin());
  std::vector<std::string> offsets(dims.size(), "0");
  std::vector<int64_t> steps(dims.size(), 1);
  offsets[axis] = out_.define(fmt::format("arith.index_cast {} : i32 to index", out_.scalar(inst.expr, 32)));
  steps[axis] = inst.step;
  names_[inst.result] =
      out_.define(fmt::format("tensor.extract_slice {}[{}] [{}] [{}] : {} to {}", value(whole),
                              fmt::join(offsets, ", "), fmt::join(shape(layout_.dims_of(inst.result)), ", "),
                              fmt::join(steps, ", "), type(whole), type(inst.result)));
}

void NestWriter::write_store(const BlockInst& inst) {
  const tile::npu::BlockType& t = nest_.values[inst.operands[0]];
  const Dims dims = layout_.memory_dims(inst.access, t.axes);
  const std::string element = element_text(t.dtype);
  const std::string stored = turned_round(
      inst.access, turned(value(inst.operands[0]), layout_.dims_of(t.axes), dims, element), dims, element);
  const std::string where = pointers(inst.access, dims);
  std::string mask;
  if (inst.access.mask) mask = in_order(inst.access.mask, dims);
  const std::string pointer_type = tensor_text(shape(dims), "!tt.ptr<" + element + ">");
  if (inst.is_single) write_single(stored, tensor_text(shape(dims), element));
  if (inst.mode == loop::StoreMode::kSet) {
    out_.line(
        fmt::format("tt.store {}, {}{} : {}", where, stored, mask.empty() ? "" : ", " + mask, pointer_type));
    return;
  }
  if (mask.empty()) mask = out_.constant(DType::kBool, loop::Constant{1}, shape(dims));
  const std::string value_type = tensor_text(shape(dims), element);
  out_.define(fmt::format("tt.atomic_rmw {}, acq_rel, gpu, {}, {}, {} : ({}, {}, {}) -> {}",
                          atomic_of(inst.mode, ir::is_float(t.dtype)), where, stored, mask, pointer_type,
                          value_type, tensor_text(shape(dims), "i1"), value_type));
}

void NestWriter::write_single(const std::string& block, const std::string& type) {
  out_.line(fmt::format("tt.annotation {} {{hivm.multi_buffer = 1 : i32}} : {}", block, type));
}

void NestWriter::write_reduce(const BlockInst& inst) {
  const tile::npu::BlockType& from = nest_.values[inst.operands[0]];
  const Dims dims = layout_.dims_of(from.axes);
  const auto axis = std::ranges::find(dims, inst.axis) - dims.begin();
  const bool is_real = ir::is_float(from.dtype);
  const bool is_scan = inst.kind == BlockKind::kScan;
  const std::string element = element_text(from.dtype);
  const std::string name = out_.fresh();
  const std::string head =
      is_scan ? fmt::format("\"tt.scan\"({}) <{{axis = {} : i32, reverse = false}}> ({{",
                            value(inst.operands[0]), axis)
              : fmt::format("\"tt.reduce\"({}) <{{axis = {} : i32}}> ({{", value(inst.operands[0]), axis);
  out_.line(name + " = " + head);
  out_.line(fmt::format("^bb0(%lhs: {0}, %rhs: {0}):", element));
  const char* op = is_scan ? fold_of(inst.scan, is_real) : fold_of(inst.reduce, is_real);
  out_.line(fmt::format("  %both = {} %lhs, %rhs : {}", op, element));
  out_.line(fmt::format("  tt.{}.return %both : {}", is_scan ? "scan" : "reduce", element));
  out_.line(fmt::format("}}) : ({}) -> {}", type(inst.operands[0]), type(inst.result)));
  names_[inst.result] = name;
}

std::string NestWriter::turned_round(const Access& access, const std::string& name, const Dims& dims,
                                     const std::string& element) {
  if (!access.is_backward) return name;
  const std::string type = tensor_text(shape(dims), element);
  return out_.define(fmt::format("tt.flip {}, {} : {} -> {}", name, dims.size() - 1, type, type));
}

std::string NestWriter::turned(const std::string& name, const Dims& from, const Dims& to,
                               const std::string& element) {
  if (from == to) return name;
  std::vector<std::ptrdiff_t> order;
  for (uint32_t axis : to) order.push_back(std::ranges::find(from, axis) - from.begin());
  return out_.define(fmt::format("tt.trans {} {{order = array<i32: {}>}} : {} -> {}", name,
                                 fmt::join(order, ", "), tensor_text(shape(from), element),
                                 tensor_text(shape(to), element)));
}

std::string NestWriter::broadcast(const std::string& name, const Dims& from, const Dims& to,
                                  const std::string& element) {
  if (from == to) return name;
  if (from.empty()) return of_shape({name, {}}, shape(to), element).name;
  std::string current = name;
  const std::vector<bool> is_new = layout_.spread(from, to).is_new;
  std::vector<int64_t> have = shape(from);
  for (size_t k = 0; k < is_new.size(); ++k) {
    if (!is_new[k]) continue;
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
  const BlockInst* inst = layout_.definition(id);
  const std::string element = element_text(t.dtype);
  switch (layout_.mask_form(id)) {
    case MaskForm::kPlaces:
      if (ir::is_bool(t.dtype)) return predicate(inst->expr, dims);
      return full(index(inst->expr, dims, t.dtype == DType::kI64 ? 64 : 32), dims, element);
    case MaskForm::kConstant:
      return out_.constant(t.dtype, inst->constant, shape(dims));
    case MaskForm::kSame:
      return in_order(inst->operands[0], dims);
    case MaskForm::kCombination: {
      const std::string a = in_order(inst->operands[0], dims);
      const std::string b = in_order(inst->operands[1], dims);
      const std::string text =
          fmt::format("{} {}, {} : {}", tile::npu::ttir_of(inst->op), a, b, tensor_text(shape(dims), "i1"));
      return out_.once(text, text);
    }
    case MaskForm::kData:
      break;
  }
  const Dims order = layout_.ordered_as(id, dims);
  return broadcast(turned(value(id), layout_.dims_of(id), order, element), order, dims, element);
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
  const std::string text = fmt::format("{}{} {}, {} : {}", op, is_comparison ? "," : "", left.name,
                                       right.name, tensor_text(joint, element));
  return {out_.once(text, text), joint};
}

// The elements' places along an axis: 0, 1, ... as a tensor that has length one in other dimensions.
NestWriter::Partial NestWriter::range(uint32_t axis, const Dims& dims, int bits) {
  const int64_t size = nest_.axes[axis].size;
  const std::string range =
      fmt::format("tt.make_range {{end = {0} : i32, start = 0 : i32}} : tensor<{0}xi32>", size);
  Partial out = {out_.once(range, range), {size}};
  bool is_before = true;
  for (uint32_t dim : dims) {
    if (dim == axis) {
      is_before = false;
      continue;
    }
    std::vector<int64_t> wider = out.shape;
    wider.insert(is_before ? wider.begin() : wider.end(), 1);
    const std::string text = fmt::format("tt.expand_dims {} {{axis = {} : i32}} : {} -> {}", out.name,
                                         is_before ? 0 : wider.size() - 1, tensor_text(out.shape, "i32"),
                                         tensor_text(wider, "i32"));
    out = {out_.once(text, text), wider};
  }
  CHECK(!is_before, "axis {} is no dimension", axis);
  return bits == 64 ? extended(out) : out;
}

NestWriter::Partial NestWriter::extended(const Partial& value) {
  const std::string text = fmt::format("arith.extsi {} : {} to {}", value.name,
                                       tensor_text(value.shape, "i32"), tensor_text(value.shape, "i64"));
  return {out_.once(text, text), value.shape};
}

NestWriter::Partial NestWriter::index(Expr e, const Dims& dims, int bits) {
  if (!layout_.moves(e)) {
    const Expr first = tile::npu::at_first(program_.cx(), nest_, e);
    const int own = out_.bits_of(first);
    if (own <= bits) return {out_.scalar(first, bits), {}};
    const std::string text = fmt::format("arith.trunci {} : i64 to i32", out_.scalar(first, 64));
    return {out_.once(text, text), {}};
  }
  if (e.is_symbol()) {
    uint32_t k = 0;
    while (nest_.axes[k].symbol != e) ++k;
    const tile::npu::BlockAxis& axis = nest_.axes[k];
    const Partial place = range(k, dims, bits);
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
      return index(
          program_.cx().sub(
              e.operands()[0],
              program_.cx().mul(program_.cx().floordiv(e.operands()[0], e.operands()[1]), e.operands()[1])),
          dims, bits);
  }
  Partial all;
  for (Expr operand : e.operands()) {
    const Partial next = index(operand, dims, bits);
    all = all.name.empty() ? next : combined(op, all, next, bits);
  }
  return all;
}

std::string NestWriter::predicate(Expr e, const Dims& dims) {
  if (!layout_.moves(e)) {
    const Expr first = tile::npu::at_first(program_.cx(), nest_, e);
    return full({out_.scalar(first, 1), {}}, dims, "i1");
  }
  static constexpr std::array kNames = {"arith.cmpi eq", "arith.cmpi ne", "arith.cmpi slt", "arith.cmpi sge"};
  const tile::npu::Comparison both = comparison_of(program_.cx(), layout_, e);
  const int bits = std::max(out_.bits_of(both.left), out_.bits_of(both.right));
  const Partial left = index(both.left, dims, bits);
  const Partial right = index(both.right, dims, bits);
  return full(combined(kNames[static_cast<size_t>(both.order)], left, right, bits, true), dims, "i1");
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
  const int bits = layout_.distance_bits(access);
  for (const Access::Dim& dim : access.dims) {
    // The range alone: the block's first element is in the offset.
    Partial step = range(dim.axis, dims, bits);
    // The adapter takes a difference for what runs backwards, and no product with a negative number.
    sym::Context& cx = program_.cx();
    const bool is_backward = dim.stride.is_const() && dim.stride.const_value() < 0;
    const sym::Expr stride = is_backward ? cx.neg(dim.stride) : dim.stride;
    if (!stride.is_const(1)) step = combined("arith.muli", step, {out_.scalar(stride, bits), {}}, bits);
    if (is_backward) step = combined("arith.subi", {out_.scalar(cx.constant(0), bits), {}}, step, bits);
    moved = moved.name.empty() ? step : combined("arith.addi", moved, step, bits);
  }
  if (access.index) {
    const tile::npu::BlockType& t = nest_.values[access.index];
    Partial step = {in_order(access.index, dims), shape(dims)};
    if (bits == 64 && t.dtype == DType::kI32) step = extended(step);
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
