// Writes one nest of a block program into a TTIR function.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "emit/ttir/function_writer.h"
#include "tile/npu/layout.h"

namespace jumar::emit::ttir {

class NestWriter {
 public:
  NestWriter(const loop::Program& program, const tile::npu::BlockKernel& kernel,
             const tile::npu::BlockNest& nest, FunctionWriter& out);
  void write();

 private:
  using BlockId = tile::npu::BlockId;
  using Dims = tile::npu::Dims;

  void write(const tile::npu::Region& region);
  void write(const tile::npu::BlockInst& inst);
  void write(const tile::npu::BlockLoop& loop);
  void write_op(const tile::npu::BlockInst& inst);
  void write_load(const tile::npu::BlockInst& inst);
  void write_slice(const tile::npu::BlockInst& inst);
  void write_store(const tile::npu::BlockInst& inst);
  // Says that one buffer is enough for a block that a loop loads or stores.
  void write_single(const std::string& block, const std::string& type);
  void write_reduce(const tile::npu::BlockInst& inst);

  // A value in the dimensions of a tensor: its own order, unless it is cheap to make it in another.
  std::string value(BlockId id) const { return names_.at(id); }
  std::string in_order(BlockId id, const Dims& dims);
  std::string turned_round(const tile::npu::Access& access, const std::string& name, const Dims& dims,
                           const std::string& element);
  std::string turned(const std::string& name, const Dims& from, const Dims& to, const std::string& element);
  std::string broadcast(const std::string& name, const Dims& from, const Dims& to,
                        const std::string& element);

  // An expression along some of the dimensions; the others have length 1.
  struct Partial {
    std::string name;
    std::vector<int64_t> shape;  // empty: a scalar
  };
  Partial index(Expr e, const Dims& dims, int bits);
  Partial combined(const char* op, const Partial& a, const Partial& b, int bits, bool is_comparison = false);
  Partial of_shape(const Partial& value, const std::vector<int64_t>& shape, const std::string& element);
  std::string predicate(Expr e, const Dims& dims);
  std::string pointers(const tile::npu::Access& access, const Dims& dims);
  std::string full(const Partial& value, const Dims& dims, const std::string& element);

  Partial range(uint32_t axis, const Dims& dims, int bits);
  Partial extended(const Partial& value);

  std::vector<int64_t> shape(const Dims& dims) const { return layout_.shape(dims); }
  std::string type(BlockId id) const;
  std::string pointer_element(const tile::npu::Access& access) const;

  const loop::Program& program_;
  const tile::npu::BlockKernel& kernel_;
  const tile::npu::BlockNest& nest_;
  const tile::npu::NestLayout layout_;
  FunctionWriter& out_;
  std::unordered_map<BlockId, std::string> names_;
};

}  // namespace jumar::emit::ttir
