#include "emit/triton/nest_writer.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "support/check.h"
#include "tile/npu/walk.h"

namespace jumar::emit::triton {

using ir::DType;
using tile::npu::BlockKind;
using tile::npu::BlockLoop;
using tile::npu::BlockOp;
using tile::npu::MaskForm;

namespace {

std::string real_text(double value) {
  if (std::isnan(value)) return "float(\"nan\")";
  if (std::isinf(value)) return value > 0 ? "float(\"inf\")" : "float(\"-inf\")";
  const std::string text = fmt::format("{}", value);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

std::string constant_text(DType dtype, loop::Constant value) {
  if (ir::is_float(dtype)) return real_text(value.real);
  if (ir::is_bool(dtype)) return value.integer != 0 ? "True" : "False";
  return fmt::format("{}", value.integer);
}

// Triton makes f64 of numbers that are too small for normal f32 ones, and 0.0 of -0.0.
bool is_plain(double value) {
  constexpr double kLeastNormal = 0x1p-126;
  return std::isnan(value) || std::abs(value) >= kLeastNormal || (value == 0 && !std::signbit(value));
}

std::string full_text(const std::vector<int64_t>& shape, const std::string& value, DType dtype) {
  return fmt::format("tl.full({}, {}, {})", shape_text(shape), value, dtype_text(dtype));
}

std::string full_constant(const std::vector<int64_t>& shape, DType dtype, loop::Constant value) {
  const bool is_negative_zero = ir::is_float(dtype) && value.real == 0 && std::signbit(value.real);
  if (is_negative_zero) return "(" + full_text(shape, "0.0", dtype) + " * -1.0)";
  return full_text(shape, constant_text(dtype, value), dtype);
}

// What folds two values into one.
enum class Fold : uint8_t { kSum, kProd, kMax, kMin };

Fold fold_of(const tile::npu::BlockInst& inst) {
  if (inst.kind == BlockKind::kScan) {
    if (inst.scan == loop::ScanKind::kSum) return Fold::kSum;
    if (inst.scan == loop::ScanKind::kProd) return Fold::kProd;
    return inst.scan == loop::ScanKind::kMax ? Fold::kMax : Fold::kMin;
  }
  if (inst.reduce == loop::ReduceKind::kSum) return Fold::kSum;
  if (inst.reduce == loop::ReduceKind::kProd) return Fold::kProd;
  return inst.reduce == loop::ReduceKind::kMax ? Fold::kMax : Fold::kMin;
}

std::string replaced(std::string text, std::string_view what, const std::string& by) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

const char* comparison_text(tile::npu::Comparison::Order order) {
  static constexpr std::array kTexts = {" == ", " != ", " < ", " >= "};
  return kTexts[static_cast<size_t>(order)];
}

}  // namespace

NestWriter::NestWriter(const loop::Program& program, const tile::npu::BlockKernel& kernel,
                       const tile::npu::BlockNest& nest, const ArgumentNames& arguments, SourceWriter& out)
    : program_(program),
      kernel_(kernel),
      nest_(nest),
      layout_(kernel, nest),
      arguments_(arguments),
      out_(out) {}

void NestWriter::write() {
  out_.enter();
  write_axes();
  write(nest_.body);
  out_.leave();
}

// A range of each axis that is a dimension of blocks: x for kept axes, r for inner ones.
void NestWriter::write_axes() {
  std::set<uint32_t> used;
  tile::npu::for_each_inst(nest_.body, [&](const BlockInst& inst) {
    for (const Access::Dim& dim : inst.access.dims) used.insert(dim.axis);
    for (uint32_t k = 0; k < nest_.axes.size(); ++k)
      if (inst.expr && sym::mentions(inst.expr, nest_.axes[k].symbol)) used.insert(k);
  });
  int kept = 0;
  int inner = 0;
  for (const tile::npu::BlockAxis& axis : nest_.axes) {
    ranges_.emplace_back();
    if (axis.is_scalar || used.count(static_cast<uint32_t>(ranges_.size() - 1)) == 0) continue;
    const std::string like = axis.is_inner ? fmt::format("r{}", inner++) : fmt::format("x{}", kept++);
    ranges_.back() = out_.unique(like);
    out_.line(fmt::format("{} = tl.arange(0, {})  # {} of {}", ranges_.back(), axis.size,
                          axis.symbol ? axis.symbol.symbol_name() : "one", sym::text(axis.extent)));
  }
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

void NestWriter::write(const BlockLoop& loop) {
  for (const BlockLoop::Carried& one : loop.carried) {
    const std::string name = out_.unique("acc");
    out_.line(name + " = " + full(one.init));
    names_[one.inside] = name;
    names_[one.result] = name;
  }
  const std::string variable = out_.unique(loop.variable.symbol_name());
  const std::string end = out_.scalar(loop.end, 32).text;
  const std::string begin = loop.begin.is_const(0) ? "" : out_.scalar(loop.begin, 32).text + ", ";
  out_.line(fmt::format("for {} in range({}{}):", variable, begin, end));
  out_.enter();
  out_.indent(1);
  out_.name_symbol(loop.variable, variable, 32);
  write(loop.body);
  std::vector<std::string> carried;
  std::vector<std::string> nexts;
  for (const BlockLoop::Carried& one : loop.carried) {
    carried.push_back(names_.at(one.inside));
    nexts.push_back(full(one.next));
  }
  if (!carried.empty()) out_.line(fmt::format("{} = {}", fmt::join(carried, ", "), fmt::join(nexts, ", ")));
  out_.indent(-1);
  out_.leave();
}

void NestWriter::write(const BlockInst& inst) {
  if (inst.kind == BlockKind::kStore) return write_store(inst);
  if (inst.kind == BlockKind::kConst || inst.kind == BlockKind::kBroadcast) return;
  const tile::npu::BlockType& type = nest_.values[inst.result];
  const std::string text = made(inst);
  std::string name;
  if (inst.kind == BlockKind::kLoad)
    name = out_.unique(program_.buffers[kernel_.buffers[inst.access.buffer]].name);
  else if (inst.kind == BlockKind::kParam && !ir::is_bool(type.dtype))
    name = text;
  else
    name = out_.fresh();
  if (name != text) out_.line(name + " = " + text);
  names_[inst.result] = name;
  if (type.axes == 0 && (type.dtype == DType::kI32 || type.dtype == DType::kI64))
    out_.name_symbol(program_.cx().value(inst.result.index()), name, type.dtype == DType::kI64 ? 64 : 32);
}

std::string NestWriter::made(const BlockInst& inst) {
  switch (inst.kind) {
    case BlockKind::kIndex: {
      const tile::npu::BlockType& type = nest_.values[inst.result];
      const Dims dims = layout_.dims_of(type.axes);
      if (ir::is_bool(type.dtype)) return predicate(inst.expr, dims).text;
      return index(inst.expr, dims, type.dtype == DType::kI64 ? 64 : 32).text;
    }
    case BlockKind::kParam: {
      const bool is_bool = ir::is_bool(nest_.values[inst.result].dtype);
      return arguments_.numbers[inst.number] + (is_bool ? " != 0.0" : "");
    }
    case BlockKind::kOp:
      return op(inst);
    case BlockKind::kLoad:
      return load(inst);
    case BlockKind::kSlice:
      return slice(inst);
    default:
      CHECK(inst.kind == BlockKind::kReduce || inst.kind == BlockKind::kScan,
            "an instruction without a value");
      return fold(inst);
  }
}

std::optional<std::string> NestWriter::literal(BlockId id) const {
  const BlockInst* inst = layout_.definition(id);
  if (!inst || inst->kind != BlockKind::kConst) return std::nullopt;
  // Triton takes numbers in Python for f32, i32 or bool, as far as they fit.
  const DType dtype = nest_.values[id].dtype;
  const bool is_f32 = dtype == DType::kF32 && is_plain(inst->constant.real);
  if (is_f32 || dtype == DType::kI32 || ir::is_bool(dtype)) return constant_text(dtype, inst->constant);
  return std::nullopt;
}

std::string NestWriter::full(BlockId id) {
  const BlockInst* inst = layout_.definition(id);
  const DType dtype = nest_.values[id].dtype;
  if (inst && inst->kind == BlockKind::kConst) return full_constant(shape(id), dtype, inst->constant);
  if (inst && inst->kind == BlockKind::kBroadcast) {
    const BlockId from = inst->operands[0];
    const std::string source = full(from);
    const Dims dims = layout_.dims_of(from);
    if (dims.empty()) return full_text(shape(id), source, dtype);
    const tile::npu::Spread spread = layout_.spread(dims, layout_.dims_of(id));
    const std::string text = expanded(source, spread);
    if (spread.expanded == shape(id)) return text;
    return fmt::format("tl.broadcast_to({}, {})", text, shape_text(shape(id)));
  }
  return names_.at(id);
}

NestWriter::Operand NestWriter::operand(BlockId id) {
  const BlockInst* inst = layout_.definition(id);
  if (!inst || inst->kind != BlockKind::kBroadcast) return {full(id), shape(id), true};
  const BlockId from = inst->operands[0];
  const Dims dims = layout_.dims_of(from);
  if (dims.empty()) return {full(from), {}, false};
  const tile::npu::Spread spread = layout_.spread(dims, layout_.dims_of(id));
  return {expanded(full(from), spread), spread.expanded, spread.expanded == shape(id)};
}

// Numbers and values of fewer dimensions are taken as they are, as long as the result gets its shape.
std::vector<std::string> NestWriter::operands(const BlockInst& inst) {
  const auto count = static_cast<size_t>(tile::npu::arity_of(inst.op));
  const bool is_elementwise = count > 1 && inst.op != BlockOp::kPow;
  const std::vector<int64_t> want = shape(inst.result);
  std::vector<std::string> out(count);
  std::vector<int64_t> have(want.size(), 1);
  bool is_typed = false;
  std::vector<size_t> short_ones;
  for (size_t k = 0; k < count; ++k) {
    const BlockId id = inst.operands[k];
    if (!is_elementwise) {
      out[k] = full(id);
      continue;
    }
    if (literal(id)) continue;
    const Operand given = operand(id);
    out[k] = given.text;
    if (!given.is_full) short_ones.push_back(k);
    for (size_t d = 0; d < given.shape.size(); ++d) have[d] = std::max(have[d], given.shape[d]);
    is_typed = is_typed || !(inst.op == BlockOp::kSelect && k == 0);
  }
  if (!is_elementwise) return out;
  bool is_shaped =
      have == want && std::ranges::any_of(out, [](const std::string& text) { return !text.empty(); });
  if (!is_shaped && !short_ones.empty()) {
    out[short_ones[0]] = full(inst.operands[short_ones[0]]);
    is_shaped = true;
  }
  for (size_t k = 0; k < count; ++k) {
    if (!out[k].empty()) continue;
    // Triton takes no number on the left of these.
    const bool is_bitwise =
        inst.op == BlockOp::kAndI || inst.op == BlockOp::kOrI || inst.op == BlockOp::kXorI;
    const bool needs_tensor = (inst.op == BlockOp::kSelect || is_bitwise) && k == 0;
    const bool is_literal = is_shaped && (is_typed || k > 0) && !needs_tensor;
    out[k] = is_literal ? *literal(inst.operands[k]) : full(inst.operands[k]);
    is_shaped = true;
    is_typed = true;
  }
  return out;
}

std::string NestWriter::op(const BlockInst& inst) {
  const std::vector<std::string> given = operands(inst);
  std::string text(tile::npu::triton_of(inst.op));
  if (text.starts_with("libdevice.")) out_.use_libdevice();
  const DType dtype = nest_.values[inst.result].dtype;
  text = replaced(text, "{t}", dtype_text(dtype));
  text = replaced(text, "{u}", fmt::format("tl.uint{}", 8 * ir::dtype_bytes(dtype)));
  for (size_t k = 0; k < given.size(); ++k) text = replaced(text, fmt::format("{{{}}}", k), given[k]);
  return text;
}

std::string NestWriter::load(const BlockInst& inst) {
  const tile::npu::BlockType& type = nest_.values[inst.result];
  const Dims dims = layout_.memory_dims(inst.access, type.axes);
  std::string text = "tl.load(" + pointers(inst.access, dims);
  if (inst.access.mask) {
    text += ", mask=" + out_.named(mask(inst.access.mask, dims), "m");
    // Without a value of its own, what is left out stays as it is.
    if (!inst.has_other)
      text += ", care_padding=False";
    else if (ir::is_float(type.dtype) && !is_plain(inst.constant.real))
      text += ", other=" + full_constant({}, type.dtype, inst.constant);
    else
      text += ", other=" + constant_text(type.dtype, inst.constant);
  }
  text += ")";
  if (inst.is_single) text = single(text);
  return turned(turned_round(inst.access, text, dims), dims, layout_.dims_of(type.axes));
}

std::string NestWriter::slice(const BlockInst& inst) {
  const BlockId whole = inst.operands[0];
  const Dims dims = layout_.dims_of(whole);
  const auto axis = static_cast<size_t>(std::ranges::find(dims, inst.axis) - dims.begin());
  std::vector<std::string> offsets(dims.size(), "0");
  std::vector<int64_t> steps(dims.size(), 1);
  offsets[axis] = out_.scalar(inst.expr, 32).text;
  steps[axis] = inst.step;
  return fmt::format("tl.extract_slice({}, ({}), {}, {})", full(whole), fmt::join(offsets, ", "),
                     shape_text(shape(inst.result)), shape_text(steps));
}

void NestWriter::write_store(const BlockInst& inst) {
  const BlockId value = inst.operands[0];
  const Dims own = layout_.dims_of(value);
  const Dims dims = layout_.memory_dims(inst.access, nest_.values[value].axes);
  const std::string where = pointers(inst.access, dims);
  std::string stored = turned_round(inst.access, turned(full(value), own, dims), dims);
  if (inst.is_single) stored = single(stored);
  std::string rest;
  if (inst.access.mask) rest = ", mask=" + out_.named(mask(inst.access.mask, dims), "m");
  const char* function = inst.mode == loop::StoreMode::kSet   ? "store"
                         : inst.mode == loop::StoreMode::kAdd ? "atomic_add"
                         : inst.mode == loop::StoreMode::kMax ? "atomic_max"
                                                              : "atomic_min";
  out_.line(fmt::format("tl.{}({}, {}{})", function, where, stored, rest));
}

// A name for a block that has one buffer.
std::string NestWriter::single(const std::string& text) {
  const std::string name = out_.fresh();
  out_.line(name + " = " + text);
  out_.line(fmt::format("tl.compile_hint({}, \"hivm.multi_buffer\", 1)", name));
  return name;
}

std::string NestWriter::fold(const BlockInst& inst) {
  const BlockId value = inst.operands[0];
  const Dims dims = layout_.dims_of(value);
  const auto axis = std::ranges::find(dims, inst.axis) - dims.begin();
  const DType dtype = nest_.values[value].dtype;
  const bool is_real = ir::is_float(dtype);
  const bool is_scan = inst.kind == BlockKind::kScan;
  const Fold kind = fold_of(inst);
  // Functions of the library keep f32, i32 and i64; narrower values they would widen. NaNs they drop.
  const bool is_kept = ir::dtype_bytes(dtype) >= 4;
  if (is_kept && kind == Fold::kSum)
    return fmt::format("tl.{}({}, {})", is_scan ? "cumsum" : "sum", full(value), axis);
  if (is_kept && is_scan && kind == Fold::kProd) return fmt::format("tl.cumprod({}, {})", full(value), axis);
  if (is_kept && !is_real && !is_scan && kind != Fold::kProd)
    return fmt::format("tl.{}({}, {})", kind == Fold::kMax ? "max" : "min", full(value), axis);
  const Helper both = kind == Fold::kSum    ? Helper::kAdd
                      : kind == Fold::kProd ? Helper::kMul
                      : kind == Fold::kMax  ? Helper::kMaximum
                                            : Helper::kMinimum;
  return fmt::format("tl.{}({}, {}, {})", is_scan ? "associative_scan" : "reduce", full(value), axis,
                     out_.helper(both));
}

std::string NestWriter::expanded(const std::string& name, const tile::npu::Spread& spread) const {
  if (std::ranges::none_of(spread.is_new, [](bool is_new) { return is_new; })) return name;
  std::vector<const char*> places;
  for (const bool is_new : spread.is_new) places.push_back(is_new ? "None" : ":");
  return fmt::format("{}[{}]", name, fmt::join(places, ", "));
}

std::string NestWriter::turned_round(const Access& access, const std::string& name, const Dims& dims) {
  if (!access.is_backward) return name;
  out_.use_libdevice();
  return fmt::format("libdevice.flip({}, {})", name, dims.size() - 1);
}

std::string NestWriter::turned(const std::string& name, const Dims& from, const Dims& to) const {
  if (from == to) return name;
  if (to.size() == 2) return "tl.trans(" + name + ")";
  std::vector<std::ptrdiff_t> order;
  for (uint32_t axis : to) order.push_back(std::ranges::find(from, axis) - from.begin());
  return fmt::format("tl.permute({}, [{}])", name, fmt::join(order, ", "));
}

Text NestWriter::axis_range(uint32_t axis, const Dims& dims, int bits) const {
  CHECK(std::ranges::find(dims, axis) != dims.end(), "axis {} is no dimension", axis);
  std::string text = expanded(ranges_[axis], layout_.spread({axis}, dims));
  if (bits == 64) text += ".to(tl.int64)";
  return {text};
}

Text NestWriter::index(Expr e, const Dims& dims, int bits) {
  if (!layout_.moves(e)) {
    const Expr first = tile::npu::at_first(program_.cx(), nest_, e);
    const int own = out_.bits_of(first);
    if (own <= bits) return out_.scalar(first, bits);
    return {within(out_.scalar(first, own), Binding::kAtom) + ".to(tl.int32)"};
  }
  if (e.is_symbol()) {
    uint32_t k = 0;
    while (nest_.axes[k].symbol != e) ++k;
    const tile::npu::BlockAxis& axis = nest_.axes[k];
    const Text range = axis_range(k, dims, bits);
    if (axis.first.is_const(0)) return range;
    return sum_of({out_.scalar(axis.first, bits), range});
  }
  std::vector<Text> operands;
  for (Expr operand : e.operands()) operands.push_back(index(operand, dims, bits));
  return out_.operation(e, std::move(operands));
}

Text NestWriter::predicate(Expr e, const Dims& dims) {
  if (!layout_.moves(e)) return out_.predicate(tile::npu::at_first(program_.cx(), nest_, e));
  const tile::npu::Comparison both = comparison_of(program_.cx(), layout_, e);
  const int bits = std::max(out_.bits_of(both.left), out_.bits_of(both.right));
  return {within(index(both.left, dims, bits), Binding::kOr) + comparison_text(both.order) +
              within(index(both.right, dims, bits), Binding::kOr),
          Binding::kCompare};
}

// Masks and indices are made in the order in which memory is accessed.
Text NestWriter::in_order(BlockId id, const Dims& dims) {
  const tile::npu::BlockType& type = nest_.values[id];
  const BlockInst* inst = layout_.definition(id);
  switch (layout_.mask_form(id)) {
    case MaskForm::kPlaces:
      if (ir::is_bool(type.dtype)) return predicate(inst->expr, dims);
      return index(inst->expr, dims, type.dtype == DType::kI64 ? 64 : 32);
    case MaskForm::kConstant:
      return {full_constant(layout_.shape(dims), type.dtype, inst->constant)};
    case MaskForm::kSame:
      return in_order(inst->operands[0], dims);
    case MaskForm::kCombination: {
      const bool is_and = inst->op == BlockOp::kAndI;
      const bool is_or = inst->op == BlockOp::kOrI;
      return joined({in_order(inst->operands[0], dims), in_order(inst->operands[1], dims)},
                    is_and  ? " & "
                    : is_or ? " | "
                            : " ^ ",
                    is_and  ? Binding::kAnd
                    : is_or ? Binding::kOr
                            : Binding::kXor);
    }
    case MaskForm::kData:
      break;
  }
  const Dims own = layout_.dims_of(id);
  if (own.empty()) return {full(id)};
  const Dims order = layout_.ordered_as(id, dims);
  return {expanded(turned(full(id), own, order), layout_.spread(order, dims))};
}

Text NestWriter::mask(BlockId id, const Dims& dims) { return in_order(id, dims); }

std::string NestWriter::pointers(const Access& access, const Dims& dims) {
  std::vector<Text> parts = {{arguments_.buffers[access.buffer]}};
  if (!access.offset.is_const(0)) {
    const Text offset = out_.scalar(access.offset, out_.bits_of(access.offset));
    parts.push_back({offset.text, Binding::kSum});
  }
  if (dims.empty()) return joined(parts, " + ", Binding::kSum).text;
  const int bits = layout_.distance_bits(access);
  std::vector<Text> steps;
  for (const Access::Dim& dim : access.dims) {
    // The range alone: the block's first element is in the offset.
    const Text range = axis_range(dim.axis, dims, bits);
    // The adapter takes a difference for what runs backwards, and no product with a negative number.
    const bool is_backward = dim.stride.is_const() && dim.stride.const_value() < 0;
    const sym::Expr stride = is_backward ? program_.cx().neg(dim.stride) : dim.stride;
    const Text step = stride.is_const(1) ? range : product_of({out_.scalar(stride, bits), range});
    steps.push_back(is_backward ? Text{"(0 - " + within(step, Binding::kProduct) + ")"} : step);
  }
  if (access.index) {
    Text index = in_order(access.index, dims);
    if (bits == 64 && nest_.values[access.index].dtype == DType::kI32)
      index = {within(index, Binding::kAtom) + ".to(tl.int64)"};
    steps.push_back(index);
  }
  if (!steps.empty()) parts.push_back({out_.named(sum_of(std::move(steps)), "at")});
  return joined(parts, " + ", Binding::kSum).text;
}

}  // namespace jumar::emit::triton
