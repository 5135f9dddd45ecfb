// One nest of a kernel, written as loops around vector code, exactly as its tiling says.
//
//   for u in units:                       parallel axes, and the blocks of the axis after them
//     for each kept axis left:            scalar loops, the last perhaps in vectors
//       for each stage:
//         for each inner axis:            scalar loops, the last perhaps in vectors (unless the kept one is)
//           body
//
// A vector loop is written for each range between cuts: rounds of full vectors, then what the tail kind says.
// Each of these is a copy of the body with its own number of lanes, so values have one LLVM value per copy.
//
// Contract with the tile stage: a kept vector axis is the last kept axis; a stage's vector axis and a scanned
// axis are the last inner axis, and a scanned axis is no vector axis; accumulators and lanes are powers of 2.
#pragma once

#include <map>
#include <utility>

#include "emit/cpu/function_context.h"
#include "emit/cpu/reduce_emitter.h"
#include "emit/cpu/value_facts.h"

namespace jumar::emit::cpu {

class NestEmitter {
 public:
  NestEmitter(FunctionContext& function, const loop::Nest& nest, const EmitOptions& options);

  // Runs the units [begin, end), counted from the nest's first.
  void run_units(Value* begin, Value* end);

 private:
  // A reduction or scan of the stage being written. `state[c]` is where its state for the width class c
  // begins among the carried values.
  struct Folding {
    const loop::Inst* inst;
    loop::ValueId result;
    Fold fold;
    std::vector<size_t> state;
  };
  // How a vector axis is walked: full vectors of the first width, then of the next, then the tail: points, or
  // masked vectors of `lanes`.
  struct VectorAxis {
    loop::Axis axis;
    std::vector<unsigned> widths;
    unsigned lanes = 1;
    loop::Tail tail = loop::Tail::kNone;
    std::vector<sym::Expr> cuts;
    bool aligned = true;  // begins at a multiple of the first width
  };
  using AxisBody = std::function<void(Values& carried)>;

  // Binds the parallel axes of a unit and runs the rest for it.
  void run_unit(Value* unit);
  void run_kept(size_t k, Value* block);
  void run_point();
  Values run_vector_axis(const VectorAxis& walk, Value* lo, Value* hi, Values carried, const AxisBody& body);
  Values run_range(const VectorAxis& walk, Value* lo, Value* hi, Values carried, const AxisBody& body);
  void set_lanes(sym::Expr axis, Value* base, unsigned width, Value* mask, bool aligned);

  void run_transposed(Value* lo, Value* hi);
  void run_tail_tile(Value* t0, Value* v0, Value* rows, Value* columns);
  void run_rows(Value* t0, Value* rows, const std::function<void()>& body);
  void make_squares();
  void fill_squares(Value* t0, Value* v0, Value* rows, Value* columns);
  void fill_square(const loop::Inst& inst, const Memory& square, Value* rows, Value* columns);

  void run_stage(size_t s);
  Values run_inner(size_t s, size_t k, Values carried);
  std::vector<unsigned> width_classes(size_t s) const;
  void collect_foldings(size_t s);
  void finish_foldings(const Values& carried);
  VectorAxis walk_of(const loop::Axis& axis, unsigned lanes, unsigned multiple, loop::Tail tail,
                     const std::vector<sym::Expr>& cuts, bool whole) const;
  VectorAxis stage_walk(size_t s) const;

  void run_body(size_t s, Values& carried);
  void define(loop::ValueId id, Value* value);
  // The value of a line that is no reduction, scan or store.
  Value* evaluated(const loop::Stage::Line& line);
  void fold(const Folding& folding, Values& carried);
  Value* operation(const loop::Stage::Line& line);
  Value* load(const loop::Inst& inst);
  void store(const loop::Inst& inst);
  Value* constant(ir::DType type, loop::Constant constant);
  Value* checked_index(const loop::Inst& inst);
  // The guard as i1 or a vector of it; nothing where it is known to hold.
  Value* guard(sym::Expr predicate);
  Value* predicate(sym::Expr e);
  const Memory& local(uint32_t index);

  unsigned width() const { return scope_.lanes.width; }
  Value* value(loop::ValueId id) const { return values_[id.index()]; }
  ir::DType type(loop::ValueId id) const { return types_[id.index()]; }

  FunctionContext& function_;
  Builder& b_;
  sym::Context& cx_;
  const loop::Nest& nest_;
  const loop::Tiling& tiling_;
  sym::Facts facts_;
  ValueFacts value_facts_;
  Scope scope_;
  IndexEmitter index_;
  ScalarEmitter scalars_;
  MemoryEmitter memory_;
  std::vector<Value*> values_;
  std::vector<ir::DType> types_;
  std::vector<Value*> unrounded_;  // of a demoted value: the f32 before, unless the program is strict
  std::vector<bool> is_index_;     // values that expressions mention
  std::vector<Folding> foldings_;  // of the stage being written
  std::vector<unsigned> classes_;  // the width classes of the stage being written
  // The axis, its extent and the cuts that decide guards at the point of insertion.
  const VectorAxis* walk_ = nullptr;
  std::map<std::pair<uint32_t, unsigned>, Memory> locals_;  // by number and lanes
  std::map<const loop::Inst*, Memory> squares_;             // of transposed loads: lanes x lanes elements
  Value* square_at_ = nullptr;  // the element of the squares that the first lane reads
};

}  // namespace jumar::emit::cpu
