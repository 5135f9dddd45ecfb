// The dialects and interfaces that a kernel's way from linalg text to LLVM IR needs.
#pragma once

#include <mlir/IR/MLIRContext.h>

#include <memory>

namespace jumar::runtime::sim {

// One context serves one compilation; it uses no threads of its own.
std::unique_ptr<mlir::MLIRContext> make_context();

}  // namespace jumar::runtime::sim
