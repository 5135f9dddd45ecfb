#include "loop/ops.h"

#include <array>

#include "support/check.h"

namespace jumar::loop {
namespace {

struct Row {
  std::string_view name;
  int arity;
  TypeRule rule;
  std::string_view semantics;
};

constexpr Row kRows[] = {
#define JUMAR_SCALAR_OP(name, text, operands, rule, semantics) {text, operands, TypeRule::k##rule, semantics},
#include "loop/ops.def"
#undef JUMAR_SCALAR_OP
};

constexpr std::array<std::string_view, 8> kReduceNames = {"sum", "prod", "max",    "min",
                                                          "any", "all",  "argmax", "argmin"};
constexpr std::array<std::string_view, 4> kScanNames = {"sum", "prod", "max", "min"};
constexpr std::array<std::string_view, 5> kStoreModeNames = {"set", "add", "mul", "max", "min"};

const Row& row(ScalarOp op) {
  size_t index = static_cast<size_t>(op);
  CHECK(index < std::size(kRows), "scalar operator {}", index);
  return kRows[index];
}

template <class Enum, size_t N>
std::string_view name_of(const std::array<std::string_view, N>& names, Enum value) {
  size_t index = static_cast<size_t>(value);
  CHECK(index < N, "enumerator {} of {}", index, N);
  return names[index];
}

template <class Enum, size_t N>
std::optional<Enum> named(const std::array<std::string_view, N>& names, std::string_view name) {
  for (size_t k = 0; k < N; ++k)
    if (names[k] == name) return static_cast<Enum>(k);
  return std::nullopt;
}

bool is_computed_float(ir::DType type) { return ir::is_float(type) && !ir::is_low_precision(type); }

}  // namespace

std::string_view scalar_op_name(ScalarOp op) { return row(op).name; }
int scalar_op_arity(ScalarOp op) { return row(op).arity; }
TypeRule scalar_op_rule(ScalarOp op) { return row(op).rule; }
std::string_view scalar_op_semantics(ScalarOp op) { return row(op).semantics; }
size_t scalar_op_count() { return std::size(kRows); }

std::optional<ScalarOp> scalar_op_from_name(std::string_view name) {
  for (size_t k = 0; k < std::size(kRows); ++k)
    if (kRows[k].name == name) return static_cast<ScalarOp>(k);
  return std::nullopt;
}

bool scalar_op_takes(ScalarOp op, ir::DType operand) {
  if (ir::is_complex(operand)) return false;
  bool is_float = is_computed_float(operand);
  if (op == ScalarOp::kDemote) return operand == ir::DType::kF32;
  if (op == ScalarOp::kBitcast) return !ir::is_bool(operand);
  switch (scalar_op_rule(op)) {
    case TypeRule::kSame_f:
    case TypeRule::kPredicate:
      return is_float;
    case TypeRule::kSame_i:
      return ir::is_integer(operand);
    case TypeRule::kSame_if:
      return ir::is_integer(operand) || is_float;
    case TypeRule::kSame_bi:
      return ir::is_bool(operand) || ir::is_integer(operand);
    case TypeRule::kSame_bif:
    case TypeRule::kCompare:
      return ir::is_bool(operand) || ir::is_integer(operand) || is_float;
    case TypeRule::kSelect:
    case TypeRule::kConvert:
      return true;
  }
  return false;
}

std::string_view reduce_name(ReduceKind kind) { return name_of(kReduceNames, kind); }
std::optional<ReduceKind> reduce_from_name(std::string_view name) {
  return named<ReduceKind>(kReduceNames, name);
}
std::string_view scan_name(ScanKind kind) { return name_of(kScanNames, kind); }
std::optional<ScanKind> scan_from_name(std::string_view name) { return named<ScanKind>(kScanNames, name); }
std::string_view store_mode_name(StoreMode mode) { return name_of(kStoreModeNames, mode); }
std::optional<StoreMode> store_mode_from_name(std::string_view name) {
  return named<StoreMode>(kStoreModeNames, name);
}

}  // namespace jumar::loop
