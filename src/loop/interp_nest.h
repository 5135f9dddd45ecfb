// Runs one nest of a kernel; the rest of a program is run by interp.cpp.
#pragma once

#include <functional>

#include "loop/interp_memory.h"

namespace jumar::loop {

struct NestContext {
  const Program& program;
  // Values of the size symbols.
  const std::unordered_map<sym::Expr, int64_t>& symbols;
  std::function<Result<BufferMemory*>(BufferId)> memory;
  std::function<double(NumberId)> number;  // bools as 0 and 1
  std::string kernel;
  size_t nest_index = 0;
  uint64_t kernel_run = 0;
  uint64_t first_point = 0;  // points of earlier nests of the kernel
};

// Returns the number of kept points.
Result<uint64_t> run_nest(const NestContext& context, const Nest& nest);

// A fold over points: sums and products of floats in double, everything else in its type.
class Fold {
 public:
  Fold(ReduceKind kind, ir::DType type) : kind_(kind), type_(type) {}
  void reset();
  void take(Scalar value, int64_t position);
  // The identity where nothing was taken; nothing for an arg-reduction over nothing.
  std::optional<Scalar> result() const;

 private:
  ReduceKind kind_;
  ir::DType type_;
  Scalar value_;
  double wide_ = 0;
  int64_t position_ = 0;
  bool is_empty_ = true;
};

}  // namespace jumar::loop
