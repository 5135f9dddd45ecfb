// Blocks of which each element takes a whole unit of alignment.
//
// Elements that lie apart along the densest axis of an access are loaded one to a unit of 32 bytes. The
// toolchain then brings them together in a second block, unless the block is repeated along other axes: then
// all that is computed with it stays spread out as well, and so does what is stored in steps.
#pragma once

#include <set>

#include "tile/npu/block.h"

namespace jumar::tile::npu {

// Whether an access moves in steps along its densest dimension.
bool is_stepped(const BlockNest& nest, const BlockInst& access);

// Of compilers that make no functions of vector code.
std::set<BlockId> spread_blocks(const BlockNest& nest);

}  // namespace jumar::tile::npu
