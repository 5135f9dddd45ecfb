// What there is to tell about a package, as rows: what `jumar inspect` prints as text or JSON.
//
//   JUMAR_ASSIGN(PackageView view, read_package(bytes, file));
//   JUMAR_ASSIGN(Inspection rows, inspection(view, {{"s0", 8}}));
//   rows.main.memory.map.peak_bytes
//
// Everything is computed from the plans, so it says what the package does and not what it claims.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "driver/memory_map.h"
#include "driver/package_view.h"

namespace jumar::driver {

// An argument or a result.
struct ValueRow {
  std::string name;
  std::string type;  // "f32[s0, 4]", "int(s0)", "float", "none"
  std::string note;  // "is argument 'x'"; mostly empty
};

struct SymbolRow {
  std::string name;
  sym::Range range;
  std::optional<int64_t> hint;
};

// Constants of one kind.
struct ConstantsRow {
  runtime::package::Constant::Kind kind = runtime::package::Constant::Kind::kParameter;
  size_t count = 0;
  uint64_t bytes = 0;  // of each; where storages are shared, more than there is in the file
};

struct CountedOp {
  std::string op;
  size_t count = 0;
};

// "aten.add.Tensor aten.add.Tensor aten.gelu.default": 2 of one, 1 of another.
std::vector<CountedOp> counted_ops(std::string_view origin);

// One code and the kernels of the program that it computes.
struct KernelRow {
  std::string name;
  std::vector<std::string> kernels;  // one for each launch
  size_t nests = 0;
  size_t stages = 0;
  size_t lines = 0;
  bool is_phased = false;
  bool checks_indices = false;
  std::vector<CountedOp> ops;           // of the graph, that the first of the kernels covers
  const loop::Kernel* first = nullptr;  // of the view
};

struct CallRow {
  std::string op;
  std::string reason;
  size_t count = 0;
};

struct BufferRow {
  std::string name;
  std::string type;
  MemoryBlock block;
};

struct MemoryRows {
  SizeValues sizes;
  std::vector<std::string> guessed;  // of these, sizes that have no hint
  MemoryMap map;
  std::string peak_at;  // what the step of the peak does
  std::vector<BufferRow> buffers;
  std::vector<BufferRow> unknown;  // without a block
};

struct PlanRows {
  size_t steps = 0;
  size_t launches = 0;
  std::vector<KernelRow> kernels;
  std::vector<CallRow> calls;
  MemoryRows memory;
};

// Whether the package runs where there is no libtorch, through include/jumar/package.h.
struct LibtorchRows {
  bool is_needed = false;
  std::string why;                 // of either answer
  std::vector<CallRow> obstacles;  // calls that oneDNN does not make
};

struct Inspection {
  std::vector<ValueRow> inputs;
  std::vector<SymbolRow> symbols;
  std::vector<ValueRow> results;
  std::vector<std::string> changes;  // what calls write to: "argument 'x'"
  std::vector<ConstantsRow> constants;
  PlanRows main;
  std::optional<PlanRows> folding;
  std::vector<ValueRow> folded;  // what is computed at load
  uint64_t folded_bytes = 0;
  LibtorchRows libtorch;
  std::vector<CallRow> proxied;  // calls that only torch's loader can make; empty in most packages
};

// `sizes` are used instead of hints. An "input" diagnostic names a size that there is not, or that is out of
// its range.
Result<Inspection> inspection(const PackageView& view, const SizeValues& sizes);

// Bytes of the constant's elements.
uint64_t constant_bytes(const runtime::package::Constant& constant);

}  // namespace jumar::driver
