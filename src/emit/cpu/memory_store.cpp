#include "emit/cpu/memory_emitter.h"
#include "support/check.h"

namespace jumar::emit::cpu {

using ir::DType;
using loop::StoreMode;
using sym::Expr;

Value* MemoryEmitter::combined(const Memory& memory, StoreMode mode, Value* old, Value* value) {
  using loop::ScalarOp;
  if (mode == StoreMode::kSet) return value;
  const DType type = memory.type;
  // Low-precision floats are folded in f32 and rounded at each step, as eager does.
  const DType wide = ir::is_low_precision(type) ? DType::kF32 : type;
  Value* a = scalars_.cast(old, type, wide);
  Value* b = scalars_.cast(value, type, wide);
  Value* result = nullptr;
  switch (mode) {
    case StoreMode::kAdd:
      result = type == DType::kBool ? b_.CreateOr(a, b) : scalars_.op(ScalarOp::kAdd, wide, wide, {a, b});
      break;
    case StoreMode::kMul:
      result = type == DType::kBool ? b_.CreateAnd(a, b) : scalars_.op(ScalarOp::kMul, wide, wide, {a, b});
      break;
    case StoreMode::kMax:
      result = scalars_.maximum(a, b, wide);
      break;
    default:
      result = scalars_.minimum(a, b, wide);
      break;
  }
  return scalars_.cast(result, wide, type);
}

void MemoryEmitter::store_one(const Memory& memory, Value* pointer, Value* value, StoreMode mode) {
  if (mode != StoreMode::kSet) {
    llvm::Type* type = Builder::widened(memory_type(b_.getContext(), memory.type), Builder::width_of(value));
    Value* old = tagged(b_.CreateAlignedLoad(type, pointer, alignment(memory)), memory, true);
    value = combined(memory, mode, to_register(memory.type, old), value);
  }
  tagged(b_.CreateAlignedStore(to_memory(memory.type, value), pointer, alignment(memory)), memory, false);
}

void MemoryEmitter::store(const Memory& memory, Expr address, Value* value, StoreMode mode, Value* guard) {
  const unsigned width = scope_.lanes.width;
  if (guard && Builder::width_of(guard) == 1) {
    b_.when(guard, [&] { store(memory, address, value, mode, nullptr); });
    return;
  }
  Value* mask = active(guard);
  if (memory.interleave > 1) {
    Memory flat = memory;
    flat.interleave = 1;
    Place at;
    if (index_.varies(address)) {
      Value* own =
          b_.CreateMul(index_.value(address), b_.int_of(Builder::widened(b_.getInt64Ty(), width), width));
      at.pointer = memory.base;
      at.offsets = b_.CreateAdd(own, b_.lane_numbers(b_.getInt64Ty(), width));
      store_lanes(flat, at, b_.spread(value, width), mask);
    } else {
      at = place(memory, address);
      at.stride = 1;
      store_row(flat, at, b_.spread(value, width), mode, mask);
    }
    return;
  }
  const Place at = place(memory, address);
  const bool is_uniform =
      at.stride == 0 && mode == StoreMode::kSet && !guard && Builder::width_of(value) == 1;
  if (width == 1 || is_uniform) {
    store_one(memory, at.pointer, value, mode);
  } else if (at.stride == 1 || at.stride == -1) {
    store_row(memory, at, b_.spread(value, width), mode, mask);
  } else if (at.stride == 0 || mode != StoreMode::kSet) {
    store_in_turn(memory, at, b_.spread(value, width), mode, mask);
  } else {
    store_lanes(memory, at, b_.spread(value, width), mask);
  }
}

void MemoryEmitter::store_row(const Memory& memory, const Place& place, Value* value, StoreMode mode,
                              Value* mask) {
  const bool backward = place.stride == -1;
  llvm::Type* element = memory_type(b_.getContext(), memory.type);
  Value* at = place.pointer;
  if (backward) {
    at = b_.CreateGEP(element, at, b_.i64(1 - static_cast<int64_t>(scope_.lanes.width)));
    value = reversed(value);
    if (mask) mask = reversed(mask);
  }
  if (!mask) {
    store_one(memory, at, value, mode);
    return;
  }
  if (mode != StoreMode::kSet) {
    Value* fill = llvm::Constant::getNullValue(vector_type(memory));
    Value* old =
        tagged(b_.CreateMaskedLoad(vector_type(memory), at, alignment(memory), mask, fill), memory, true);
    value = combined(memory, mode, to_register(memory.type, old), value);
  }
  tagged(b_.CreateMaskedStore(to_memory(memory.type, value), at, alignment(memory), mask), memory, false);
}

void MemoryEmitter::store_lanes(const Memory& memory, const Place& place, Value* value, Value* mask) {
  llvm::Type* element = memory_type(b_.getContext(), memory.type);
  value = to_memory(memory.type, value);
  if (mask) {
    Value* pointers = b_.CreateGEP(element, place.pointer, offsets(place));
    tagged(b_.CreateMaskedScatter(value, pointers, alignment(memory), mask), memory, false);
    return;
  }
  for (unsigned k = 0; k < scope_.lanes.width; ++k) {
    Value* at = element_pointer(element, place, k);
    tagged(b_.CreateAlignedStore(b_.lane(value, k), at, alignment(memory)), memory, false);
  }
}

void MemoryEmitter::store_in_turn(const Memory& memory, const Place& place, Value* value, StoreMode mode,
                                  Value* mask) {
  const unsigned width = scope_.lanes.width;
  llvm::Type* element = memory_type(b_.getContext(), memory.type);
  llvm::Type* byte = b_.getInt8Ty();
  Value* wheres = b_.stack(b_.getInt64Ty(), width);
  Value* values = b_.stack(element, width);
  b_.CreateAlignedStore(offsets(place), wheres, llvm::Align(8));
  b_.CreateAlignedStore(to_memory(memory.type, value), values, alignment(memory));
  Value* flags = nullptr;
  if (mask) {
    flags = b_.stack(byte, width);
    b_.CreateAlignedStore(b_.CreateZExt(mask, Builder::widened(byte, width)), flags, llvm::Align(1));
  }
  b_.loop(b_.i64(0), b_.i64(width), 1, {}, [&](Value* k, Values&) {
    const auto one = [&] {
      Value* offset = b_.CreateLoad(b_.getInt64Ty(), b_.CreateGEP(b_.getInt64Ty(), wheres, k));
      Value* mine = b_.CreateAlignedLoad(element, b_.CreateGEP(element, values, k), alignment(memory));
      Value* at = b_.CreateGEP(element, place.pointer, offset);
      store_one(memory, at, to_register(memory.type, mine), mode);
    };
    if (!flags) {
      one();
      return;
    }
    Value* flag = b_.CreateLoad(byte, b_.CreateGEP(byte, flags, k));
    b_.when(b_.CreateICmpNE(flag, b_.int_of(byte, 0)), one);
  });
}

}  // namespace jumar::emit::cpu
