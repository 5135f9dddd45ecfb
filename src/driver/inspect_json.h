// A package's inspection as JSON for tools: everything that the text shows, the loops of kernels, the plans
// and the constants one by one. Members are only ever added.
#pragma once

#include <string>

#include "driver/inspection.h"
#include "driver/json_writer.h"

namespace jumar::driver {

std::string inspection_json(const PackageView& view, const Inspection& rows);

// Rows as the member `key` of the object that is being written.
void write_json(JsonWriter& json, std::string_view key, const std::vector<ValueRow>& rows);
void write_json(JsonWriter& json, std::string_view key, const std::vector<SymbolRow>& rows);
void write_json(JsonWriter& json, std::string_view key, const std::vector<CountedOp>& rows);

}  // namespace jumar::driver
