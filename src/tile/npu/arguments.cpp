#include "tile/npu/arguments.h"

#include <algorithm>

#include <fmt/format.h>

namespace jumar::tile::npu {
namespace {

constexpr sym::Range kSizes = {0, kMostExtent};
constexpr sym::Range kCores = {1, 65535};

template <class T>
uint32_t position(std::vector<T>& list, const T& item) {
  const auto found = std::ranges::find(list, item);
  if (found != list.end()) return static_cast<uint32_t>(found - list.begin());
  list.push_back(item);
  return static_cast<uint32_t>(list.size() - 1);
}

}  // namespace

Arguments::Arguments(const loop::Program& program, BlockKernel& kernel)
    : cx_(program.cx()), kernel_(kernel), size_facts_(program.facts()) {
  for (const loop::SymbolInfo& info : program.symbols) size_facts_.set_range(info.symbol, kSizes);
  size_facts_.set_range(vector_cores(cx_), kCores);
}

uint32_t Arguments::buffer(loop::BufferId id) { return position(kernel_.buffers, id); }
uint32_t Arguments::number(loop::NumberId id) { return position(kernel_.numbers, id); }

bool Arguments::is_size(Expr e) const {
  if (sym::mentions_kind(e, sym::SymbolKind::kAxis) || sym::mentions_kind(e, sym::SymbolKind::kValue))
    return false;
  return std::ranges::all_of(sym::symbols_of(e), [&](Expr symbol) {
    return (symbol.is_symbol(sym::SymbolKind::kSize) || symbol.is_symbol(sym::SymbolKind::kUnbacked)) &&
           symbol.symbol_name().front() != 'n';
  });
}

Expr Arguments::argument(Expr sizes) { return made(sizes, false); }
Expr Arguments::extent(Expr sizes) { return made(sizes, true); }

Expr Arguments::made(Expr sizes, bool is_extent) {
  if (sizes.is_const()) return sizes;
  const auto found = known_.find(sizes);
  if (found != known_.end()) return found->second;
  IntArgument argument;
  argument.value = sizes;
  argument.symbol = cx_.symbol(sym::SymbolKind::kSize, fmt::format("n{}", kernel_.ints.size()));
  sym::Range range = sym::bounds(sizes, size_facts_);
  if (is_extent && range.hi > kMostExtent) {
    argument.must_fit = true;
    range = {std::max<int64_t>(range.lo, 0), kMostExtent};
  }
  argument.is_wide = range.lo < INT32_MIN || range.hi > INT32_MAX;
  kernel_.facts.set_range(argument.symbol, range);
  kernel_.ints.push_back(argument);
  known_.emplace(sizes, argument.symbol);
  return argument.symbol;
}

Expr Arguments::lifted(Expr e) {
  if (!sym::mentions_kind(e, sym::SymbolKind::kSize) && !sym::mentions_kind(e, sym::SymbolKind::kUnbacked))
    return e;
  if (is_size(e)) return argument(e);
  if (e.is_symbol()) return e;
  const bool groups = e.op() == sym::Op::kAdd || e.op() == sym::Op::kMul || e.op() == sym::Op::kMin ||
                      e.op() == sym::Op::kMax;
  std::vector<Expr> sizes;
  std::vector<Expr> operands;
  for (Expr operand : e.operands()) {
    if (groups && is_size(operand))
      sizes.push_back(operand);
    else
      operands.push_back(lifted(operand));
  }
  if (!sizes.empty()) operands.push_back(argument(sizes.size() == 1 ? sizes[0] : cx_.make(e.op(), sizes)));
  return cx_.make(e.op(), operands);
}

}  // namespace jumar::tile::npu
