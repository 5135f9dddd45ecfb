// Failures of a call. They are exceptions inside a program and values outside of it (abi.h).
#pragma once

#include <string>
#include <utility>

#include "emit/host/wrapper/abi.h"

namespace jumar::wrapper {

struct Failure {
  FailureKind kind;
  std::string message;
};

[[noreturn, gnu::cold, gnu::noinline]] inline void fail(FailureKind kind, std::string message) {
  throw Failure{kind, std::move(message)};
}

[[noreturn, gnu::cold, gnu::noinline]] inline void fail_number() {
  fail(FailureKind::kNumber, "a size has no value: a division by zero, or a result beyond 64 bits");
}

}  // namespace jumar::wrapper
