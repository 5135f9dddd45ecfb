// What a package holds for people, beside what it runs: what `jumar inspect` shows.
//
//   std::string record = details.bytes();                       compressed
//   JUMAR_ASSIGN(PackageDetails same, PackageDetails::read(record, "model.jumar.pt2"));
//
// The texts repeat what the library holds as code and constants, so that nobody has to look into the library
// to tell what is in a package. Nothing in them changes from one compilation of a program to the next.
#pragma once

#include <string>
#include <string_view>

#include "support/result.h"

namespace jumar::driver {

// One plan of a package with the loops of its kernels.
struct ProgramTexts {
  std::string loops;  // the tiled program
  std::string plan;   // with the origins of its steps
};

struct PackageDetails {
  // Of the archive's entries, after the archive's root folder.
  static constexpr std::string_view kEntry = "jumar/details";

  std::string manifest;  // bytes of a runtime::package::Manifest
  std::string target;    // of the kernels: "x86-64-v3, 256-bit vectors"
  std::string report;    // JSON (driver/report.h), without times
  ProgramTexts program;
  ProgramTexts folding;  // empty texts: nothing is computed of the weights

  std::string bytes() const;
  static Result<PackageDetails> read(std::string_view record, const std::string& file);
};

}  // namespace jumar::driver
