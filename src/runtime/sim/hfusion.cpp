#include "runtime/sim/hfusion.h"

#include <mlir/Dialect/Arith/IR/Arith.h>
#include <mlir/Dialect/Linalg/IR/Linalg.h>
#include <mlir/Dialect/Math/IR/Math.h>
#include <mlir/Dialect/SCF/IR/SCF.h>
#include <mlir/Dialect/Tensor/IR/Tensor.h>
#include <mlir/IR/Builders.h>
#include <mlir/IR/DialectImplementation.h>

#include "runtime/sim/messages.h"

MLIR_DEFINE_EXPLICIT_TYPE_ID(jumar::runtime::sim::HfusionDialect)

namespace jumar::runtime::sim {

namespace arith = mlir::arith;
using mlir::Value;
using mlir::ValueRange;

HfusionDialect::HfusionDialect(mlir::MLIRContext* context)
    : mlir::Dialect(getDialectNamespace(), context, mlir::TypeID::get<HfusionDialect>()) {
  addOperations<HfusionCast, HfusionBinary, HfusionHistogram>();
}

mlir::Attribute HfusionDialect::parseAttribute(mlir::DialectAsmParser& parser, mlir::Type) const {
  llvm::StringRef kind, value;
  if (parser.parseKeyword(&kind) || parser.parseLess() || parser.parseKeyword(&value) ||
      parser.parseGreater()) {
    return {};
  }
  return parser.getBuilder().getStringAttr(value);
}

namespace {

// "ins(%x, %y : type, type)"
mlir::ParseResult parse_group(mlir::OpAsmParser& parser, llvm::StringRef keyword,
                              mlir::OperationState& state) {
  llvm::SmallVector<mlir::OpAsmParser::UnresolvedOperand> operands;
  llvm::SmallVector<mlir::Type> types;
  return mlir::failure(parser.parseKeyword(keyword) || parser.parseLParen() ||
                       parser.parseOperandList(operands) || parser.parseColonTypeList(types) ||
                       parser.parseRParen() ||
                       parser.resolveOperands(operands, types, parser.getNameLoc(), state.operands));
}

// "{attributes} ins(...) outs(...) -> type"
mlir::ParseResult parse_groups(mlir::OpAsmParser& parser, mlir::OperationState& state) {
  mlir::Type result;
  if (parser.parseOptionalAttrDict(state.attributes) || parse_group(parser, "ins", state) ||
      parse_group(parser, "outs", state) || parser.parseArrow() || parser.parseType(result)) {
    return mlir::failure();
  }
  state.addTypes(result);
  return mlir::success();
}

void print_groups(mlir::Operation* op, mlir::OpAsmPrinter& printer) {
  printer.printOptionalAttrDict(op->getAttrs());
  const auto inputs = op->getOperands().drop_back();
  printer << " ins(" << inputs << " : " << inputs.getTypes() << ") outs(" << op->getOperands().back() << " : "
          << op->getOperands().back().getType() << ") -> " << op->getResult(0).getType();
}

}  // namespace

mlir::ParseResult HfusionCast::parse(mlir::OpAsmParser& parser, mlir::OperationState& state) {
  return parse_groups(parser, state);
}

void HfusionCast::print(mlir::OpAsmPrinter& printer) { print_groups(*this, printer); }

mlir::ParseResult HfusionBinary::parse(mlir::OpAsmParser& parser, mlir::OperationState& state) {
  return parse_groups(parser, state);
}

void HfusionBinary::print(mlir::OpAsmPrinter& printer) { print_groups(*this, printer); }

mlir::ParseResult HfusionHistogram::parse(mlir::OpAsmParser& parser, mlir::OperationState& state) {
  mlir::OpAsmParser::UnresolvedOperand operand;
  mlir::IntegerAttr bins;
  mlir::Type type, result;
  if (parser.parseOperand(operand) || parser.parseComma() ||
      parser.parseAttribute(bins, parser.getBuilder().getI64Type(), "bins", state.attributes) ||
      parser.parseOptionalAttrDict(state.attributes) || parser.parseColonType(type) || parser.parseArrow() ||
      parser.parseType(result) || parser.resolveOperand(operand, type, state.operands)) {
    return mlir::failure();
  }
  state.addTypes(result);
  return mlir::success();
}

void HfusionHistogram::print(mlir::OpAsmPrinter& printer) {
  printer << " " << getOperand(0) << ", " << (*this)->getAttr("bins") << " : " << getOperand(0).getType()
          << " -> " << (*this)->getResult(0).getType();
}

namespace {

// `rounded` is `wide` rounded to nearest. The neighbour towards zero has the next smaller pattern of bits,
// and is wanted where rounding went away from zero; of an overflow to infinity it is the largest finite
// number.
Value toward_zero(mlir::OpBuilder& b, mlir::Location loc, Value wide, Value rounded) {
  mlir::Type narrow = rounded.getType();
  mlir::Type bits = b.getIntegerType(narrow.getIntOrFloatBitWidth());
  Value back = b.create<arith::ExtFOp>(loc, wide.getType(), rounded);
  Value grew =
      b.create<arith::CmpFOp>(loc, arith::CmpFPredicate::OGT, b.create<mlir::math::AbsFOp>(loc, back),
                              b.create<mlir::math::AbsFOp>(loc, wide));
  Value pattern = b.create<arith::BitcastOp>(loc, bits, rounded);
  Value one = b.create<arith::ConstantOp>(loc, b.getIntegerAttr(bits, 1));
  Value smaller = b.create<arith::BitcastOp>(loc, narrow, b.create<arith::SubIOp>(loc, pattern, one));
  return b.create<arith::SelectOp>(loc, grew, smaller, rounded);
}

mlir::FailureOr<Value> cast_element(mlir::OpBuilder& b, mlir::Location loc, llvm::StringRef mode, Value value,
                                    mlir::Type to) {
  mlir::Type from = value.getType();
  bool floats = mlir::isa<mlir::FloatType>(from) && mlir::isa<mlir::FloatType>(to);
  if (!floats) return mlir::failure();
  unsigned from_bits = from.getIntOrFloatBitWidth(), to_bits = to.getIntOrFloatBitWidth();
  if (from_bits < to_bits) return Value(b.create<arith::ExtFOp>(loc, to, value));
  if (from_bits == to_bits) return mlir::failure();
  Value rounded = b.create<arith::TruncFOp>(loc, to, value);
  if (mode == "rint") return rounded;
  if (mode == "trunc") return toward_zero(b, loc, value, rounded);
  return mlir::failure();
}

// Replaces the operation by a loop over its elements, whose body `element` makes: nothing where it can't.
using Element = llvm::function_ref<mlir::FailureOr<Value>(mlir::OpBuilder&, mlir::Location, ValueRange)>;
bool lower_elementwise(mlir::Operation* op, Element element) {
  mlir::OpBuilder b(op);
  auto type = mlir::dyn_cast<mlir::RankedTensorType>(op->getResult(0).getType());
  if (!type) return false;
  bool lowered = true;
  auto map = b.getMultiDimIdentityMap(static_cast<unsigned>(type.getRank()));
  llvm::SmallVector<mlir::utils::IteratorType> iterators(type.getRank(), mlir::utils::IteratorType::parallel);
  llvm::SmallVector<mlir::AffineMap> maps(op->getNumOperands(), map);
  auto generic = b.create<mlir::linalg::GenericOp>(
      op->getLoc(), type, op->getOperands().drop_back(), op->getOperands().take_back(), maps, iterators,
      [&](mlir::OpBuilder& body, mlir::Location at, ValueRange args) {
        auto value = element(body, at, args);
        lowered = mlir::succeeded(value);
        body.create<mlir::linalg::YieldOp>(at, lowered ? *value : args.back());
      });
  op->getResult(0).replaceAllUsesWith(generic.getResult(0));
  if (lowered) op->erase();
  return lowered;
}

Status refused(mlir::Operation* op, std::string_view what) {
  Diagnostic error = diagnostic("unsupported", "{}", what);
  error.where = place(op->getLoc());
  return error;
}

Status lower_cast(HfusionCast cast) {
  auto mode = cast->getAttrOfType<mlir::StringAttr>("mode");
  const bool lowered =
      mode && lower_elementwise(cast, [&](mlir::OpBuilder& b, mlir::Location at, ValueRange args) {
        return cast_element(b, at, mode.getValue(), args[0], args[1].getType());
      });
  if (lowered) return {};
  return refused(cast, "hfusion.cast is simulated between float types, to nearest or towards zero");
}

// The remainder has the sign of the dividend, as arith.remf has.
Status lower_binary(HfusionBinary binary) {
  auto function = binary->getAttrOfType<mlir::StringAttr>("fun");
  const bool lowered = function && function.getValue() == "mod" &&
                       lower_elementwise(binary, [](mlir::OpBuilder& b, mlir::Location at, ValueRange args) {
                         mlir::FailureOr<Value> value = mlir::failure();
                         if (mlir::isa<mlir::FloatType>(args[0].getType()))
                           value = Value(b.create<arith::RemFOp>(at, args[0], args[1]));
                         return value;
                       });
  if (lowered) return {};
  return refused(binary, "of hfusion.elemwise_binary the remainder of floats is simulated");
}

// Values outside of the bins are not counted.
void lower_histogram(HfusionHistogram histogram) {
  mlir::OpBuilder b(histogram);
  mlir::Location loc = histogram.getLoc();
  Value values = histogram->getOperand(0);
  auto from = mlir::cast<mlir::RankedTensorType>(values.getType());
  auto to = mlir::cast<mlir::RankedTensorType>(histogram->getResult(0).getType());
  Value zero_count = b.create<arith::ConstantOp>(loc, b.getIntegerAttr(to.getElementType(), 0));
  Value one_count = b.create<arith::ConstantOp>(loc, b.getIntegerAttr(to.getElementType(), 1));
  Value empty = b.create<mlir::tensor::EmptyOp>(loc, to.getShape(), to.getElementType());
  Value counts = b.create<mlir::linalg::FillOp>(loc, zero_count, empty).getResult(0);
  Value zero = b.create<arith::ConstantIndexOp>(loc, 0), one = b.create<arith::ConstantIndexOp>(loc, 1);
  Value bins = b.create<arith::ConstantIndexOp>(loc, to.getDimSize(0));
  Value size = b.create<arith::ConstantIndexOp>(loc, from.getDimSize(0));
  auto loop = b.create<mlir::scf::ForOp>(
      loc, zero, size, one, ValueRange{counts},
      [&](mlir::OpBuilder& body, mlir::Location at, Value i, ValueRange carried) {
        Value value = body.create<mlir::tensor::ExtractOp>(at, values, ValueRange{i});
        Value bin = body.create<arith::IndexCastOp>(at, body.getIndexType(), value);
        Value inside = body.create<arith::CmpIOp>(at, arith::CmpIPredicate::ult, bin, bins);
        Value where = body.create<arith::SelectOp>(at, inside, bin, zero);
        Value step = body.create<arith::SelectOp>(at, inside, one_count, zero_count);
        Value count = body.create<mlir::tensor::ExtractOp>(at, carried[0], ValueRange{where});
        Value sum = body.create<arith::AddIOp>(at, count, step);
        Value next = body.create<mlir::tensor::InsertOp>(at, sum, carried[0], ValueRange{where});
        body.create<mlir::scf::YieldOp>(at, next);
      });
  histogram->getResult(0).replaceAllUsesWith(loop.getResult(0));
  histogram->erase();
}

}  // namespace

Status lower_hfusion(mlir::ModuleOp module) {
  llvm::SmallVector<HfusionCast> casts;
  llvm::SmallVector<HfusionBinary> binaries;
  llvm::SmallVector<HfusionHistogram> histograms;
  module.walk([&](mlir::Operation* op) {
    if (auto cast = mlir::dyn_cast<HfusionCast>(op)) casts.push_back(cast);
    if (auto binary = mlir::dyn_cast<HfusionBinary>(op)) binaries.push_back(binary);
    if (auto histogram = mlir::dyn_cast<HfusionHistogram>(op)) histograms.push_back(histogram);
  });
  for (HfusionCast cast : casts) JUMAR_RETURN_IF_ERROR(lower_cast(cast));
  for (HfusionBinary binary : binaries) JUMAR_RETURN_IF_ERROR(lower_binary(binary));
  for (HfusionHistogram histogram : histograms) lower_histogram(histogram);
  return {};
}

}  // namespace jumar::runtime::sim
