#include "plan/binary_exprs.h"

#include <algorithm>

#include "plan/binary_format.h"

namespace jumar::plan::binary {
namespace {

using sym::Expr;
using sym::Op;

constexpr size_t kLeastRecordBytes = 8;

class Reader {
 public:
  Reader(sym::Context& cx, Cursor& in, const std::vector<std::string_view>& strings)
      : cx_(cx), in_(in), strings_(strings) {}

  std::vector<Expr> run() {
    const uint32_t count = in_.count(kLeastRecordBytes);
    exprs_.reserve(count);
    sizes_.reserve(count);
    for (uint32_t k = 0; k < count && !in_.failed(); ++k) {
      Size size;
      Expr e = record(size);
      if (in_.failed()) break;
      exprs_.push_back(e);
      sizes_.push_back(size);
    }
    return std::move(exprs_);
  }

 private:
  struct Size {
    uint32_t tree_nodes = 1;
    uint32_t height = 1;
  };

  Expr record(Size& size) {
    const uint32_t head = in_.u32();
    if (in_.failed()) return {};
    const uint32_t code = head & 0xff, count = head >> 8;
    if (code >= kOps.size()) {
      in_.fail_below("operator", code, kOps.size());
      return {};
    }
    const Op op = kOps[code];
    if (op == Op::kConst) return cx_.constant(static_cast<int64_t>(in_.u64()));
    if (op == Op::kSymbol) return symbol();
    if (!operands(count, size) || !is_buildable(op)) return {};
    Expr e = built(op, operands_);
    if (e.op() != op || !std::ranges::equal(e.operands(), operands_)) {
      size = {0, 0};
      measure(e, 1, size);
    }
    return e;
  }

  Expr symbol() {
    const uint32_t kind = in_.below(kSymbolKinds.size(), "symbol kind");
    const uint32_t name = in_.below(strings_.size(), "text");
    if (in_.failed()) return {};
    if (is_name(strings_[name])) return cx_.symbol(kSymbolKinds[kind], strings_[name]);
    in_.fail("a symbol whose name is no word");
    return {};
  }

  bool operands(uint32_t count, Size& size) {
    operands_.clear();
    if (count > in_.rest() / sizeof(uint32_t)) in_.fail(fmt::format("{} operands do not fit", count));
    for (uint32_t k = 0; k < count && !in_.failed(); ++k) {
      const uint32_t id = in_.below(exprs_.size(), "expression");
      if (in_.failed()) break;
      operands_.push_back(exprs_[id]);
      grow(size, sizes_[id].tree_nodes, sizes_[id].height + 1);
    }
    return !in_.failed();
  }

  void grow(Size& size, uint32_t tree_nodes, uint32_t height) {
    size.tree_nodes += tree_nodes;
    size.height = std::max(size.height, height);
    if (size.tree_nodes > kMaxTreeNodes || size.height > kMaxHeight)
      in_.fail(fmt::format("an expression of more than {} nodes or {} levels", kMaxTreeNodes, kMaxHeight));
  }

  void measure(Expr e, uint32_t height, Size& size) {
    grow(size, 1, height);
    for (Expr operand : e.operands())
      if (!in_.failed()) measure(operand, height + 1, size);
  }

  // Whether the operator takes the operands as they are: nothing to flatten, to expand or to divide by.
  bool is_buildable(Op op) {
    const bool is_division = op == Op::kFloorDiv || op == Op::kMod;
    const bool is_binary = is_division || (op >= Op::kEq && op <= Op::kLe);
    const size_t count = operands_.size();
    if (op == Op::kNot ? count != 1 : is_binary ? count != 2 : count < 2)
      in_.fail(fmt::format("{} operands", count));
    else if (is_division && operands_[1].is_const(0))
      in_.fail("a division by the constant zero");
    else if (!is_binary && std::ranges::any_of(operands_, [op](Expr e) { return is_nested(op, e.op()); }))
      in_.fail("an expression that is not in canonical form");
    return !in_.failed();
  }

  static bool is_nested(Op op, Op operand) {
    return operand == op || (op == Op::kMul && operand == Op::kAdd);
  }

  // Long operators are built from their halves, as joining one operand after the other takes quadratic
  // memory.
  Expr built(Op op, std::span<const Expr> operands) {
    if (op == Op::kAdd || operands.size() <= 2) return cx_.make(op, operands);
    const size_t half = operands.size() / 2;
    Expr halves[] = {part(op, operands.first(half)), part(op, operands.subspan(half))};
    return cx_.make(op, halves);
  }
  Expr part(Op op, std::span<const Expr> operands) {
    return operands.size() == 1 ? operands[0] : built(op, operands);
  }

  sym::Context& cx_;
  Cursor& in_;
  const std::vector<std::string_view>& strings_;
  std::vector<Expr> exprs_;
  std::vector<Size> sizes_;
  std::vector<Expr> operands_;
};

}  // namespace

std::vector<Expr> read_exprs(sym::Context& cx, Cursor& in, const std::vector<std::string_view>& strings) {
  return Reader(cx, in, strings).run();
}

bool is_name(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.';
  });
}

}  // namespace jumar::plan::binary
