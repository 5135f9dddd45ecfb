// Optimized HIVM as a flat program of scalar steps: what is left of a kernel when only its control flow and
// the sizes of what it moves matter.
//
//   JUMAR_ASSIGN(const HivmProgram program, read_hivm(text));
//   for (const HivmFunction& function : program.functions) if (function.is_entry) ...
//
// The module is the last text that the compiler writes: scalar arithmetic, loops, views of memory, and calls
// of a device library. A2 and A3 print structured control flow, A5 prints blocks and outlines vector code
// into functions; both become jumps here. Every value has a slot, constants included, so an operand is a
// slot. Names of operations that are neither understood nor known to be harmless are kept in `unknown`.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "driver/toolchain/affine_map.h"
#include "support/result.h"

namespace jumar::driver::toolchain {

enum class HivmOp : uint8_t {
  // Numbers.
  kAdd,
  kSub,
  kMul,
  kDivS,
  kDivU,
  kFloorDiv,
  kCeilDiv,
  kRemS,
  kRemU,
  kAnd,
  kOr,
  kXor,
  kShl,
  kShrS,
  kShrU,
  kMinS,
  kMinU,
  kMaxS,
  kMaxU,
  kCompare,     // `number` is a HivmPredicate
  kSelect,      // of numbers and views
  kZeroExtend,  // from `number` bits
  kSignExtend,  // from `number` bits
  kAffine,      // `index` is a map; `number` is a HivmPick
  kUnknown,     // results that depend on data, or that nobody needs
  kBlockIndex,
  kSubBlockIndex,
  // Views of memory. `index` is the type of the result.
  kCopy,
  kRetype,       // the view of the operand with another element type or memory
  kPointer,      // a buffer: the first `number` operands are addresses, then its dynamic sizes
  kTable,        // a constant of the module
  kReinterpret,  // operands: source, sizes, strides
  kSubview,      // operands: source, sizes, strides; `number` has a bit for each dimension that is kept
  kView,         // operands: source, sizes of dynamic dimensions
  kCollapse,     // `groups`
  kExpand,       // operands: source, sizes; `groups`
  kMetadata,     // results: base, offset, sizes, strides
  kDim,          // operands: view, dimension; the size
  // What costs.
  kScalarLoad,  // operand: the view
  kScalarStore,
  kCall,    // `index` is a HivmCallee
  kVector,  // `index` is a name, `number` the lanes
  kBarrier,
  kSetFlag,
  kWaitFlag,
  kBlockSync,  // between cores
  // Control. Targets are step numbers.
  kMove,    // all results at once
  kJump,    // to `target`; `number` is 1 when the jump closes a loop that handles elements one by one
  kBranch,  // to `target` when the operand is not 0, else on
  kReturn,
};

enum class HivmPredicate : uint8_t { kEq, kNe, kSlt, kSle, kSgt, kSge, kUlt, kUle, kUgt, kUge };
enum class HivmPick : uint8_t { kFirst, kMin, kMax };
enum class HivmSpace : uint8_t { kNone, kGm, kUb, kOther };

inline constexpr int kMostDims = 8;
inline constexpr size_t kMostMapParameters = 16;
inline constexpr int64_t kDynamic = INT64_MIN;

struct HivmType {
  enum class Kind : uint8_t { kOther, kInt, kFloat, kMemref };
  Kind kind = Kind::kOther;
  int bits = 0;  // of the number, or of an element
  HivmSpace space = HivmSpace::kNone;
  std::vector<int64_t> sizes;    // kDynamic where they are not constant
  std::vector<int64_t> strides;  // empty where the type does not tell
};

struct HivmStep {
  HivmOp op = HivmOp::kUnknown;
  int bits = 64;  // of the number that results
  std::vector<uint32_t> results;
  std::vector<uint32_t> operands;
  int64_t number = 0;
  uint32_t index = 0;
  uint32_t target = 0;
  std::vector<std::vector<int>> groups;
};

struct HivmFunction {
  enum class Core : uint8_t { kVector, kCube };
  std::string name;
  std::string host_kind;  // of a function for the host: "infer_workspace_shape_function", ...
  Core core = Core::kVector;
  bool is_entry = false;
  bool is_vector_code = false;  // outlined: its steps are vector instructions
  bool is_part_of_mix = false;
  // The same arguments have the same effect, whichever block runs it; only outlined code is looked at.
  bool is_repeatable = false;
  std::vector<uint32_t> arguments;
  std::vector<HivmType> argument_types;
  std::vector<HivmStep> steps;
  uint32_t slots = 0;
  std::vector<std::pair<uint32_t, int64_t>> constants;
};

// What a call calls: a function of the program, or one of the device library.
struct HivmCallee {
  std::string name;
  int function = -1;
};

struct HivmProgram {
  std::vector<HivmFunction> functions;
  std::vector<AffineMap> maps;
  std::vector<HivmType> types;
  std::vector<HivmCallee> callees;
  std::vector<std::string> names;          // of vector instructions
  std::map<std::string, int64_t> unknown;  // operations, with how often they occur
};

// The file's name is for diagnostics.
Result<HivmProgram> read_hivm(std::string_view text, const std::string& file = "");

}  // namespace jumar::driver::toolchain
