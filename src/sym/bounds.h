// Interval arithmetic over expressions, with memory. For the files of src/sym only.
#pragma once

#include <unordered_map>

#include "sym/facts.h"

namespace jumar::sym {

class Bounds {
 public:
  explicit Bounds(const Facts& facts) : facts_(facts) {}
  Range operator()(Expr e);

 private:
  Range of_symbol(Expr symbol);
  Range of_operator(Expr e);

  const Facts& facts_;
  std::unordered_map<Expr, Range> known_;
};

}  // namespace jumar::sym
