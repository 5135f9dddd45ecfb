// Writes one nest of a block program into a Triton function.
//
// Constants and broadcasts have no lines of their own: an operator takes `0.5` and `mean[:, None]` and
// broadcasts them itself where another operand gives the result its shape.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "emit/triton/source_writer.h"
#include "tile/npu/layout.h"

namespace jumar::emit::triton {

// What arguments are called.
struct ArgumentNames {
  std::vector<std::string> buffers;
  std::vector<std::string> numbers;
};

class NestWriter {
 public:
  NestWriter(const loop::Program& program, const tile::npu::BlockKernel& kernel,
             const tile::npu::BlockNest& nest, const ArgumentNames& arguments, SourceWriter& out);
  void write();

 private:
  using BlockId = tile::npu::BlockId;
  using BlockInst = tile::npu::BlockInst;
  using Access = tile::npu::Access;
  using Dims = tile::npu::Dims;

  void write_axes();
  void write(const tile::npu::Region& region);
  void write(const BlockInst& inst);
  void write(const tile::npu::BlockLoop& loop);
  void write_store(const BlockInst& inst);

  // What stands right of the equals sign.
  std::string made(const BlockInst& inst);
  std::string op(const BlockInst& inst);
  std::string load(const BlockInst& inst);
  std::string slice(const BlockInst& inst);
  std::string single(const std::string& text);
  std::string fold(const BlockInst& inst);

  // A value as a block of its own shape.
  std::string full(BlockId id);
  // The same, along more dimensions of length one, if that is how the value comes; its shape then.
  struct Operand {
    std::string text;
    std::vector<int64_t> shape;
    bool is_full = true;
  };
  Operand operand(BlockId id);
  // An operand that may be a Python number, which takes the type of what it meets.
  std::optional<std::string> literal(BlockId id) const;
  std::vector<std::string> operands(const BlockInst& inst);
  std::string expanded(const std::string& name, const tile::npu::Spread& spread) const;
  std::string turned_round(const Access& access, const std::string& name, const Dims& dims);
  std::string turned(const std::string& name, const Dims& from, const Dims& to) const;

  // Places: expressions of axes along the dimensions of a tensor.
  Text index(Expr e, const Dims& dims, int bits);
  Text predicate(Expr e, const Dims& dims);
  Text axis_range(uint32_t axis, const Dims& dims, int bits) const;
  Text in_order(BlockId id, const Dims& dims);
  Text mask(BlockId id, const Dims& dims);
  std::string pointers(const Access& access, const Dims& dims);

  std::vector<int64_t> shape(BlockId id) const { return layout_.shape(layout_.dims_of(id)); }

  const loop::Program& program_;
  const tile::npu::BlockKernel& kernel_;
  const tile::npu::BlockNest& nest_;
  const tile::npu::NestLayout layout_;
  const ArgumentNames& arguments_;
  SourceWriter& out_;
  std::vector<std::string> ranges_;  // of axes: 0, 1, ... size - 1
  std::unordered_map<BlockId, std::string> names_;
};

}  // namespace jumar::emit::triton
