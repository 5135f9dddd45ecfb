// Walks over block programs.
#pragma once

#include <functional>
#include <set>

#include "tile/npu/block.h"

namespace jumar::tile::npu {

// In program order; loops are entered.
void for_each_inst(const Region& region, const std::function<void(const BlockInst&)>& visit);

// Values that a kernel computes with; what only says which points an access takes is none of them.
std::set<BlockId> data_values(const BlockNest& nest);

}  // namespace jumar::tile::npu
