// The binary form of a plan, which packages embed and read when they are loaded. Layout: docs/plan.md.
//
//   std::string blob = write_binary(plan);
//   Result<Plan> again = read_binary(bytes_of(blob), "model.so");
//   // write_plan(*again) == write_plan(plan), byte for byte
//
// The same plan gives the same bytes. Reading needs neither the lexer nor the text reader. It trusts nothing:
// whatever the bytes are, it ends with a plan or a diagnostic (code "format"), in time and memory
// that are bounded by their number. A plan that was read still has to be verified, like one read from text.
//
// A change of the layout that an older reader would misread raises the major version, and a reader refuses
// majors above its own. A minor version only adds sections, which older readers skip, and kinds of what there
// was, with which they refuse the plans that have such.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "plan/plan.h"

namespace jumar::plan {

struct WriteOptions {
  bool origins = true;  // keep Step::origin, which only people read
};

std::string write_binary(const Plan& plan, const WriteOptions& options = {});

// `what` names the bytes in diagnostics. The plan has a Context of its own.
Result<Plan> read_binary(std::span<const uint8_t> bytes, const std::string& what);

// Whether they begin like a binary plan, as opposed to a text.
bool is_binary(std::span<const uint8_t> bytes);

inline std::span<const uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

}  // namespace jumar::plan
