// What the writer and the reader of binary plans share: numbers that stand in files and never change their
// meaning within a major version. All integers are little endian.
//
//   header:   magic, u32 major, u32 minor, u64 bytes of the whole plan, u32 section count, u32 0
//   per section: u32 kind, u32 0, u64 offset, u64 bytes; offsets count from the magic, in steps of 8
//   sections: streams of u32, u64 and text bytes (docs/plan.md)
//
// Enumerators are written as their positions in the arrays below, so that the ones in memory may be
// reordered.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <string_view>

#include "plan/plan.h"

namespace jumar::plan::binary {

static_assert(std::endian::native == std::endian::little, "binary plans are read and written as they are");

inline constexpr std::string_view kMagic = "JUMARPLN";
inline constexpr uint32_t kMajor = 1;
inline constexpr uint32_t kMinor = 1;  // 1: bind steps of cores
inline constexpr size_t kHeaderBytes = 32;
inline constexpr size_t kSectionRowBytes = 24;
inline constexpr size_t kAlignmentBytes = 8;

enum class Section : uint32_t {
  kStrings = 1,  // every text of the plan, each once
  kExprs,        // every expression node, each once, after its operands
  kHead,         // name, number of inputs
  kSymbols,
  kTensors,
  kNumbers,
  kIntInputs,
  kSteps,
  kOutputs,
  kSchemas,
};
inline constexpr uint32_t kLastSection = static_cast<uint32_t>(Section::kSchemas);
inline constexpr std::array<std::string_view, kLastSection + 1> kSectionNames = {
    "",        "strings",    "expressions", "head",    "symbols", "tensors",
    "numbers", "int inputs", "steps",       "outputs", "schemas"};

// No id, no expression, no input position.
inline constexpr uint32_t kNothing = UINT32_MAX;

// An expression record begins with the operator's number in the low 8 bits and the operand count above.
inline constexpr std::array<sym::Op, 15> kOps = {
    sym::Op::kConst, sym::Op::kSymbol, sym::Op::kMul, sym::Op::kAdd, sym::Op::kFloorDiv,
    sym::Op::kMod,   sym::Op::kMin,    sym::Op::kMax, sym::Op::kEq,  sym::Op::kNe,
    sym::Op::kLt,    sym::Op::kLe,     sym::Op::kAnd, sym::Op::kOr,  sym::Op::kNot};
inline constexpr uint32_t kMaxOperands = (1u << 24) - 1;
// Shared operands make an expression's text and its traversals larger than its records, so both its size
// written out as a tree and its height are bounded.
inline constexpr uint32_t kMaxTreeNodes = 1u << 16;
inline constexpr uint32_t kMaxHeight = 1000;

inline constexpr std::array<sym::SymbolKind, 4> kSymbolKinds = {
    sym::SymbolKind::kSize, sym::SymbolKind::kUnbacked, sym::SymbolKind::kAxis, sym::SymbolKind::kValue};
inline constexpr std::array<Storage, 6> kStorages = {Storage::kInput,  Storage::kParameter, Storage::kArena,
                                                     Storage::kOutput, Storage::kResult,    Storage::kView};
inline constexpr std::array<NumberKind, 2> kNumberKinds = {NumberKind::kFloat, NumberKind::kBool};
inline constexpr std::array<BindStep::Source, 9> kSources = {
    BindStep::Source::kSize,  BindStep::Source::kStride,    BindStep::Source::kItem,
    BindStep::Source::kFloor, BindStep::Source::kCeil,      BindStep::Source::kTrunc,
    BindStep::Source::kRound, BindStep::Source::kCubeCores, BindStep::Source::kVectorCores};
inline constexpr std::array<WordArg::Kind, 4> kWordKinds = {
    WordArg::Kind::kDType, WordArg::Kind::kLayout, WordArg::Kind::kMemoryFormat, WordArg::Kind::kDevice};

enum class StepTag : uint32_t { kBind, kLaunch, kCall, kPython, kNumber, kCheck };
enum class ArgTag : uint32_t { kNone, kTensor, kNumber, kExpr, kFloat, kBool, kString, kWord, kList };

// As in the text form: lists in lists and input positions beyond these can only be damage.
inline constexpr int kMaxListDepth = 16;
inline constexpr uint32_t kMaxInputs = 1u << 20;

template <class Enum, size_t N>
constexpr uint32_t code_of(const std::array<Enum, N>& codes, Enum value) {
  for (uint32_t k = 0; k < N; ++k)
    if (codes[k] == value) return k;
  return kNothing;
}

}  // namespace jumar::plan::binary
