// The words of bind steps' sources in plan text.
#pragma once

#include <string_view>
#include <utility>

#include "plan/plan.h"

namespace jumar::plan {

// Of a tensor or a number.
constexpr std::pair<BindStep::Source, std::string_view> kBindSources[] = {
    {BindStep::Source::kSize, "size"},   {BindStep::Source::kStride, "stride"},
    {BindStep::Source::kItem, "item"},   {BindStep::Source::kFloor, "floor"},
    {BindStep::Source::kCeil, "ceil"},   {BindStep::Source::kTrunc, "trunc"},
    {BindStep::Source::kRound, "round"},
};

// What stands in cores(...).
constexpr std::pair<BindStep::Source, std::string_view> kCoreKinds[] = {
    {BindStep::Source::kCubeCores, "cube"},
    {BindStep::Source::kVectorCores, "vector"},
};

}  // namespace jumar::plan
