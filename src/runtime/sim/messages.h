// What MLIR says about a text, as one Diagnostic.
//
//   Messages messages(context, "kernel @k");
//   if (failed(something(module))) return messages.error("unsupported", "the kernel does not lower");
//
// While it lives, nothing of what MLIR reports reaches stderr.
#pragma once

#include <mlir/IR/Diagnostics.h>
#include <mlir/IR/Location.h>

#include <memory>
#include <string>

#include "support/result.h"

namespace jumar::runtime::sim {

class Messages {
 public:
  explicit Messages(mlir::MLIRContext* context);

  // The first error that MLIR reported, with its line, under `what`.
  Diagnostic error(std::string code, const std::string& what) const;

 private:
  std::string first_;
  Location where_;
  std::unique_ptr<mlir::ScopedDiagnosticHandler> handler_;
};

// The line and column of the text where an operation stands; 0 where it was made here.
Location place(mlir::Location location);

}  // namespace jumar::runtime::sim
