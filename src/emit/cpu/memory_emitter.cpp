#include "emit/cpu/memory_emitter.h"

#include <algorithm>

#include "support/check.h"

namespace jumar::emit::cpu {

using ir::DType;
using loop::StoreMode;
using sym::Expr;

namespace {

// Up to this stride, loading everything and shuffling is faster than loading each lane.
constexpr int64_t kMaxShuffledStride = 4;

// The value reversed lane by lane, of masks too.
llvm::SmallVector<int, 32> backwards(unsigned width) {
  llvm::SmallVector<int, 32> picks;
  for (unsigned k = 0; k < width; ++k) picks.push_back(static_cast<int>(width - 1 - k));
  return picks;
}

}  // namespace

llvm::Align MemoryEmitter::alignment(const Memory& memory) const {
  return llvm::Align(static_cast<uint64_t>(ir::dtype_bytes(memory.type)));
}

llvm::Type* MemoryEmitter::vector_type(const Memory& memory) {
  return Builder::widened(memory_type(b_.getContext(), memory.type), scope_.lanes.width);
}

Value* MemoryEmitter::reversed(Value* vector) {
  return b_.CreateShuffleVector(vector, backwards(Builder::width_of(vector)));
}

Value* MemoryEmitter::tagged(llvm::Instruction* access, const Memory& memory, bool is_load) {
  if (memory.scope) access->setMetadata(llvm::LLVMContext::MD_alias_scope, memory.scope);
  if (memory.noalias) access->setMetadata(llvm::LLVMContext::MD_noalias, memory.noalias);
  if (is_load && memory.read_only)
    access->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(b_.getContext(), {}));
  return access;
}

Value* MemoryEmitter::to_register(DType type, Value* value) {
  if (type != DType::kBool) return value;
  return b_.CreateICmpNE(value, b_.int_of(value->getType(), 0));
}

Value* MemoryEmitter::to_memory(DType type, Value* value) {
  if (type != DType::kBool) return value;
  return b_.CreateZExt(value, Builder::widened(b_.getInt8Ty(), Builder::width_of(value)));
}

// `terms` do not depend on the lane; lane_factor, if any, multiplies the number of the first lane's point.
Value* MemoryEmitter::pointer(const Memory& memory, std::span<const Expr> terms, Expr lane_factor,
                              int64_t constant) {
  llvm::Type* element = memory_type(b_.getContext(), memory.type);
  if (memory.interleave > 1) element = llvm::FixedVectorType::get(element, memory.interleave);
  std::vector<Expr> sorted(terms.begin(), terms.end());
  std::ranges::stable_sort(sorted, {}, [&](Expr e) { return index_.depth(e); });
  Value* at = memory.base;
  for (size_t k = 0; k < sorted.size();) {
    const unsigned depth = index_.depth(sorted[k]);
    Value* sum = index_.value(sorted[k]);
    for (++k; k < sorted.size() && index_.depth(sorted[k]) == depth; ++k)
      sum = b_.CreateAdd(sum, index_.value(sorted[k]));
    at = b_.CreateGEP(element, at, sum);
  }
  if (lane_factor) {
    Value* lane = scope_.lanes.base;
    if (!lane_factor.is_const(1)) lane = b_.CreateMul(index_.value(lane_factor), lane);
    at = b_.CreateGEP(element, at, lane);
  }
  if (constant != 0) at = b_.CreateGEP(element, at, b_.i64(constant));
  return at;
}

MemoryEmitter::Place MemoryEmitter::place(const Memory& memory, Expr address) {
  const Lanes& lanes = scope_.lanes;
  Place out;
  if (index_.varies(address)) address = index_.with_common_quotients(address);
  Expr fixed = address;
  Expr factor;
  std::vector<Expr> varying;
  if (index_.varies(address)) {
    if (auto linear = lanes.axis ? sym::linear_in(cx_, address, lanes.axis) : std::nullopt;
        linear && !index_.varies(linear->rest)) {
      fixed = linear->rest;
      factor = linear->coefficient;
    }
  }
  std::vector<Expr> terms;
  int64_t constant = 0;
  const std::span<const Expr> parts = fixed.op() == sym::Op::kAdd ? fixed.operands() : std::span(&fixed, 1);
  for (Expr part : parts) {
    if (part.is_const()) {
      constant = part.const_value();
    } else if (index_.varies(part)) {
      varying.push_back(part);
    } else {
      terms.push_back(part);
    }
  }
  out.pointer = pointer(memory, terms, factor, constant);
  if (!varying.empty()) {
    out.offsets = index_.value(cx_.add(varying));
  } else if (!factor) {
    out.stride = 0;
  } else if (factor.is_const()) {
    out.stride = factor.const_value();
  } else {
    out.variable_stride = index_.value(factor);
  }
  return out;
}

Value* MemoryEmitter::offsets(const Place& place) {
  if (place.offsets) return place.offsets;
  const unsigned width = scope_.lanes.width;
  Value* stride = place.stride ? b_.i64(*place.stride) : place.variable_stride;
  return b_.CreateMul(b_.spread(stride, width), b_.lane_numbers(b_.getInt64Ty(), width));
}

Value* MemoryEmitter::element_pointer(llvm::Type* type, const Place& place, unsigned lane) {
  Value* offset = nullptr;
  if (place.offsets) {
    offset = b_.lane(place.offsets, lane);
  } else if (place.stride) {
    offset = b_.i64(*place.stride * lane);
  } else {
    offset = b_.CreateMul(place.variable_stride, b_.i64(lane));
  }
  return b_.CreateGEP(type, place.pointer, offset);
}

Value* MemoryEmitter::active(Value* guard) {
  Value* mask = scope_.lanes.mask;
  if (!mask || !guard) return mask ? mask : guard;
  return b_.CreateAnd(mask, guard);
}

Value* MemoryEmitter::load(const Memory& memory, Expr address, Value* guard, Value* otherwise) {
  const unsigned width = scope_.lanes.width;
  if (guard && Builder::width_of(guard) == 1) {
    // Lanes that turn out to read the same element are spread too: both sides must have one type.
    const bool same = memory.interleave == 1 && !index_.varies(address);
    const unsigned lanes = same ? 1 : width;
    return b_.when(
        guard, [&] { return b_.spread(load(memory, address, nullptr, nullptr), lanes); },
        b_.spread(otherwise, lanes));
  }
  if (memory.interleave > 1 && index_.varies(address)) {
    // Elements of a lane lie `interleave` apart, beginning at the lane's number.
    Memory flat = memory;
    flat.interleave = 1;
    Value* own =
        b_.CreateMul(index_.value(address), b_.int_of(Builder::widened(b_.getInt64Ty(), width), width));
    Place at;
    at.pointer = memory.base;
    at.offsets = b_.CreateAdd(own, b_.lane_numbers(b_.getInt64Ty(), width));
    return to_register(memory.type, load_lanes(flat, at, active(guard), otherwise));
  }
  Place at = place(memory, address);
  if (memory.interleave > 1) at.stride = 1;
  if (otherwise && memory.type == DType::kBool) otherwise = to_memory(memory.type, otherwise);
  Value* loaded = nullptr;
  if (at.stride == 0 || width == 1) {
    loaded = load_one(memory, at, guard, otherwise);
  } else if (at.stride == 1 || at.stride == -1) {
    loaded = load_row(memory, at, active(guard), otherwise);
  } else if (at.stride && *at.stride >= 2 && *at.stride <= kMaxShuffledStride && !active(guard)) {
    loaded = load_every(memory, at);
  } else {
    loaded = load_lanes(memory, at, active(guard), otherwise);
  }
  return to_register(memory.type, loaded);
}

Value* MemoryEmitter::load_one(const Memory& memory, const Place& place, Value* guard, Value* otherwise) {
  llvm::Type* type = memory_type(b_.getContext(), memory.type);
  const auto plain = [&]() -> Value* {
    return tagged(b_.CreateAlignedLoad(type, place.pointer, alignment(memory)), memory, true);
  };
  if (!guard) return plain();
  const unsigned width = scope_.lanes.width;
  Value* loaded = b_.when(b_.CreateOrReduce(active(guard)), plain, otherwise);
  return b_.CreateSelect(guard, b_.spread(loaded, width), b_.spread(otherwise, width));
}

Value* MemoryEmitter::load_row(const Memory& memory, const Place& place, Value* mask, Value* otherwise) {
  const unsigned width = scope_.lanes.width;
  const bool backward = place.stride == -1;
  llvm::Type* element = memory_type(b_.getContext(), memory.type);
  Value* at = place.pointer;
  if (backward) at = b_.CreateGEP(element, at, b_.i64(1 - static_cast<int64_t>(width)));
  Value* row = nullptr;
  if (!mask) {
    row = tagged(b_.CreateAlignedLoad(vector_type(memory), at, alignment(memory)), memory, true);
  } else {
    Value* fill = otherwise ? b_.spread(otherwise, width) : llvm::Constant::getNullValue(vector_type(memory));
    if (backward) mask = reversed(mask);
    if (backward) fill = reversed(fill);
    row = tagged(b_.CreateMaskedLoad(vector_type(memory), at, alignment(memory), mask, fill), memory, true);
  }
  return backward ? reversed(row) : row;
}

// Every stride-th element, from as many whole vectors as the stride says. The last vector ends with the last
// element that is wanted, so that nothing beyond it is read.
Value* MemoryEmitter::load_every(const Memory& memory, const Place& place) {
  const int64_t width = scope_.lanes.width;
  const int64_t stride = *place.stride;
  Value* all = nullptr;
  for (int64_t j = 0; j < stride; ++j) {
    const int64_t start = std::min(j * width, stride * (width - 1) + 1 - width);
    Value* part = load_at(memory, place.pointer, b_.i64(start), static_cast<unsigned>(width));
    llvm::SmallVector<int, 32> picks;
    for (int64_t k = 0; k < width; ++k) {
      const int64_t at = stride * k;
      const bool mine = std::min(at / width, stride - 1) == j;
      picks.push_back(static_cast<int>(mine ? (all ? width : 0) + at - start : k));
    }
    all = all ? b_.CreateShuffleVector(all, part, picks) : b_.CreateShuffleVector(part, picks);
  }
  return all;
}

Value* MemoryEmitter::load_lanes(const Memory& memory, const Place& place, Value* mask, Value* otherwise) {
  const unsigned width = scope_.lanes.width;
  llvm::Type* element = memory_type(b_.getContext(), memory.type);
  if (mask) {
    Value* pointers = b_.CreateGEP(element, place.pointer, offsets(place));
    Value* fill = otherwise ? b_.spread(otherwise, width) : llvm::Constant::getNullValue(vector_type(memory));
    return tagged(b_.CreateMaskedGather(vector_type(memory), pointers, alignment(memory), mask, fill), memory,
                  true);
  }
  Value* row = llvm::PoisonValue::get(vector_type(memory));
  for (unsigned k = 0; k < width; ++k) {
    Value* at = element_pointer(element, place, k);
    Value* one = tagged(b_.CreateAlignedLoad(element, at, alignment(memory)), memory, true);
    row = b_.CreateInsertElement(row, one, static_cast<uint64_t>(k));
  }
  return row;
}

Value* MemoryEmitter::load_at(const Memory& memory, Value* pointer, Value* offset, unsigned width) {
  llvm::Type* element = memory_type(b_.getContext(), memory.type);
  Value* at = b_.CreateGEP(element, pointer, offset);
  return tagged(b_.CreateAlignedLoad(Builder::widened(element, width), at, alignment(memory)), memory, true);
}

void MemoryEmitter::store_at(const Memory& memory, Value* pointer, Value* offset, Value* value) {
  Value* at = b_.CreateGEP(memory_type(b_.getContext(), memory.type), pointer, offset);
  tagged(b_.CreateAlignedStore(value, at, alignment(memory)), memory, false);
}

}  // namespace jumar::emit::cpu
