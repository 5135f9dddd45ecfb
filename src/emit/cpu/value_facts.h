// What the emitter may know about the values of a nest without looking at data.
#pragma once

#include <vector>

#include "loop/loop.h"

namespace jumar::emit::cpu {

class ValueFacts {
 public:
  explicit ValueFacts(const loop::Nest& nest);

  // Whether the value is never above zero (NaN allowed): x - m where m is the maximum of the same x over the
  // same point, as in softmax.
  bool is_nonpositive(loop::ValueId id) const { return nonpositive_[id.index()]; }

 private:
  struct Definition {
    const loop::Inst* inst = nullptr;
    const loop::Stage* stage = nullptr;
  };

  bool is_difference_to_maximum(loop::ValueId id) const;
  // Whether two values are computed alike at the points where their stages' inner axes agree.
  bool same(loop::ValueId a, loop::ValueId b, int depth) const;
  bool never_stored(loop::BufferId buffer) const;
  // The value that a load.local reads, where one store of an earlier stage at the same address makes it.
  loop::ValueId stored_local(loop::ValueId id) const;

  const loop::Nest& nest_;
  std::vector<Definition> definitions_;
  std::vector<bool> nonpositive_;
};

}  // namespace jumar::emit::cpu
