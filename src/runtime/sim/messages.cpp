#include "runtime/sim/messages.h"

#include <mlir/IR/BuiltinAttributes.h>

namespace jumar::runtime::sim {

Location place(mlir::Location location) {
  Location found;
  location->walk([&](mlir::Location part) {
    auto line = mlir::dyn_cast<mlir::FileLineColLoc>(part);
    if (!line) return mlir::WalkResult::advance();
    found.line = static_cast<int>(line.getLine());
    found.column = static_cast<int>(line.getColumn());
    return mlir::WalkResult::interrupt();
  });
  return found;
}

Messages::Messages(mlir::MLIRContext* context) {
  handler_ = std::make_unique<mlir::ScopedDiagnosticHandler>(context, [this](mlir::Diagnostic& message) {
    if (message.getSeverity() == mlir::DiagnosticSeverity::Error && first_.empty()) {
      first_ = message.str();
      where_ = place(message.getLocation());
    }
    return mlir::success();
  });
}

Diagnostic Messages::error(std::string code, const std::string& what) const {
  Diagnostic error = diagnostic(std::move(code), "{}", what);
  if (!first_.empty()) error.message += ": " + first_;
  error.where = where_;
  return error;
}

}  // namespace jumar::runtime::sim
