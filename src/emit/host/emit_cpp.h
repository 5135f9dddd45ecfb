// A plan as C++ source that does what the executor does with the plan: for people to read, for a C++ compiler
// to make a library of. docs/cpp-wrapper.md shows one.
//
//   launch @gelu(%t, %y; s0) units 2*s0 grain 1        ->      launch(k_gelu, units(2 * s0, 1), {t, y, s0});
//
// The source includes "wrapper.h" (kWrapperHeader) and nothing else. It exports functions whose names begin
// with the program's:
//
//   void* bert_open(weights_file, error, error_bytes);             null after a failure
//   int32_t bert_run(model, inputs, n, outputs, m, error, error_bytes);
//   void bert_close(model);
//   const Entry bert_entry;                                        the same for Jumar itself
//
// Operators that only Python can call, Python steps, and the cores of a device have no C++ form.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "plan/plan.h"

namespace jumar::emit::host {

// An input of the plan that lies in the program's file of weights.
struct CppWeight {
  std::string name;  // "encoder.layer.0.output.dense.weight"
  int64_t offset_bytes = 0;
  int64_t bytes = 0;
};

struct CppOptions {
  // What exported names begin with, made an identifier; the plan's name when empty.
  std::string name;
  // The symbol of a kernel's code; its name when empty.
  std::function<std::string(std::string_view kernel)> kernel_symbol;
  // The plan's last inputs, which callers do not pass.
  std::vector<CppWeight> weights;
  int64_t weights_bytes = 0;  // of the file
  // Results that are new elements of an input of the plan: they are written there and not returned.
  std::map<uint32_t, uint32_t> updates;
};

struct CppSource {
  std::string name;  // what exported names begin with
  std::string text;
  std::string header;  // in C, for callers
};

// The plan must be verified. A "wrapper" diagnostic names each step that has no C++ form, with the reason.
Result<CppSource> emit_cpp(plan::Plan plan, const CppOptions& options);

}  // namespace jumar::emit::host
