#include "driver/html_memory.h"

#include <fmt/format.h>

#include <algorithm>

#include "driver/html_text.h"

namespace jumar::driver::html {
namespace {

constexpr double kWidth = 1100;
constexpr double kHeight = 400;
constexpr double kLeft = 74;  // of the plot
constexpr double kTop = 26;
constexpr double kBottom = 366;
constexpr double kRight = 1016;  // beside it the arena is named
constexpr int kColors = 8;       // classes c0 to c7 of the style sheet
constexpr double kLetterWidth = 6.3;

std::string_view place_text(MemoryBlock::Place place) {
  switch (place) {
    case MemoryBlock::Place::kArena:
      return "arena";
    case MemoryBlock::Place::kOutput:
      return "memory of its own";
    case MemoryBlock::Place::kResult:
      return "made by the operator";
  }
  return "";
}

class Chart {
 public:
  Chart(const plan::Plan& plan, const MemoryMap& map)
      : plan_(plan),
        map_(map),
        columns_(static_cast<double>(plan.steps.size()) + 1),
        top_bytes_(std::max<int64_t>(1, map.arena_bytes + map.other_extent)) {}

  std::string run() {
    svg_ = fmt::format(
        "<svg class=\"memory\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"Memory over the steps of a "
        "call\">\n",
        kWidth, kHeight);
    grid();
    for (size_t k = 0; k < map_.blocks.size(); ++k) block(map_.blocks[k], k);
    if (map_.arena_bytes > 0) arena();
    peak();
    return svg_ + "</svg>\n";
  }

 private:
  double x(uint32_t step) const { return kLeft + (kRight - kLeft) * step / columns_; }
  double y(int64_t bytes) const {
    return kBottom - (kBottom - kTop) * static_cast<double>(bytes) / static_cast<double>(top_bytes_);
  }

  template <class... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    svg_ += fmt::format(format, std::forward<Args>(args)...);
  }

  // The round number of bytes that gives four to eight lines.
  int64_t grid_bytes() const {
    int64_t step = 1;
    while (top_bytes_ / step > 8) step *= 2;
    return step;
  }

  uint32_t grid_steps() const {
    uint32_t step = 1;
    for (uint32_t factor : {2u, 5u, 10u, 20u, 50u, 100u, 200u, 500u, 1000u, 2000u, 5000u, 10000u})
      if (columns_ / step > 20) step = factor;
    return step;
  }

  void grid() {
    const int64_t bytes = grid_bytes();
    for (int64_t at = 0; at <= top_bytes_; at += bytes) {
      put("<line class=\"grid\" x1=\"{}\" y1=\"{:.1f}\" x2=\"{}\" y2=\"{:.1f}\"/>", kLeft, y(at), kRight,
          y(at));
      put("<text class=\"tick\" x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", kLeft - 8, y(at) + 4,
          bytes_text(at));
    }
    const uint32_t every = grid_steps();
    for (uint32_t step = 0; step < static_cast<uint32_t>(columns_); step += every) {
      put("<text class=\"tick\" x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
          (x(step) + x(step + 1)) / 2, kBottom + 16, step);
    }
    put("<text class=\"tick\" x=\"{}\" y=\"{}\" text-anchor=\"end\">step</text>\n", kRight, kBottom + 30);
  }

  void block(const MemoryBlock& block, size_t index) {
    const bool in_arena = block.place == MemoryBlock::Place::kArena;
    const int64_t begin = block.offset + (in_arena ? 0 : map_.arena_bytes);
    const double left = x(block.first), width = x(block.last + 1) - left;
    const double upper = y(begin + block.bytes), height = y(begin) - upper;
    const std::string name = escaped(plan_.tensors[block.tensor].name);
    put("<a href=\"#s{}\"><rect class=\"block c{}{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" "
        "height=\"{:.1f}\"><title>%{}\n{}, {}\nsteps {} to {}\n{}</title></rect>",
        block.first, index % kColors, in_arena ? "" : " outside", left, upper, width, std::max(height, 0.6),
        name, bytes_text(block.bytes), place_text(block.place), block.first, block.last,
        escaped(ir::text(plan_.cx(), plan_.tensors[block.tensor].type)));
    label(block, left + width / 2, upper + height / 2, width, height);
    svg_ += "</a>\n";
  }

  void label(const MemoryBlock& block, double x, double y, double width, double height) {
    const std::string& name = plan_.tensors[block.tensor].name;
    const std::string size = bytes_text(block.bytes);
    const double both = static_cast<double>(name.size() + size.size() + 3) * kLetterWidth;
    const double longer = static_cast<double>(std::max(name.size() + 1, size.size())) * kLetterWidth;
    if (height < 13) return;
    if (both < width) {
      put("<text class=\"label\" x=\"{:.1f}\" y=\"{:.1f}\">%{} {}</text>", x, y + 4, escaped(name), size);
    } else if (longer < width && height > 28) {
      put("<text class=\"label\" x=\"{:.1f}\" y=\"{:.1f}\">%{}</text>", x, y - 2, escaped(name));
      put("<text class=\"label\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", x, y + 11, size);
    } else if (static_cast<double>(name.size() + 1) * kLetterWidth < width) {
      put("<text class=\"label\" x=\"{:.1f}\" y=\"{:.1f}\">%{}</text>", x, y + 4, escaped(name));
    }
  }

  void arena() {
    const double at = y(map_.arena_bytes);
    put("<line class=\"arena\" x1=\"{}\" y1=\"{:.1f}\" x2=\"{}\" y2=\"{:.1f}\"/>", kLeft, at, kRight, at);
    put("<text class=\"mark\" x=\"{0}\" y=\"{1:.1f}\">arena</text><text class=\"mark\" x=\"{0}\" "
        "y=\"{2:.1f}\">{3}</text>\n",
        kRight + 8, at - 2, at + 12, bytes_text(map_.arena_bytes));
  }

  void peak() {
    const double at = (x(map_.peak_step) + x(map_.peak_step + 1)) / 2;
    put("<line class=\"peak\" x1=\"{:.1f}\" y1=\"{}\" x2=\"{:.1f}\" y2=\"{}\"/>", at, kTop - 6, at, kBottom);
    const bool at_right = at > kWidth / 2;
    put("<text class=\"mark peak\" x=\"{:.1f}\" y=\"{}\" text-anchor=\"{}\">peak {} in step {}</text>\n",
        at + (at_right ? -6 : 6), kTop - 10, at_right ? "end" : "start", bytes_text(map_.peak_bytes),
        map_.peak_step);
  }

  const plan::Plan& plan_;
  const MemoryMap& map_;
  const double columns_;
  const int64_t top_bytes_;
  std::string svg_;
};

}  // namespace

std::string memory_chart(const plan::Plan& plan, const MemoryMap& map) { return Chart(plan, map).run(); }

std::string memory_table(const plan::Plan& plan, const MemoryMap& map) {
  std::vector<const MemoryBlock*> blocks;
  for (const MemoryBlock& block : map.blocks) blocks.push_back(&block);
  std::ranges::stable_sort(blocks, [](const auto* a, const auto* b) { return a->bytes > b->bytes; });
  std::string out =
      "<table><thead><tr><th>buffer</th><th>type</th><th class=\"n\">size</th><th class=\"n\">first "
      "step</th><th class=\"n\">last step</th><th>where</th></tr></thead><tbody>\n";
  const auto name_cells = [&](plan::TensorId id) {
    const plan::Tensor& tensor = plan.tensors[id];
    return fmt::format("<tr><td><code>%{}</code></td><td><code>{}</code></td>", escaped(tensor.name),
                       escaped(ir::text(plan.cx(), tensor.type)));
  };
  for (const MemoryBlock* block : blocks) {
    const bool in_arena = block->place == MemoryBlock::Place::kArena;
    out += fmt::format(
        "{}<td class=\"n\">{}</td><td class=\"n\"><a href=\"#s{}\">{}</a></td><td class=\"n\">{}</td><td>{}{}"
        "</td></tr>\n",
        name_cells(block->tensor), bytes_text(block->bytes), block->first, block->first, block->last,
        place_text(block->place), in_arena ? fmt::format(" at {}", bytes_text(block->offset)) : "");
  }
  for (const plan::TensorId id : map.unknown)
    out += name_cells(id) + "<td class=\"n\">known in the call</td><td></td><td></td><td></td></tr>\n";
  return out + "</tbody></table>\n";
}

}  // namespace jumar::driver::html
