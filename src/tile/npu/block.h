// Block programs: a tiled kernel for an NPU, decided in all its parts, before it is written down as TTIR or
// as Triton source.
//
//   nest (i0 in 1024) { stage (r0 in 768) { load %x[768*i0 + r0] ... reduce sum } ... store %y[768*i0 + r1] }
//   ->
//   axes x0 (i0, 8 of 1024, first 8*t0), r0 (768 of 768)
//   for t0 in [pid*n0 + min(pid, n1), (pid + 1)*n0 + min(pid + 1, n1)):
//     %0 = load %x {x0, r0};  %1 = reduce sum %0 along r0;  ...  store %y {x0, r0}, %7
//
// A value is a scalar or a block: a tensor over some of the nest's axes, in the order of Nest::axes. An axis
// covers `size` neighbouring points from `first` on; where `size` does not divide the extent the last block
// reaches beyond it, and loads and stores are masked. Axes of which each block holds one point may be left
// out of the blocks altogether (`is_scalar`): they only move addresses.
//
// Accesses are strided blocks: an offset and one stride per axis. The dimensions of a load are in memory
// order; where that is not the order of the axes the block is turned after it. Scalars (offsets, bounds of
// loops) are sym expressions of loop variables, of the program's number `pid`, of kernel arguments `n0, n1,
// ...` and of scalar values.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "loop/loop.h"
#include "tile/npu/block_ops.h"

namespace jumar::tile::npu {

using sym::Expr;

using BlockId = Id<struct BlockTag>;  // a value of a nest

// A set of axes by their position: bit k is Nest::axes[k].
using AxisSet = uint32_t;

struct BlockAxis {
  Expr symbol;  // of the loop nest; first + 0, 1, ... size - 1
  Expr extent;
  int64_t size = 1;
  Expr first;              // over loop variables and arguments
  bool is_exact = false;   // every block is full
  bool is_scalar = false;  // size 1, and not a dimension of blocks
  bool is_inner = false;   // an inner axis of stages
};

struct BlockType {
  ir::DType dtype = ir::DType::kF32;
  AxisSet axes = 0;
  bool operator==(const BlockType&) const = default;
};

// One access to memory.
struct Access {
  uint32_t buffer = 0;  // position in Kernel::buffers
  // Of the block's first element: over loop variables, arguments and scalar values.
  Expr offset;
  struct Dim {
    uint32_t axis = 0;
    Expr stride;
  };
  std::vector<Dim> dims;  // in memory order: greatest stride first
  // The last of them runs against its axis: the block lies in memory the other way round, and is turned on
  // chip.
  bool is_backward = false;
  BlockId index;  // a block of integers that is added to the address of each element
  BlockId mask;   // a block of bools; points where it is false are left out
};

enum class BlockKind : uint8_t {
  kConst,      // constant
  kIndex,      // `expr` over axes, as i32 or i64; a predicate as bool
  kParam,      // argument number `number` as f32 (bool: as i1)
  kOp,         // op(operands)
  kBroadcast,  // operands[0] repeated along more axes
  kLoad,       // access; where left out `other`, or anything if that is empty
  kStore,      // access <- operands[0], by `mode`
  kReduce,     // fold of operands[0] along `axis`, which goes away
  kScan,       // running fold along `axis`
  kSlice,      // along `axis` the points `expr`, expr + step, ...; they are those of `to_axis`
};

struct BlockInst {
  BlockKind kind = BlockKind::kConst;
  BlockOp op = BlockOp::kAddF;
  BlockId result;  // invalid for stores
  std::array<BlockId, 3> operands{};
  loop::Constant constant{0};  // of kConst; of a load where it leaves out points
  bool has_other = false;
  // Of loads and stores in loops: one buffer holds the block, where others have one for each of two rounds
  // (transfers.h).
  bool is_single = false;
  Expr expr;
  uint32_t number = 0;
  Access access;
  loop::StoreMode mode = loop::StoreMode::kSet;
  loop::ReduceKind reduce = loop::ReduceKind::kSum;
  loop::ScanKind scan = loop::ScanKind::kSum;
  uint32_t axis = 0;
  uint32_t to_axis = 0;
  int64_t step = 1;
};

struct BlockLoop;
using BlockNode = std::variant<BlockInst, std::unique_ptr<BlockLoop>>;
using Region = std::vector<BlockNode>;

// for variable in [begin, end)
struct BlockLoop {
  Expr variable;
  Expr begin;
  Expr end;
  struct Carried {
    BlockId init;
    BlockId inside;  // the value in the body
    BlockId next;    // what the body leaves for the next round
    BlockId result;  // the value after the loop
  };
  std::vector<Carried> carried;
  Region body;
};

struct BlockNest {
  std::vector<BlockAxis> axes;
  // Ids of a kernel's nests differ, since expressions name scalar values by them: the rows below
  // `first_value` are those of earlier nests, and stand for nothing here.
  IdTable<BlockId, BlockType> values;
  uint32_t first_value = 0;
  Region body;
  Expr tasks;  // over size symbols: pieces of work that are shared out to the cores
};

// An integer argument: an expression of size symbols and of vector_cores().
struct IntArgument {
  Expr symbol;  // n0, n1, ...
  Expr value;
  bool is_wide = false;   // i64, else i32
  bool must_fit = false;  // it may be more than kMostExtent (arguments.h), and must not be
};

struct BlockKernel {
  std::string name;
  std::vector<loop::BufferId> buffers;  // pointers, in order
  std::vector<IntArgument> ints;
  std::vector<loop::NumberId> numbers;  // as f32
  std::vector<BlockNest> nests;
  Expr grid;  // programs: an expression of size symbols and of vector_cores()
  bool has_atomics = false;
  // Ranges of arguments, loop variables and scalar values of all nests.
  sym::Facts facts;
};

// The number of vector cores that a launch may use, and the number of a program: symbols.
Expr vector_cores(sym::Context& cx);
Expr program_id(sym::Context& cx);
// A scalar value as part of an expression.
Expr scalar_symbol(sym::Context& cx, BlockId value);
BlockId value_of_scalar(Expr symbol);
// `e` at the first point of every block: over loop variables, arguments and scalar values.
Expr at_first(sym::Context& cx, const BlockNest& nest, Expr e);

// Elements of a block, and its dimensions.
std::vector<int64_t> shape_of(const BlockNest& nest, AxisSet axes);
int64_t elements_of(const BlockNest& nest, AxisSet axes);

}  // namespace jumar::tile::npu
