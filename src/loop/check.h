// Runs loop programs on made-up inputs and compares them: what tests of passes and emitters are built from.
//
//   CheckOptions options{.seed = 7, .symbols = {{"s0", 5}}};
//   Result<ProgramResult> r = run_program(program, options);          // r->buffers.at("y"), r->outputs[0]
//   Status same = compare_programs(before, after, options, {});       // "different", or a sanitizer's
//   diagnostic
//
// Inputs depend on the seed and on an input's position and type only, so two programs with the same inputs
// get the same. Integers that a program uses as indices are drawn inside their range. Calls are imitated
// (imitated_calls) unless a handler is given, so a program with calls can be compared too.
#pragma once

#include <map>
#include <string>

#include "loop/interp.h"

namespace jumar::loop {

struct CheckOptions {
  uint64_t seed = 1;
  // Values of size symbols by name; others are drawn from the low end of their range.
  std::map<std::string, int64_t> symbols = {};
  // How many of a float input's elements are zeros of both signs, infinities, NaN and very large and small
  // numbers.
  double special_share = 0;
  // Integers that are no indices; clipped to the type.
  int64_t int_low = -8;
  int64_t int_high = 8;
  // Inputs by position that are given rather than drawn; their sizes must agree with the symbols.
  std::map<uint32_t, HostTensor> inputs = {};
  CallHandler call = {};
};

struct ProgramInputs {
  std::vector<HostTensor> tensors;  // the memory that `args` points to
  std::vector<RunArg> args;         // in call order
};

struct OutputValue {
  std::variant<ir::NoneArg, HostTensor, int64_t, double, bool> data;
};

struct ProgramResult {
  // Every buffer with storage that the run touched, by name: contiguous copies.
  std::map<std::string, HostTensor> buffers;
  std::vector<OutputValue> outputs;
};

// How far apart two floats may be: |a - b| <= absolute + relative*|b|, with `relative` raised to a few units
// of the last place for low-precision floats. NaN equals NaN, and zeros are equal. All else must be equal.
struct Tolerance {
  double relative = 1e-5;
  double absolute = 1e-6;
  double relative_f64 = 1e-12;
  double absolute_f64 = 1e-13;
  double relative_f16 = 4e-3;
  double relative_bf16 = 3e-2;
  static Tolerance exact() { return {0, 0, 0, 0, 0, 0}; }
};

Result<ProgramInputs> random_inputs(const Program& program, const CheckOptions& options);

// Imitates every call by a smooth function of its arguments: floats are mixed from all elements and numbers
// that are passed; integers and bools alternate between 0 and 1, which are valid indices of what has two
// elements.
CallHandler imitated_calls(const Program& program, const std::vector<RunArg>& inputs);

Result<ProgramResult> run_program(const Program& program, const CheckOptions& options);
Result<ProgramResult> run_program(const Program& program, const ProgramInputs& inputs, CallHandler handler);
// Reads and verifies a text, and runs it.
Result<ProgramResult> run_program_text(std::string_view text, const CheckOptions& options);

// Nothing, or "different" with the first element that differs. `what` names the tensor.
Status compare_tensors(const std::string& what, const TensorView& a, const TensorView& b,
                       const Tolerance& tolerance);
Status compare_outputs(const ProgramResult& a, const ProgramResult& b, const Tolerance& tolerance);
// Runs both on the same inputs, and compares what became of these as well. What a correct program may raise
// ("index", "check") must be raised by both.
Status compare_programs(const Program& a, const Program& b, const CheckOptions& options,
                        const Tolerance& tolerance);

// A contiguous copy.
HostTensor copy_of(const TensorView& view);

}  // namespace jumar::loop
