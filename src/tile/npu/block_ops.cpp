#include "tile/npu/block_ops.h"

#include <array>
#include <cstddef>

namespace jumar::tile::npu {
namespace {

struct Row {
  int arity;
  std::string_view ttir;
  std::string_view triton;
};

constexpr std::array kRows = {
#define JUMAR_BLOCK_OP(name, operands, ttir, triton) Row{operands, ttir, triton},
#include "tile/npu/block_ops.def"
#undef JUMAR_BLOCK_OP
};

const Row& row(BlockOp op) { return kRows[static_cast<size_t>(op)]; }

}  // namespace

std::string_view ttir_of(BlockOp op) { return row(op).ttir; }
std::string_view triton_of(BlockOp op) { return row(op).triton; }
int arity_of(BlockOp op) { return row(op).arity; }

}  // namespace jumar::tile::npu
