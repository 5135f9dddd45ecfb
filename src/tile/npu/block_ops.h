// The table of operators on blocks; rows are in block_ops.def.
#pragma once

#include <cstdint>
#include <string_view>

namespace jumar::tile::npu {

enum class BlockOp : uint8_t {
#define JUMAR_BLOCK_OP(name, operands, ttir, triton) k##name,
#include "tile/npu/block_ops.def"
#undef JUMAR_BLOCK_OP
};

std::string_view ttir_of(BlockOp op);
std::string_view triton_of(BlockOp op);
int arity_of(BlockOp op);

inline bool is_comparison(BlockOp op) { return op >= BlockOp::kEqF && op <= BlockOp::kGeI; }
inline bool is_conversion(BlockOp op) { return op >= BlockOp::kExtF; }

}  // namespace jumar::tile::npu
