// A package's inspection as text for people, with lines that scripts can look for: "key: value", and rows
// indented below them.
#pragma once

#include <string>
#include <vector>

#include "driver/inspection.h"

namespace jumar::driver {

std::string overview_text(const PackageView& view, const Inspection& rows);
// The loops of the named kernels, or of all: of a code or of any kernel that has it. An unknown name is an
// "input" diagnostic that lists the known ones.
Result<std::string> kernels_text(const ProgramView& view, const PlanRows& rows,
                                 const std::vector<std::string>& names);
std::string memory_text(const MemoryRows& memory);
std::string refusals_text(const Report& report);

// "  x: f32[s0, 4] (is argument 'y')" and "  s0 in [2, 64], hint 3", one to a line.
std::string value_lines(const std::vector<ValueRow>& rows);
std::string symbol_lines(const std::vector<SymbolRow>& rows);

// What the package says about its making: "torch", "build"; empty where it says nothing.
std::string fact(const PackageView& view, std::string_view key);
std::string_view kind_name(runtime::package::Constant::Kind kind);  // "parameter"
std::string_view place_name(MemoryBlock::Place place);              // "arena"

}  // namespace jumar::driver
