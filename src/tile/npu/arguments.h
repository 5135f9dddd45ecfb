// The arguments of a block program, collected while it is built.
#pragma once

#include <unordered_map>

#include "tile/npu/block.h"

namespace jumar::tile::npu {

// Less than 2^31 by more than a block, so that the end of the last block fits.
constexpr int64_t kMostExtent = INT32_MAX - (1 << 20);

class Arguments {
 public:
  Arguments(const loop::Program& program, BlockKernel& kernel);

  uint32_t buffer(loop::BufferId id);
  uint32_t number(loop::NumberId id);
  // `e` with every largest part that is made of sizes alone replaced by an argument.
  Expr lifted(Expr e);
  // An expression of sizes and of vector_cores() as an argument, or itself if it is constant.
  Expr argument(Expr sizes);
  // The same for the extent of an axis, or a count of blocks: what launches the kernel checks that it is at
  // most kMostExtent, so that it is computed with in 32 bits.
  Expr extent(Expr sizes);

  // Of size symbols; a dimension is taken to have no more than kMostExtent elements.
  const sym::Facts& size_facts() const { return size_facts_; }

 private:
  bool is_size(Expr e) const;
  Expr made(Expr sizes, bool is_extent);

  sym::Context& cx_;
  BlockKernel& kernel_;
  sym::Facts size_facts_;
  std::unordered_map<Expr, Expr> known_;
};

}  // namespace jumar::tile::npu
