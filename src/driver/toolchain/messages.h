// What the foreign programs say, understood in this one place.
//
//   const Messages said = read_messages(done.errors + done.output);
//   said.overflow->needs_bits                 // "ub overflow, requires 4194304 bits while 1572864 bits ..."
//   said.main_fault().message                 // the one to show
//
// The programs print warnings, notes, retries and stack traces around what matters. A fault is an "error:"
// line with its place, an assertion that failed, or a line of a kind that a row of messages.cpp names. Texts
// are those of triton-ascend 3.2.0 and ascendnpu-ir 1.2.0; what is not understood is ignored, and a failure
// in which nothing is understood shows its last lines.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace jumar::driver::toolchain {

// An on-chip memory that was too small.
struct Overflow {
  std::string memory;  // "ub", "cbuf", ...
  int64_t needs_bits = 0;
  int64_t available_bits = 0;
  bool operator==(const Overflow&) const = default;
};

struct Fault {
  std::string message;
  int line = 0;  // of the text that was given to the program; 0 where none is told
  int column = 0;
  bool is_general = false;  // says that something failed and not what
  bool operator==(const Fault&) const = default;
};

struct Messages {
  std::vector<Fault> faults;         // in the order of the text, equal ones once
  std::optional<Overflow> overflow;  // of the last attempt
  bool dropped_code_motion = false;
  bool dropped_multi_buffer = false;
  std::optional<int64_t> allocated_ub_bits;
  bool lacks_linker = false;
  std::string last_lines;  // of what is no stack trace

  // The first fault that says what failed, else the first, else the last lines.
  Fault main_fault() const;
};

Messages read_messages(std::string_view text);

}  // namespace jumar::driver::toolchain
