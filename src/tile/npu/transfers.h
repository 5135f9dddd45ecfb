// How many buffers the transfers of a round take.
//
// The toolchain gives each block that a loop loads or stores two buffers, so that the transfers of one round
// run while another one computes. Where a round turns a block, its memory then holds the block as it lay
// twice, turned twice since it is stored, and the other operand twice: six blocks for x.T + y. Two of these
// buffers bring nothing where the round loads enough else. The block that is turned is free as soon as it is,
// which is before the round's other loads are done; and what is stored has left before the next round's loads
// are, where the round loads at least twice as much. With one buffer each four blocks are left, so that they
// can be larger and there are fewer rounds. Where no core does a second round one buffer is enough for all.
#pragma once

#include "tile/npu/block.h"

namespace jumar::tile::npu {

// Marks what one buffer is enough for (BlockInst::is_single). `is_one_round`: of the loop over tasks.
void mark_single_buffers(BlockNest& nest, bool is_one_round);

}  // namespace jumar::tile::npu
