// What must hold for any bytes that are given to the reader of binary plans.
#pragma once

#include "plan/binary.h"
#include "support/check.h"

namespace jumar::plan::test {

// Whether the bytes are a plan. One that is must have a text, be written in binary again and read back as the
// same, whether or not the verifier accepts it; the verifier must come to an end.
inline bool reads_and_round_trips(std::span<const uint8_t> bytes) {
  const Result<Plan> plan = read_binary(bytes, "bytes");
  if (!plan.ok()) {
    CHECK(plan.error().code == "format" && !plan.error().message.empty(), "{}", plan.error().text());
    return false;
  }
  const Status status = verify(*plan);
  CHECK(status.ok() || !status.error().message.empty());
  const std::string blob = write_binary(*plan);
  const Result<Plan> again = read_binary(bytes_of(blob), "rewritten");
  CHECK(again.ok(), "{}", again.error().text());
  CHECK(write_plan(*again) == write_plan(*plan), "the text changed");
  CHECK(write_binary(*again) == blob, "the bytes changed");
  return true;
}

}  // namespace jumar::plan::test
