// The scalar-operator table of loop bodies; rows and semantics are in loop/ops.def.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "ir/dtype.h"

namespace jumar::loop {

enum class ScalarOp : uint8_t {
#define JUMAR_SCALAR_OP(name, text, operands, rule, semantics) k##name,
#include "loop/ops.def"
#undef JUMAR_SCALAR_OP
};

enum class TypeRule : uint8_t {
  kSame_f,
  kSame_i,
  kSame_if,
  kSame_bi,
  kSame_bif,
  kCompare,
  kSelect,
  kConvert,
  kPredicate,
};

std::string_view scalar_op_name(ScalarOp op);
std::optional<ScalarOp> scalar_op_from_name(std::string_view name);
int scalar_op_arity(ScalarOp op);
TypeRule scalar_op_rule(ScalarOp op);
std::string_view scalar_op_semantics(ScalarOp op);
size_t scalar_op_count();

// Whether the operator takes operands of this type (for kSelect: of the last two operands).
bool scalar_op_takes(ScalarOp op, ir::DType operand);

// How a stage's values become one value per point of the kept axes.
enum class ReduceKind : uint8_t { kSum, kProd, kMax, kMin, kAny, kAll, kArgMax, kArgMin };
// What combines along a scanned axis.
enum class ScanKind : uint8_t { kSum, kProd, kMax, kMin };
// How a store meets what is there.
enum class StoreMode : uint8_t { kSet, kAdd, kMul, kMax, kMin };

std::string_view reduce_name(ReduceKind kind);
std::optional<ReduceKind> reduce_from_name(std::string_view name);
std::string_view scan_name(ScanKind kind);
std::optional<ScanKind> scan_from_name(std::string_view name);
std::string_view store_mode_name(StoreMode mode);
std::optional<StoreMode> store_mode_from_name(std::string_view name);

}  // namespace jumar::loop
