// Plan IR: the host program of one compiled graph. Grammar and semantics: docs/plan.md.
//
//   plan @main symbols(s0 in [2, 4096]) {
//     %n: int(s0) = input 0
//     %x: f32[s0, 256] = input 1
//     %w: f32[256, 256] = parameter 2
//     %t: f32[s0, 256] = arena
//     %y: f32[s0, 256] = output
//     %v: f32[256, 256]{1, 256} = view %w offset 0
//     bind s0 = size(%x, 0)
//     call aten.mm.default(%x, %v) into %t
//     launch @k0(%t, %y; s0) units 2*s0 grain 1
//     return %y
//   }
//
// A plan is a straight list of steps over tensors and host numbers. Tensors say where their memory comes
// from: a call's input, the call's arena (planned, shared by buffers whose lifetimes do not meet), a fresh
// output, a called op's result, or a view of another tensor. Sizes, offsets and launch arguments are sym
// expressions of the plan's symbols, which steps bind in order: from int inputs, sizes and strides of inputs,
// a device's cores, and results of calls.
//
// Executing it never reads or writes outside a tensor: inputs are checked against their types before the
// first step that reads memory, and arena sizes are computed from the same expressions as the launches.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ir/arg.h"
#include "ir/layout.h"
#include "support/id.h"
#include "sym/facts.h"

namespace jumar::plan {

using TensorId = Id<struct TensorTag>;
using NumberId = Id<struct NumberTag>;

enum class Storage : uint8_t {
  kInput,      // index: position among the call's inputs
  kParameter,  // as kInput; the same tensor from call to call
  kArena,
  kOutput,  // fresh memory that a result of the plan owns
  kResult,  // what a called op returned; its real strides are read after the call
  kView,    // base + offset elements
};

struct Tensor {
  std::string name;
  ir::TensorType type;
  Storage storage = Storage::kArena;
  uint32_t index = 0;  // of an input
  TensorId base;       // of a view
  sym::Expr offset;    // of a view, in elements of `type.dtype`
};

// A host number other than an integer expression: a float or bool that a step or an input defines.
enum class NumberKind : uint8_t { kFloat, kBool };
struct Number {
  std::string name;
  NumberKind kind = NumberKind::kFloat;
  std::optional<uint32_t> input;  // position among the call's inputs
};

// Int inputs: the position and the symbol or expression that its value must equal.
struct IntInput {
  uint32_t index = 0;
  sym::Expr expr;
  std::string name;  // "n<index>" in the text when empty
};

using NoneArg = ir::NoneArg;
using WordArg = ir::WordArg;
using Arg = ir::BasicArg<TensorId, NumberId>;
using ArgList = Arg::List;
using SchemaArg = ir::SchemaArg;
using Schema = ir::Schema;

// symbol = size(%t, k) | stride(%t, k) | item(%t) | floor(%f) | ceil(%f) | trunc(%f) | round(%f)
//        | cores(cube) | cores(vector)
//
// `symbol` may be an expression that is linear in one symbol not bound yet. Counts of cores are those that
// launches may use when the call begins.
struct BindStep {
  enum class Source : uint8_t {
    kSize,
    kStride,
    kItem,
    kFloor,
    kCeil,
    kTrunc,
    kRound,
    kCubeCores,
    kVectorCores
  } source = Source::kSize;
  sym::Expr symbol;
  TensorId tensor;  // of kSize, kStride and kItem
  uint32_t dim = 0;
  NumberId number;  // of the roundings
  bool of_tensor() const { return source <= Source::kItem; }
  bool of_number() const { return source >= Source::kFloor && source <= Source::kRound; }
  bool of_cores() const { return source >= Source::kCubeCores; }
};

// Work units of a launch that may run at once; they are split over threads, at least `grain` to a thread.
struct LaunchPhase {
  sym::Expr units;
  sym::Expr grain;
};

// A kernel launch: pointers in order, then 64-bit integers, then doubles. A phase begins when the one before
// it is done; units are counted on from phase to phase.
struct LaunchStep {
  std::string kernel;
  std::vector<TensorId> tensors;
  std::vector<sym::Expr> ints;
  std::vector<NumberId> floats;
  std::vector<LaunchPhase> phases;  // at least one
  // The kernel checks indices: one more pointer, to a status word block (docs/plan.md), follows the tensors.
  bool checks_indices = false;
};

// A called operator. With `into`, results are written to those tensors' memory: through the op's `.out` form
// where the runtime knows one, else copied. Without, `results` take what the op returns.
struct CallStep {
  std::string op;                 // aten.mm.default
  ArgList args;                   // every argument of the schema, in order
  std::vector<TensorId> results;  // kResult tensors, or arena/output tensors that are written (`into`)
  bool into = false;
  std::vector<sym::Expr> result_ints;  // symbols for int results (kItem-like ops)
};

// A call that only Python can make.
struct PythonStep {
  uint32_t callable = 0;
  ArgList args;
  std::vector<TensorId> results;
};

// A host number computed from others: add, sub, mul, truediv, pow, neg, min, max, sqrt, floor, ceil,
// to_float, ...
struct NumberStep {
  std::string op;
  ArgList args;
  NumberId result;
};

// Raises when the predicate is false.
struct CheckStep {
  sym::Expr predicate;
  std::string message;
};

using StepData = std::variant<BindStep, LaunchStep, CallStep, PythonStep, NumberStep, CheckStep>;
struct Step {
  StepData data;
  std::string origin;  // informative
};

struct SymbolInfo {
  sym::Expr symbol;
  sym::Range range;
};

class Plan {
 public:
  std::string name = "main";
  std::vector<SymbolInfo> symbols;
  IdTable<TensorId, Tensor> tensors;
  IdTable<NumberId, Number> numbers;
  std::vector<IntInput> int_inputs;
  uint32_t input_count = 0;
  std::vector<Step> steps;
  ArgList outputs;
  std::vector<std::pair<std::string, Schema>> schemas;  // of called ops, sorted by name

  explicit Plan(std::shared_ptr<sym::Context> cx) : cx_(std::move(cx)) {}
  sym::Context& cx() const { return *cx_; }
  const std::shared_ptr<sym::Context>& shared_cx() const { return cx_; }

 private:
  std::shared_ptr<sym::Context> cx_;
};

Result<Plan> read_plan(std::string_view text, const std::string& file = "<plan>");
std::string write_plan(const Plan& plan);
Status verify(const Plan& plan);

}  // namespace jumar::plan
