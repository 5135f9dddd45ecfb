#include "emit/cpu/float8.h"
#include "emit/cpu/scalar_emitter.h"
#include "support/check.h"

namespace jumar::emit::cpu {

using ir::DType;

Value* ScalarEmitter::widened_float(Value* x, DType from) {
  if (from == DType::kBF16) return widened_bf16(b_, x);
  if (from == DType::kF16) return widened_f16(b_, x, options_.f16);
  return widened_f8(b_, x, from);
}

Value* ScalarEmitter::narrowed_float(Value* x, DType to) {
  if (to == DType::kBF16) return narrowed_bf16(b_, x);
  if (to == DType::kF16) return narrowed_f16(b_, x, options_.f16);
  return narrowed_f8(b_, x, to);
}

Value* ScalarEmitter::cast(Value* x, DType from, DType to) {
  if (from == to) return x;
  if (ir::is_low_precision(from)) return cast(widened_float(x, from), DType::kF32, to);
  if (ir::is_low_precision(to)) return narrowed_float(cast(x, from, DType::kF32), to);
  llvm::Type* target = Builder::widened(register_type(b_.getContext(), to), Builder::width_of(x));
  const bool is_signed = ir::dtype_class(from) == ir::DTypeClass::kSigned;
  if (to == DType::kBool) {
    if (ir::is_float(from)) return b_.CreateFCmpUNE(x, b_.real_of(x->getType(), 0.0));
    return b_.CreateICmpNE(x, b_.int_of(x->getType(), 0));
  }
  if (ir::is_float(to)) {
    if (ir::is_float(from)) return b_.CreateFPCast(x, target);
    return is_signed ? b_.CreateSIToFP(x, target) : b_.CreateUIToFP(x, target);
  }
  if (ir::is_float(from)) {
    // The table has u32 as the low bits of an i64.
    if (to == DType::kU32) return b_.CreateTrunc(float_to_int(b_, x, {64, true}), target);
    const bool to_signed = ir::dtype_class(to) == ir::DTypeClass::kSigned;
    return float_to_int(b_, x, {static_cast<unsigned>(8 * ir::dtype_bytes(to)), to_signed});
  }
  return b_.CreateIntCast(x, target, is_signed);
}

}  // namespace jumar::emit::cpu
