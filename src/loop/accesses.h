// Which memory an item of a program touches.
//
//   call aten.mm.default(%x, %wt) -> (%t)     with %wt a view of %w: reads {%w, %x}, writes {%t}
#pragma once

#include <set>

#include "loop/loop.h"

namespace jumar::loop {

// The buffer that holds a buffer's elements: its base, if it is a view.
BufferId storage_of(const Program& program, BufferId buffer);

// Buffers with storage, views resolved. A buffer may be among both.
struct Accesses {
  std::set<BufferId> reads;
  std::set<BufferId> writes;
};
Accesses accesses_of(const Program& program, const Item& item);

}  // namespace jumar::loop
