#include <algorithm>

#include "emit/cpu/nest_emitter.h"
#include "support/check.h"
#include "tile/transpose.h"

namespace jumar::emit::cpu {

using loop::InstKind;
using loop::Stage;
using loop::Tail;
using sym::Expr;

namespace {

// Turns a square of rows: the off-diagonal blocks change places, at every block size.
void transpose(Builder& b, Values& rows) {
  const size_t width = rows.size();
  for (size_t half = width / 2; half >= 1; half /= 2) {
    llvm::SmallVector<int, 32> low;
    llvm::SmallVector<int, 32> high;
    for (size_t k = 0; k < width; ++k) {
      const bool first = (k & half) == 0;
      low.push_back(static_cast<int>(first ? k : width + k - half));
      high.push_back(static_cast<int>(first ? k + half : width + k));
    }
    for (size_t k = 0; k < width; ++k) {
      if (k & half) continue;
      Value* a = rows[k];
      Value* c = rows[k + half];
      rows[k] = b.CreateShuffleVector(a, c, low);
      rows[k + half] = b.CreateShuffleVector(a, c, high);
    }
  }
}

}  // namespace

// Tiles of lanes x lanes points of the last two kept axes, t and v. Transposed loads are brought into a
// square of memory first, so that the body, which runs once for each t of the tile, reads them as rows along
// v.
void NestEmitter::run_transposed(Value* lo, Value* hi) {
  const loop::Axis& t = nest_.kept[nest_.kept.size() - 2];
  const loop::Axis& v = nest_.kept.back();
  CHECK(t.symbol == tiling_.transpose_axis && v.symbol == tiling_.vector_axis && tiling_.cuts.empty() &&
            tiling_.registers == 1 && nest_.stages.size() == 1,
        "the transposed axis is not the one before the vector axis, or its nest is not pointwise");
  const int64_t lanes = tiling_.lanes;
  make_squares();
  Value* points = index_.value(v.extent);
  Value* full = tiling_.tail == Tail::kNone ? points : b_.CreateAnd(points, b_.i64(-lanes));
  const VectorAxis walk{v, {}, tiling_.lanes, tiling_.tail, {}};
  walk_ = &walk;
  const bool even = sym::proves_divisible(cx_, t.extent, cx_.constant(lanes), facts_);
  b_.loop(lo, hi, lanes, {}, [&](Value* t0, Values&) {
    Value* rows = even ? b_.i64(lanes) : b_.smin(b_.CreateSub(hi, t0), b_.i64(lanes));
    b_.loop(b_.i64(0), full, lanes, {}, [&](Value* v0, Values&) {
      fill_squares(t0, v0, rows, b_.i64(lanes));
      run_rows(t0, rows, [&] {
        set_lanes(v.symbol, v0, tiling_.lanes, nullptr, true);
        run_point();
      });
    });
    if (tiling_.tail == Tail::kNone) return;
    b_.loop(full, points, lanes, {},
            [&](Value* v0, Values&) { run_tail_tile(t0, v0, rows, b_.CreateSub(points, v0)); });
  });
  walk_ = nullptr;
}

void NestEmitter::run_tail_tile(Value* t0, Value* v0, Value* rows, Value* columns) {
  const Expr v = nest_.kept.back().symbol;
  fill_squares(t0, v0, rows, columns);
  run_rows(t0, rows, [&] {
    if (tiling_.tail == Tail::kMasked) {
      Value* numbers = b_.lane_numbers(b_.getInt64Ty(), tiling_.lanes);
      set_lanes(v, v0, tiling_.lanes, b_.CreateICmpSLT(numbers, b_.spread(columns, tiling_.lanes)), true);
      run_point();
      return;
    }
    Value* row = square_at_;
    b_.loop(b_.i64(0), columns, 1, {}, [&](Value* column, Values&) {
      square_at_ = b_.CreateAdd(row, column);
      set_lanes(v, b_.CreateAdd(v0, column), 1, nullptr, true);
      run_point();
    });
    square_at_ = row;
  });
}

// One round for each row of the squares.
void NestEmitter::run_rows(Value* t0, Value* rows, const std::function<void()>& body) {
  b_.loop(b_.i64(0), rows, 1, {}, [&](Value* row, Values&) {
    scope_.bindings[tiling_.transpose_axis] = {b_.CreateAdd(t0, row), b_.depth()};
    square_at_ = b_.CreateMul(row, b_.i64(tiling_.lanes));
    body();
    scope_.lanes = {};
  });
}

void NestEmitter::make_squares() {
  squares_.clear();
  for (const Stage::Line& line : nest_.stages[0].body) {
    if (!tile::is_transposed_load(cx_, line.inst, tiling_.vector_axis, tiling_.transpose_axis)) continue;
    Memory square;
    square.type = line.inst.type;
    square.base =
        b_.stack(memory_type(b_.getContext(), line.inst.type), uint64_t{tiling_.lanes} * tiling_.lanes);
    squares_.emplace(&line.inst, square);
  }
}

void NestEmitter::fill_squares(Value* t0, Value* v0, Value* rows, Value* columns) {
  const Expr v = nest_.kept.back().symbol;
  scope_.lanes = {};
  scope_.bindings[tiling_.transpose_axis] = {t0, b_.depth()};
  scope_.bindings[v] = {v0, b_.depth()};
  for (const Stage::Line& line : nest_.stages[0].body) {
    const auto found = squares_.find(&line.inst);
    if (found != squares_.end()) fill_square(line.inst, found->second, rows, columns);
  }
  scope_.bindings.erase(v);
}

// Whole squares through registers, parts of squares element by element.
void NestEmitter::fill_square(const loop::Inst& inst, const Memory& square, Value* rows, Value* columns) {
  const Memory& from = function_.buffer(inst.buffer);
  const unsigned lanes = tiling_.lanes;
  Value* corner = memory_.address(from, inst.address);
  Value* stride = index_.value(sym::linear_in(cx_, inst.address, tiling_.vector_axis)->coefficient);
  const auto at = [&](Value* column) { return b_.CreateMul(stride, column); };
  Value* whole = b_.CreateAnd(b_.CreateICmpEQ(rows, b_.i64(lanes)), b_.CreateICmpEQ(columns, b_.i64(lanes)));
  b_.when(whole, [&] {
    Values square_rows;
    for (unsigned k = 0; k < lanes; ++k)
      square_rows.push_back(memory_.load_at(from, corner, at(b_.i64(k)), lanes));
    transpose(b_, square_rows);
    for (unsigned k = 0; k < lanes; ++k)
      memory_.store_at(square, square.base, b_.i64(k * lanes), square_rows[k]);
  });
  b_.when(b_.CreateNot(whole), [&] {
    b_.loop(b_.i64(0), columns, 1, {}, [&](Value* column, Values&) {
      b_.loop(b_.i64(0), rows, 1, {}, [&](Value* row, Values&) {
        Value* one = memory_.load_at(from, corner, b_.CreateAdd(at(column), row), 1);
        memory_.store_at(square, square.base, b_.CreateAdd(b_.CreateMul(row, b_.i64(lanes)), column), one);
      });
    });
  });
}

}  // namespace jumar::emit::cpu
