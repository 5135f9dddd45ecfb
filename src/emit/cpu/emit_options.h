// What kernels are written for, as far as writing them depends on it.
#pragma once

#include "emit/cpu/lowprec.h"
#include "emit/cpu/vecmath.h"

namespace jumar::emit::cpu {

struct EmitOptions {
  Accuracy accuracy = Accuracy::kDefault;
  F16Unit f16 = F16Unit::kNative;
};

}  // namespace jumar::emit::cpu
