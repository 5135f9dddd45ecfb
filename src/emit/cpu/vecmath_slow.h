// The out-of-line slow path: functions of the module that walk over a few lanes in memory, for arguments that
// vector code cannot take, and the branch that enters them.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <functional>
#include <vector>

#include "emit/cpu/vecmath_ops.h"

namespace jumar::emit::cpu {

// Emits "if any lane of `condition` is set, replace `values` by what `slow` returns". `slow` is emitted in a
// block of its own that is marked unlikely. Afterwards the builder stands in a new block.
std::vector<llvm::Value*> unless_any_lane(llvm::IRBuilder<>& builder, llvm::Value* condition,
                                          llvm::ArrayRef<llvm::Value*> values,
                                          const std::function<std::vector<llvm::Value*>()>& slow);

// An angle as quadrant * pi/2 + r with |r| <= pi/4. Only the two low bits of `quadrant` count.
struct Angle {
  llvm::Value* r;
  llvm::Value* quadrant;  // an integer as wide as the float
};

// Reduction of large arguments (Payne and Hanek): x times the digits of 2/pi that matter, in 256-bit
// integers. Lanes with |x| > bound are reduced, infinities to NaN; the other lanes keep what `fast` holds.
// The bound must be 2^10 or more.
Angle reduced_by_half_pi_slow(VecOps& o, llvm::Value* x, Angle fast, double bound);

// |x| mod |y| for the lanes with finite x and y != 0; the other lanes keep what `fast` holds.
llvm::Value* fmod_slow(VecOps& o, llvm::Value* x, llvm::Value* y, llvm::Value* fast);

}  // namespace jumar::emit::cpu
