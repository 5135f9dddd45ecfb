// Moving body lines between nests and axes.
#pragma once

#include <functional>
#include <unordered_map>
#include <vector>

#include "fuse/access.h"
#include "loop/loop.h"

namespace jumar::fuse {

// What axis symbols become.
using AxisMap = std::unordered_map<Expr, Expr>;

// Copies lines into another nest: axes by `axes`, values by `values` (filled with fresh ids of `target` for
// every line that defines one), expressions simplified by `facts` of the target.
class LineCopier {
 public:
  LineCopier(sym::Context& cx, loop::Nest& target, const AxisMap& axes, const sym::Facts& facts)
      : cx_(cx), target_(target), axes_(axes), simplify_(cx, facts) {}

  loop::Stage::Line copied(const loop::Stage::Line& line);
  Expr copied(Expr e);
  // Makes later copies use `to` where the source uses `from`.
  void map_value(loop::ValueId from, loop::ValueId to) { values_[from] = to; }
  loop::ValueId mapped(loop::ValueId from) const;

 private:
  sym::Context& cx_;
  loop::Nest& target_;
  const AxisMap& axes_;
  sym::Simplifier simplify_;
  std::unordered_map<loop::ValueId, loop::ValueId> values_;
};

// Replaces every use of a value in the nest's lines, addresses and guards included.
void replace_uses(sym::Context& cx, loop::Nest& nest,
                  const std::unordered_map<loop::ValueId, loop::ValueId>& replacements);

// Replaces an axis by hi*divisor + lo, in place of it: hi outside, lo inside.
void split_axis(loop::Program& program, loop::Nest& nest, const Cut& cut);

// Gives all axes of the nest names that no other nest has while merging, and the plain names i0.., r0.. after
// it.
void rename_axes_apart(sym::Context& cx, loop::Nest& nest, uint32_t& counter);
void rename_axes_plainly(loop::Program& program, loop::Nest& nest);

// Within each stage, lines that compute the same are one; loads only of buffers that the nest does not store.
// Integer values of merged lines are merged in addresses too.
void merge_equal_lines(loop::Program& program, loop::Nest& nest);

// The index of a kValue symbol.
loop::ValueId value_of_symbol(Expr symbol);

}  // namespace jumar::fuse
