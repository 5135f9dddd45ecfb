#include "runtime/sim/annotations.h"

MLIR_DEFINE_EXPLICIT_TYPE_ID(jumar::runtime::sim::AnnotationDialect)

namespace jumar::runtime::sim {

AnnotationDialect::AnnotationDialect(mlir::MLIRContext* context)
    : mlir::Dialect(getDialectNamespace(), context, mlir::TypeID::get<AnnotationDialect>()) {
  addOperations<AnnotationMark>();
}

mlir::ParseResult AnnotationMark::parse(mlir::OpAsmParser& parser, mlir::OperationState& state) {
  mlir::OpAsmParser::UnresolvedOperand operand;
  mlir::Type type;
  return mlir::failure(parser.parseOperand(operand) || parser.parseOptionalAttrDict(state.attributes) ||
                       parser.parseColonType(type) || parser.resolveOperand(operand, type, state.operands));
}

void AnnotationMark::print(mlir::OpAsmPrinter& printer) {
  printer << " " << getOperand();
  printer.printOptionalAttrDict((*this)->getAttrs());
  printer << " : " << getOperand().getType();
}

void drop_annotations(mlir::ModuleOp module) {
  module.walk([](AnnotationMark mark) { mark.erase(); });
}

}  // namespace jumar::runtime::sim
