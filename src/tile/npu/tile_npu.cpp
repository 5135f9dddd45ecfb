#include "tile/npu/tile_npu.h"

#include <algorithm>

#include "support/check.h"
#include "tile/npu/lower_nest.h"
#include "tile/npu/memory.h"
#include "tile/npu/pieces.h"

namespace jumar::tile::npu {
namespace {

// The k-th candidate of each nest, or its last.
std::optional<Choice> choice_of(const loop::Program& program, const std::string& name,
                                const std::vector<PreparedNest>& nests,
                                const std::vector<std::vector<Candidate>>& candidates, size_t k,
                                const NpuModel& model) {
  Choice choice;
  choice.kernel.name = name;
  Arguments arguments(program, choice.kernel);
  for (size_t n = 0; n < nests.size(); ++n) {
    const Candidate& candidate = candidates[n][std::min(k, candidates[n].size() - 1)];
    const std::optional<std::string> refusal =
        add_nest(program, nests[n], candidate.tiling, arguments, choice.kernel);
    if (refusal) return std::nullopt;
    choice.tilings.push_back(candidate.tiling);
    choice.us += candidate.us;
  }
  const BufferNeed need = buffer_need(choice.kernel, memory_model(model));
  choice.buffer_bytes = need.bytes;
  choice.unshared_bytes = need.unshared_bytes;
  sym::Context& cx = program.cx();
  Expr grid = cx.constant(0);
  for (const BlockNest& nest : choice.kernel.nests) grid = cx.max(grid, nest.tasks);
  choice.kernel.grid = cx.min(grid, vector_cores(cx));
  return choice;
}

// False where a nest can't be cut at all, with the reason.
bool add_choices(const loop::Program& program, const std::string& name,
                 const std::vector<PreparedNest>& nests, const NpuModel& share, const NpuModel& model,
                 size_t most, TiledKernel& out) {
  std::vector<std::vector<Candidate>> all;
  size_t count = 1;
  for (const PreparedNest& nest : nests) {
    all.push_back(candidates(program, nest, share, most, out.refusal));
    if (all.back().empty()) {
      if (out.refusal.empty()) out.refusal = "no way to cut it";
      return false;
    }
    count = std::max(count, all.back().size());
  }
  out.refusal.clear();
  for (size_t k = 0; k < count; ++k) {
    std::optional<Choice> choice = choice_of(program, name, nests, all, k, model);
    if (choice && choice->buffer_bytes <= model.buffer_bytes) out.choices.push_back(std::move(*choice));
  }
  return true;
}

}  // namespace

TiledKernel tile_npu(loop::Program& program, const loop::Kernel& kernel, const NpuModel& model, size_t most) {
  TiledKernel out;
  if (kernel.is_phased) {
    out.refusal = "phases of a kernel can't wait for each other";
    return out;
  }
  std::vector<loop::Nest> pieces;
  for (const loop::Nest& nest : kernel.nests) {
    const std::vector<loop::Nest> more = pieces_of(program, nest);
    pieces.insert(pieces.end(), more.begin(), more.end());
  }
  std::vector<PreparedNest> nests;
  for (const loop::Nest& nest : joined_nests(program.cx(), pieces)) nests.push_back(prepared(program, nest));
  // Each nest alone has all the memory, but nests together may need more: then each has to do with less.
  constexpr int kMostTries = 6;
  NpuModel tried = model;
  for (int round = 0; round < kMostTries && out.choices.empty(); ++round) {
    if (!add_choices(program, kernel.name, nests, tried, model, most, out)) return out;
    tried.buffer_bytes = tried.buffer_bytes * 2 / 3;
  }
  if (out.choices.empty()) out.refusal = "its nests don't fit one kernel";
  return out;
}

}  // namespace jumar::tile::npu
