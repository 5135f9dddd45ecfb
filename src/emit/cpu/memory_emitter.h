// Loads and stores at index expressions, for one point or for all lanes at once.
//
// How an access is written follows from how its address depends on the lane:
//   not at all          one scalar access
//   with stride 1, -1   one vector access (and a reversal)
//   else                an access for each lane; where a mask forbids that, a gather or scatter
//
// An address becomes row pointer + lane + constant: terms of outer loops are added first, in an instruction
// of their own for each loop depth, and the constant last, where the processor's addressing mode takes it for
// free.
//
// Every access carries the alias scope of its buffer: distinct buffers of a kernel never overlap.
#pragma once

#include "emit/cpu/index_emitter.h"
#include "emit/cpu/scalar_emitter.h"

namespace jumar::emit::cpu {

struct Memory {
  Value* base = nullptr;
  ir::DType type = ir::DType::kF32;
  llvm::MDNode* scope = nullptr;  // alias metadata; nothing for memory of the function's own
  llvm::MDNode* noalias = nullptr;
  bool read_only = false;  // nobody writes to it while the kernel runs
  // Locals of nests whose kept axis runs in the lanes: element e of lane k lies at e*width + k.
  unsigned interleave = 1;
};

class MemoryEmitter {
 public:
  MemoryEmitter(Builder& b, sym::Context& cx, IndexEmitter& index, ScalarEmitter& scalars, const Scope& scope)
      : b_(b), cx_(cx), index_(index), scalars_(scalars), scope_(scope) {}

  // The element, in its register type. Lanes where the guard (a vector of i1, or nothing) is false give
  // `otherwise` and touch no memory.
  Value* load(const Memory& memory, sym::Expr address, Value* guard, Value* otherwise);
  void store(const Memory& memory, sym::Expr address, Value* value, loop::StoreMode mode, Value* guard);

  // The pointer to one element, whose address must not depend on the lane.
  Value* address(const Memory& memory, sym::Expr address) { return place(memory, address).pointer; }
  // `width` neighbours from an element on, as they lie in memory.
  Value* load_at(const Memory& memory, Value* pointer, Value* offset, unsigned width);
  void store_at(const Memory& memory, Value* pointer, Value* offset, Value* value);
  Value* to_register(ir::DType type, Value* value);

 private:
  // Where the lanes' elements are.
  struct Place {
    Value* pointer = nullptr;          // of lane 0, or what `offsets` count from
    std::optional<int64_t> stride;     // a constant number of elements between lanes; 0: the same for all
    Value* variable_stride = nullptr;  // one that is not constant
    Value* offsets = nullptr;          // for every lane, in elements
  };

  Place place(const Memory& memory, sym::Expr address);
  Value* pointer(const Memory& memory, std::span<const sym::Expr> terms, sym::Expr lane_factor,
                 int64_t constant);
  Value* element_pointer(llvm::Type* type, const Place& place, unsigned lane);
  // The offset of each lane in elements, as a vector.
  Value* offsets(const Place& place);
  Value* active(Value* guard);

  Value* load_one(const Memory& memory, const Place& place, Value* guard, Value* otherwise);
  Value* load_row(const Memory& memory, const Place& place, Value* mask, Value* otherwise);
  Value* load_every(const Memory& memory, const Place& place);
  Value* load_lanes(const Memory& memory, const Place& place, Value* mask, Value* otherwise);
  void store_row(const Memory& memory, const Place& place, Value* value, loop::StoreMode mode, Value* mask);
  void store_lanes(const Memory& memory, const Place& place, Value* value, Value* mask);
  void store_one(const Memory& memory, Value* pointer, Value* value, loop::StoreMode mode);
  // One lane after the other: right also where lanes meet in one element.
  void store_in_turn(const Memory& memory, const Place& place, Value* value, loop::StoreMode mode,
                     Value* mask);
  Value* combined(const Memory& memory, loop::StoreMode mode, Value* old, Value* value);

  Value* to_memory(ir::DType type, Value* value);
  Value* reversed(Value* vector);
  llvm::Type* vector_type(const Memory& memory);
  llvm::Align alignment(const Memory& memory) const;
  Value* tagged(llvm::Instruction* access, const Memory& memory, bool is_load);

  Builder& b_;
  sym::Context& cx_;
  IndexEmitter& index_;
  ScalarEmitter& scalars_;
  const Scope& scope_;
};

}  // namespace jumar::emit::cpu
