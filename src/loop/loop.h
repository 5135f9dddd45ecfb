// Loop IR: a program of kernels and calls over flat buffers. Grammar, semantics and one example of every
// construct: docs/loop.md.
//
//   loop @main symbols(s0 in [2, 4096]) {
//     %x: f32[s0, 256] = input 0
//     %y: f32[s0, 256] = output
//     kernel @k0 {
//       nest (i0 in s0) {
//         stage (r0 in 256) {
//           %0: f32 = load %x[256*i0 + r0]
//           %1: f32 = reduce max %0
//         }
//         stage (r1 in 256) {
//           %2: f32 = load %x[256*i0 + r1]
//           %3: f32 = sub %2, %1
//           store %y[256*i0 + r1], %3
//         }
//       }
//     }
//     return %y
//   }
//
// The idea: a nest runs its stages, in order, once for every point of its kept axes; a stage runs its body
// for every point of its inner axes. Kept points are independent of each other (unless a store collides,
// which its mode must allow), so they may run in any order and at once; stages of one point run in order. A
// `reduce` folds a body value over the stage's inner axes and is known to the later stages of the point.
// Values of a stage without inner axes are known to later stages too; any other value stays in its stage.
// What a later stage needs per element is recomputed, or kept in a `local` buffer, which lives as long as one
// kept point.
//
// Addresses are flat: elements from the buffer's first element, a sym expression of axes, sizes and loaded
// integers (`%7`). A view is therefore only another address; permutes, slices and broadcasts have no loops of
// their own, and every layout question is arithmetic.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ir/arg.h"
#include "ir/layout.h"
#include "loop/ops.h"
#include "loop/tiling.h"
#include "support/id.h"
#include "sym/facts.h"

namespace jumar::loop {

using BufferId = Id<struct BufferTag>;  // a tensor of the program; a kernel touches only those with storage
using NumberId = Id<struct NumberTag>;  // a host float or bool
using ValueId = Id<struct ScalarTag>;   // a scalar of a nest's bodies

enum class Storage : uint8_t {
  kInput,      // index: position among the call's inputs
  kParameter,  // as kInput; the same tensor from call to call
  kTemp,       // made and used inside the program
  kOutput,     // fresh memory that the program returns
  kResult,     // returned by a called op
  kView,       // base + offset elements; read by calls and returned, never touched by kernels
};

struct Buffer {
  std::string name;
  ir::TensorType type;
  Storage storage = Storage::kTemp;
  uint32_t index = 0;  // of an input
  BufferId base;       // of a view: a buffer that is no view
  sym::Expr offset;    // of a view, in elements
};

enum class NumberKind : uint8_t { kFloat, kBool };
struct Number {
  std::string name;
  NumberKind kind = NumberKind::kFloat;
  std::optional<uint32_t> input;
};

struct Axis {
  sym::Expr symbol;  // kAxis; unique in its nest
  sym::Expr extent;
};

enum class InstKind : uint8_t {
  kConst,       // constant
  kIndex,       // the value of `address` as an i64, or of a predicate as a bool
  kParam,       // the host number `number`, as f64 (floats) or bool
  kOp,          // op(operands)
  kLoad,        // buffer[address]; where `guard` is given and false: `constant`, and memory is not touched
  kStore,       // buffer[address] <- operands[0], by `mode`; nothing where `guard` is false
  kLoadLocal,   // local[address]
  kStoreLocal,  // local[address] <- operands[0]
  kReduce,      // fold of operands[0] over the inner axes; arg-reductions: operands[1] is the i64 to return
  kScan,        // running fold of operands[0] along inner axis `axis`, this point included
  kWrapIndex,   // operands[0] (i64), plus `address` (a size) if negative; IndexError if not in [0, size)
  kCheckIndex,  // operands[0] (i64); IndexError if not in [0, address)
};

// Constants are kept as an integer for integer and bool types and as a double for floats.
union Constant {
  int64_t integer;
  double real;
};

struct Inst {
  InstKind kind = InstKind::kConst;
  ScalarOp op = ScalarOp::kAdd;
  ir::DType type = ir::DType::kF32;  // of the result; of the stored value for stores
  ReduceKind reduce = ReduceKind::kSum;
  ScanKind scan = ScanKind::kSum;
  StoreMode mode = StoreMode::kSet;
  std::array<ValueId, 3> operands{};
  BufferId buffer;
  uint32_t local = 0;  // index in Nest::locals
  NumberId number;
  sym::Expr address;
  sym::Expr guard;       // a predicate over axes and sizes; empty: always
  sym::Expr axis;        // of a scan
  Constant constant{0};  // of kConst; the value of a guarded load where the guard is false

  bool defines_value() const { return kind != InstKind::kStore && kind != InstKind::kStoreLocal; }
};

// Memory of one kept point: `elems` elements, a constant.
struct Local {
  ir::DType type = ir::DType::kF32;
  int64_t elems = 0;
};

struct Stage {
  std::vector<Axis> inner;  // outermost first; empty: the body runs once per kept point
  // (result, instruction), in order. The id of a store is invalid.
  struct Line {
    ValueId result;
    Inst inst;
  };
  std::vector<Line> body;
};

struct Nest {
  std::vector<Axis> kept;  // outermost first
  std::vector<Local> locals;
  std::vector<Stage> stages;
  uint32_t value_count = 0;  // ids are below this, each defined once
  std::optional<Tiling> tiling;
};

// One launch. Nests of a kernel don't depend on each other: they may run at once. In a phased kernel each
// begins when the one before it is done, and sees what the earlier ones stored.
struct Kernel {
  std::string name;
  bool is_phased = false;
  std::vector<Nest> nests;
  std::string origin;  // the graph nodes it computes; informative
};

using Arg = ir::BasicArg<BufferId, NumberId>;
using ArgList = Arg::List;

struct Call {
  std::string op;                  // aten.mm.default; python.<k>: a call that only Python can make
  ArgList args;                    // every argument of the schema, in order
  std::vector<BufferId> results;   // invalid where the op returns none or something that nobody uses
  std::vector<sym::Expr> defines;  // symbols for integer results
  std::string reason;              // why it is called and not lowered
};

// A host number from others ("scalar.mul").
struct HostOp {
  std::string op;
  ArgList args;
  NumberId result;
};

// Raises where the predicate is false.
struct Check {
  sym::Expr predicate;
  std::string message;
};

using Item = std::variant<Kernel, Call, HostOp, Check>;

struct SymbolInfo {
  sym::Expr symbol;
  sym::Range range;
  std::optional<int64_t> hint;
};

// A number that a call passes and that an expression promises.
struct IntInput {
  uint32_t index = 0;
  sym::Expr expr;
};

class Program {
 public:
  std::string name = "main";
  // Strict: every demote rounds, as eager does between two operators.
  bool strict = false;
  std::vector<SymbolInfo> symbols;
  IdTable<BufferId, Buffer> buffers;
  IdTable<NumberId, Number> numbers;
  std::vector<IntInput> int_inputs;
  uint32_t input_count = 0;
  std::vector<Item> items;  // in order
  ArgList outputs;
  std::vector<std::pair<std::string, ir::Schema>> schemas;  // of called ops, sorted by name

  explicit Program(std::shared_ptr<sym::Context> cx) : cx_(std::move(cx)) {}
  sym::Context& cx() const { return *cx_; }
  const std::shared_ptr<sym::Context>& shared_cx() const { return cx_; }
  // Ranges of the symbols.
  sym::Facts facts() const;

 private:
  std::shared_ptr<sym::Context> cx_;
};

// Renumbers values densely in order of definition and drops lines that nothing uses.
void tidy(Program& program, Nest& nest);

Result<Program> read_program(std::string_view text, const std::string& file = "<loop>");
std::string write_program(const Program& program);
std::string write_kernel(const Program& program, const Kernel& kernel);
// Nothing, or the first broken invariant (listed in docs/loop.md).
Status verify(const Program& program);

}  // namespace jumar::loop
