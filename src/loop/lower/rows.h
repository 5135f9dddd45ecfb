// The lowering functions that rows of loop/lower/aten.def name.
#pragma once

#include "loop/lower/lowering.h"

namespace jumar::loop::lowering {

#define JUMAR_LOWER(aten, function) Refusal function(Op& op);
#include "loop/lower/aten.def"
#undef JUMAR_LOWER

}  // namespace jumar::loop::lowering
