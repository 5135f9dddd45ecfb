#include "tile/npu/supports.h"

#include <fmt/format.h>

namespace jumar::tile::npu {
namespace {

using loop::Inst;
using loop::InstKind;
using loop::ScalarOp;

std::optional<std::string> of_operator(const Inst& inst) {
  switch (inst.op) {
    case ScalarOp::kErfinv:
    case ScalarOp::kLgamma:
    case ScalarOp::kDigamma:
      return fmt::format("vector units have no {}", loop::scalar_op_name(inst.op));
    case ScalarOp::kPow:
      if (ir::is_integer(inst.type)) return "vector units have no power of integers";
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

// Types of values in bodies that blocks can't hold; f64 only as a number of the host that becomes f32.
bool is_computed(const Inst& inst) {
  if (inst.kind == InstKind::kParam || !inst.defines_value()) return true;
  const ir::DType d = inst.type;
  return ir::is_bool(d) || d == ir::DType::kF32 || d == ir::DType::kF16 || d == ir::DType::kBF16 ||
         d == ir::DType::kI8 || d == ir::DType::kI16 || d == ir::DType::kI32 || d == ir::DType::kI64 ||
         d == ir::DType::kU8;
}

std::optional<std::string> of_line(const Inst& inst) {
  if (!is_computed(inst)) return fmt::format("vector units don't compute in {}", ir::dtype_name(inst.type));
  switch (inst.kind) {
    case InstKind::kOp:
      return of_operator(inst);
    case InstKind::kReduce:
      if (inst.reduce == loop::ReduceKind::kProd && ir::is_integer(inst.type))
        return "vector units don't multiply integers up";
      return std::nullopt;
    case InstKind::kStore:
      if (inst.mode == loop::StoreMode::kMul) return "there is no atomic product";
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<std::string> unsupported(const loop::Program& program, const loop::Kernel& kernel,
                                       const TakesType& takes) {
  for (const loop::Nest& nest : kernel.nests) {
    for (const loop::Stage& stage : nest.stages) {
      for (const loop::Stage::Line& line : stage.body) {
        if (line.inst.buffer) {
          const ir::DType dtype = program.buffers[line.inst.buffer].type.dtype;
          if (!takes(dtype)) return fmt::format("vector units don't take {}", ir::dtype_name(dtype));
        }
        if (std::optional<std::string> reason = of_line(line.inst)) return reason;
      }
    }
  }
  return std::nullopt;
}

}  // namespace jumar::tile::npu
