// The arguments of a block program, collected while it is built.
#pragma once

#include <unordered_map>

#include "tile/npu/block.h"

namespace jumar::tile::npu {

class Arguments {
 public:
  Arguments(const loop::Program& program, BlockKernel& kernel);

  uint32_t buffer(loop::BufferId id);
  uint32_t number(loop::NumberId id);
  // `e` with every largest part that is made of sizes alone replaced by an argument.
  Expr lifted(Expr e);
  // An expression of sizes and of vector_cores() as an argument, or itself if it is constant.
  Expr argument(Expr sizes);

  // Sizes are taken to fit 31 bits: what launches a kernel checks it.
  const sym::Facts& size_facts() const { return size_facts_; }

 private:
  bool is_size(Expr e) const;

  sym::Context& cx_;
  BlockKernel& kernel_;
  sym::Facts size_facts_;
  std::unordered_map<Expr, Expr> known_;
};

}  // namespace jumar::tile::npu
