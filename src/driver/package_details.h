// What a package holds for people, beside what it runs: texts that `jumar inspect` shows.
//
//   std::string record = details.bytes();                       compressed
//   JUMAR_ASSIGN(PackageDetails same, PackageDetails::read(record, "model.jumar.pt2"));
#pragma once

#include <string>
#include <string_view>

#include "support/result.h"

namespace jumar::driver {

struct PackageDetails {
  // Of the archive's entries, after the archive's root folder.
  static constexpr std::string_view kEntry = "jumar/details";

  std::string report;        // JSON (driver/report.h)
  std::string loops;         // the tiled program
  std::string plan;          // with the origins of its steps
  std::string folding_plan;  // empty: nothing is computed of the weights

  std::string bytes() const;
  static Result<PackageDetails> read(std::string_view record, const std::string& file);
};

}  // namespace jumar::driver
