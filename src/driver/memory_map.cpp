#include "driver/memory_map.h"

#include <algorithm>
#include <limits>
#include <unordered_set>

#include "plan/entry.h"
#include "runtime/arena.h"

namespace jumar::driver {
namespace {

using plan::Storage;
using plan::TensorId;

// Sizes that a file names may be any: a sum that is too large stays the largest.
void add(int64_t& sum, int64_t bytes) {
  if (__builtin_add_overflow(sum, bytes, &sum)) sum = std::numeric_limits<int64_t>::max();
}

class Mapper {
 public:
  Mapper(const plan::Plan& plan, const SizeValues& sizes) : plan_(plan), sizes_(sizes) {}

  MemoryMap run() {
    uses_.resize(plan_.tensors.size());
    known_before_steps();
    for (step_ = 0; step_ < plan_.steps.size(); ++step_)
      std::visit([this](const auto& data) { visit(data); }, plan_.steps[step_].data);
    settle();
    for (const plan::Arg& arg : plan_.outputs) {
      use(arg);
      if (const TensorId* id = arg.as<TensorId>()) uses_[root(*id).index()].is_returned = true;
    }
    add_blocks();
    place(true);
    place(false);
    find_peak();
    return std::move(map_);
  }

 private:
  struct Uses {
    uint32_t first = UINT32_MAX;
    uint32_t last = 0;
    bool is_given_away = false;  // the embedder gets it
    bool is_returned = false;
  };

  TensorId root(TensorId id) const {
    while (plan_.tensors[id].storage == Storage::kView) id = plan_.tensors[id].base;
    return id;
  }

  void use(TensorId id) {
    if (!id) return;
    Uses& uses = uses_[root(id).index()];
    uses.first = std::min(uses.first, step_);
    uses.last = std::max(uses.last, step_);
  }
  void use(const plan::Arg& arg) {
    ir::for_each_ref(arg, [this](auto ref) {
      if constexpr (std::is_same_v<decltype(ref), TensorId>) use(ref);
    });
  }
  void use(const std::vector<TensorId>& ids) {
    for (const TensorId id : ids) use(id);
  }

  // Results are compared with their types by the step after the call, and after the binds that follow it.
  void settle() {
    use(pending_);
    pending_.clear();
  }

  void known_before_steps() {
    const Result<std::vector<plan::EntryBinding>> rows = plan::entry_bindings(plan_);
    CHECK(rows.ok(), "{}", rows.error().text());
    for (const plan::EntryBinding& row : *rows)
      if (row.symbol) known_.insert(row.symbol);
  }

  void visit(const plan::BindStep& bind) {
    if (plan::is_entry_bind(plan_, bind)) return;
    if (bind.source == plan::BindStep::Source::kItem || bind.of_number()) settle();
    use(bind.tensor);
  }
  void visit(const plan::LaunchStep& launch) {
    settle();
    use(launch.tensors);
  }
  void visit(const plan::CallStep& call) {
    settle();
    use(call.results);
    for (const plan::Arg& arg : call.args) use(arg);
    if (!call.into) pending_ = call.results;
  }
  void visit(const plan::PythonStep& python) {
    settle();
    use(python.results);
    for (const plan::Arg& arg : python.args) {
      use(arg);
      ir::for_each_ref(arg, [this](auto ref) {
        if constexpr (std::is_same_v<decltype(ref), TensorId>) uses_[root(ref).index()].is_given_away = true;
      });
    }
    pending_ = python.results;
  }
  void visit(const plan::NumberStep& number) {
    settle();
    for (const plan::Arg& arg : number.args) use(arg);
  }
  void visit(const plan::CheckStep& /*check*/) { settle(); }

  bool is_known_at_entry(const ir::TensorType& type) const {
    const auto is_known = [this](sym::Expr e) {
      return std::ranges::all_of(sym::symbols_of(e), [this](sym::Expr s) { return known_.contains(s); });
    };
    return std::ranges::all_of(type.sizes, is_known) && std::ranges::all_of(type.strides, is_known);
  }

  void add_blocks() {
    const auto end = static_cast<uint32_t>(plan_.steps.size());
    for (size_t k = 0; k < plan_.tensors.size(); ++k) {
      const TensorId id = plan_.tensors.id_at(k);
      const plan::Tensor& tensor = plan_.tensors[id];
      if (tensor.storage == Storage::kView) continue;
      const std::optional<int64_t> bytes = tensor_bytes(plan_.cx(), tensor.type, sizes_);
      if (tensor.storage == Storage::kParameter || tensor.storage == Storage::kInput) {
        add(tensor.storage == Storage::kInput ? map_.input_bytes : map_.parameter_bytes, bytes.value_or(0));
        continue;
      }
      const Uses& uses = uses_[k];
      if (uses.first == UINT32_MAX) continue;
      if (!bytes) {
        map_.unknown.push_back(id);
        continue;
      }
      const bool is_planned =
          tensor.storage == Storage::kArena && !uses.is_given_away && is_known_at_entry(tensor.type);
      MemoryBlock block{MemoryBlock::Place::kOutput, id, *bytes, uses.first, uses.last, 0};
      if (is_planned) block.place = MemoryBlock::Place::kArena;
      if (tensor.storage == Storage::kResult) block.place = MemoryBlock::Place::kResult;
      if (uses.is_returned) block.last = end;
      map_.blocks.push_back(block);
    }
  }

  void place(bool in_arena) {
    std::vector<MemoryBlock*> blocks;
    std::vector<runtime::ArenaRequest> requests;
    for (MemoryBlock& block : map_.blocks) {
      if ((block.place == MemoryBlock::Place::kArena) != in_arena) continue;
      blocks.push_back(&block);
      requests.push_back({block.bytes, block.first, block.last});
    }
    const std::optional<runtime::ArenaLayout> layout = runtime::planned_arena(requests);
    if (!layout) return;  // more than there is: such sizes are an error of the call
    for (size_t k = 0; k < blocks.size(); ++k) blocks[k]->offset = layout->offsets[k];
    (in_arena ? map_.arena_bytes : map_.other_extent) = layout->total_bytes;
  }

  void find_peak() {
    for (uint32_t step = 0; step <= plan_.steps.size(); ++step) {
      int64_t arena = 0, others = 0;
      for (const MemoryBlock& block : map_.blocks) {
        if (step < block.first || step > block.last) continue;
        add(block.place == MemoryBlock::Place::kArena ? arena : others, block.bytes);
      }
      map_.arena_used_bytes = std::max(map_.arena_used_bytes, arena);
      add(others, map_.arena_bytes);
      if (others <= map_.peak_bytes) continue;
      map_.peak_bytes = others;
      map_.peak_step = step;
    }
  }

  const plan::Plan& plan_;
  const SizeValues& sizes_;
  std::vector<Uses> uses_;
  std::unordered_set<sym::Expr> known_;
  std::vector<TensorId> pending_;
  uint32_t step_ = 0;
  MemoryMap map_;
};

}  // namespace

SizeValues hinted_sizes(const loop::Program& program) {
  SizeValues sizes;
  for (const loop::SymbolInfo& info : program.symbols) {
    const bool is_size = info.symbol.symbol_kind() == sym::SymbolKind::kSize;
    if (!info.hint && !is_size) continue;
    constexpr int64_t kUsual = 2;
    sizes[info.symbol.symbol_name()] =
        info.hint.value_or(std::max(info.range.lo, std::min(info.range.hi, kUsual)));
  }
  return sizes;
}

std::optional<int64_t> tensor_bytes(sym::Context& cx, const ir::TensorType& type, const SizeValues& sizes) {
  const auto value_of = [&](sym::Expr symbol) -> std::optional<int64_t> {
    const auto row = sizes.find(symbol.symbol_name());
    return row == sizes.end() ? std::nullopt : std::optional(row->second);
  };
  for (const sym::Expr size : type.sizes) {
    const Result<int64_t> value = sym::evaluate(size, value_of);
    if (!value.ok()) return std::nullopt;
    if (*value <= 0) return 0;
  }
  const Result<int64_t> elems = sym::evaluate(ir::storage_extent(cx, type), value_of);
  int64_t bytes = 0;
  if (!elems.ok() || __builtin_mul_overflow(*elems, ir::dtype_bytes(type.dtype), &bytes)) return std::nullopt;
  return bytes;
}

MemoryMap memory_map(const plan::Plan& plan, const SizeValues& sizes) { return Mapper(plan, sizes).run(); }

}  // namespace jumar::driver
