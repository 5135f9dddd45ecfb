// Integers that the text states.
//
// MLIR's own matchers ask operations for traits, whose identities are made of type names as the compiler spells
// them; those of a libMLIR that another compiler built are not equal. So nothing here asks for a trait.
#pragma once

#include <mlir/Dialect/Arith/IR/Arith.h>
#include <mlir/IR/BuiltinAttributes.h>

#include <cstdint>
#include <optional>

namespace jumar::runtime::sim {

// The value of an arith.constant; true is 1.
inline std::optional<llvm::APInt> constant_bits(mlir::Value value) {
  auto constant = value.getDefiningOp<mlir::arith::ConstantOp>();
  auto attribute = constant ? mlir::dyn_cast<mlir::IntegerAttr>(constant.getValue()) : mlir::IntegerAttr();
  if (!attribute) return std::nullopt;
  return attribute.getValue();
}

inline std::optional<int64_t> constant_of(mlir::Value value) {
  std::optional<llvm::APInt> bits = constant_bits(value);
  if (!bits) return std::nullopt;
  return bits->getBitWidth() == 1 ? int64_t(bits->getBoolValue()) : bits->getSExtValue();
}

}  // namespace jumar::runtime::sim
