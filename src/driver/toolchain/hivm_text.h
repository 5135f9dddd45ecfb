// Pieces of MLIR's printed form, as far as optimized HIVM uses it: one operation to a line.
//
//   const HivmLine line("%3, %4:2 = memref.load %1[%i] : memref<8xi32, #hivm.address_space<ub>>");
//   line.results            // {"%3", "%4#0", "%4#1"}
//   line.op                 // "memref.load"
//   line.names()            // {"%1", "%i"}
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "driver/toolchain/hivm_program.h"

namespace jumar::driver::toolchain {

struct HivmLine {
  explicit HivmLine(std::string_view text);

  std::vector<std::string> results;
  std::string_view op;    // without quotes
  std::string_view rest;  // what follows it
  // Every value that the rest names, in order.
  std::vector<std::string> names() const;
};

std::string_view trimmed(std::string_view text);
bool starts_with(std::string_view text, std::string_view front);
std::vector<std::string> names_in(std::string_view text);
// Split at commas outside of brackets.
std::vector<std::string_view> split_list(std::string_view text);
// What stands between the bracket at `at` and its counterpart; `at` moves behind it. Empty where no bracket
// is.
std::string_view bracketed(std::string_view text, size_t& at);
std::optional<int64_t> number_in(std::string_view text);

HivmType type_in(std::string_view text);
// The bits of the integer type that a line ends in; 64 for index and for everything else.
int last_bits(std::string_view text);

}  // namespace jumar::driver::toolchain
