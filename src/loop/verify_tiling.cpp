#include <bit>

#include "loop/verify_nest.h"

namespace jumar::loop {
namespace {

using sym::Expr;

bool has_axis(const std::vector<Axis>& axes, Expr symbol) {
  for (const Axis& axis : axes)
    if (axis.symbol == symbol) return true;
  return false;
}

Status verify_vector(const Known& known, const std::string& where, const std::vector<Axis>& axes, Expr axis,
                     uint32_t lanes, const std::vector<Expr>& cuts) {
  if (axis && !has_axis(axes, axis)) return broken(where, "the tiling's vector axis is none of its axes");
  if (!axis && lanes != 1) return broken(where, "the tiling has lanes and no vector axis");
  if (!axis && !cuts.empty()) return broken(where, "the tiling has cuts and no vector axis");
  if (!std::has_single_bit(lanes)) return broken(where, fmt::format("{} lanes are no power of 2", lanes));
  for (Expr cut : cuts) JUMAR_RETURN_IF_ERROR(verify_size(known, where, "a cut", cut));
  return {};
}

Status verify_stage(const Known& known, const std::string& where, const Nest& nest, size_t s) {
  const StageTiling& t = nest.tiling->stages[s];
  JUMAR_RETURN_IF_ERROR(verify_vector(known, where, nest.stages[s].inner, t.vector_axis, t.lanes, t.cuts));
  if (t.vector_axis && nest.tiling->vector_axis)
    return broken(where, "a nest with a kept vector axis has a stage with another");
  if (t.accumulators < 1) return broken(where, "the tiling has no accumulator");
  return {};
}

}  // namespace

Status verify_tiling(const Known& known, const std::string& where, const Nest& nest) {
  if (!nest.tiling) return {};
  const Tiling& t = *nest.tiling;
  JUMAR_RETURN_IF_ERROR(verify_vector(known, where, nest.kept, t.vector_axis, t.lanes, t.cuts));
  if (t.parallel > nest.kept.size())
    return broken(where, fmt::format("{} axes are parallel, {} are kept", t.parallel, nest.kept.size()));
  if (t.block_elems < 0 || (t.block_elems > 0 && t.parallel == nest.kept.size()))
    return broken(where, fmt::format("there is no axis to cut into blocks of {}", t.block_elems));
  if (t.registers < 1) return broken(where, "the tiling has no register");
  if (t.grain < 1) return broken(where, fmt::format("the grain is {}", t.grain));
  if (t.transpose_axis && (!has_axis(nest.kept, t.transpose_axis) || t.transpose_axis == t.vector_axis))
    return broken(where, "the transposed axis is no kept axis beside the vector axis");
  if (t.stages.size() != nest.stages.size())
    return broken(where,
                  fmt::format("{} stages are tiled, there are {}", t.stages.size(), nest.stages.size()));
  for (size_t s = 0; s < t.stages.size(); ++s)
    JUMAR_RETURN_IF_ERROR(verify_stage(known, fmt::format("{}, stage {}", where, s), nest, s));
  return {};
}

}  // namespace jumar::loop
