#include "driver/html_lanes.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

namespace jumar::driver::html {
namespace {

constexpr int kLaneWidth = 11;
constexpr int kDotY = 19;  // the middle of a closed row
constexpr size_t kMostLanes = 14;
constexpr int kColors = 8;

}  // namespace

Lanes::Lanes(const std::vector<ProgramRow>& rows) : at_(rows.size()) {
  std::unordered_map<loop::BufferId, size_t> open;
  for (size_t row = 0; row < rows.size(); ++row) {
    for (const loop::BufferId id : rows[row].reads) {
      const auto line = open.find(id);
      if (line != open.end()) lines_[line->second].readers.push_back(row);
    }
    for (const loop::BufferId id : rows[row].writes) {
      open[id] = lines_.size();
      lines_.push_back({row, {}, 0});
    }
  }
  std::erase_if(lines_, [](Line& line) {
    // A row that reads what it has written itself needs no line for it.
    std::erase(line.readers, line.first);
    return line.readers.empty();
  });
  place();
}

// A lane holds lines that follow each other: the row in which one ends may be the one in which the next
// begins, as both then meet its dot.
void Lanes::place() {
  std::ranges::stable_sort(lines_, {}, [](const Line& line) { return line.readers.back() - line.first; });
  std::vector<std::vector<const Line*>> lanes;
  std::vector<Line> placed;
  placed.reserve(lines_.size());
  for (Line& line : lines_) {
    const auto meets = [&line](const Line* other) {
      return other->first < line.readers.back() && line.first < other->readers.back();
    };
    const auto lane =
        std::ranges::find_if(lanes, [&](const auto& lines) { return std::ranges::none_of(lines, meets); });
    line.lane = static_cast<int>(lane - lanes.begin());
    if (lane == lanes.end() && lanes.size() == kMostLanes) {
      ++left_out_;
      continue;
    }
    if (lane == lanes.end()) lanes.emplace_back();
    for (size_t row = line.first; row <= line.readers.back(); ++row) at_[row].push_back(placed.size());
    placed.push_back(std::move(line));
    lanes[static_cast<size_t>(placed.back().lane)].push_back(&placed.back());
  }
  lines_ = std::move(placed);
  lanes_ = static_cast<int>(lanes.size());
}

int Lanes::dot_x() const { return 10 + lanes_ * kLaneWidth; }
int Lanes::lane_x(int lane) const { return dot_x() - (lane + 1) * kLaneWidth; }
int Lanes::width() const { return dot_x() + 10; }

std::string Lanes::opening() const {
  return fmt::format("<svg class=\"lanes\" width=\"{}\" height=\"100%\" aria-hidden=\"true\">", width());
}

std::string Lanes::svg_before(size_t row) const {
  std::string out = opening();
  for (const size_t index : at_[row]) {
    if (lines_[index].first == row) continue;
    out += fmt::format("<line class=\"k{0}\" x1=\"{1}\" y1=\"0\" x2=\"{1}\" y2=\"100%\"/>", index % kColors,
                       lane_x(lines_[index].lane));
  }
  return out + "</svg>";
}

std::string Lanes::svg(size_t row) const {
  const int dot = dot_x();
  std::string out = opening();
  for (const size_t index : at_[row]) {
    const Line& line = lines_[index];
    const int x = lane_x(line.lane);
    const bool begins = line.first == row, ends = line.readers.back() == row;
    const bool is_read = std::ranges::binary_search(line.readers, row);
    out += fmt::format("<g class=\"k{}\">", index % kColors);
    if (!begins) out += fmt::format("<line x1=\"{0}\" y1=\"0\" x2=\"{0}\" y2=\"{1}\"/>", x, kDotY - 9);
    if (begins) {
      out += fmt::format("<path d=\"M{} {} H{} Q{} {} {} {}\"/>", dot, kDotY + 3, x + 5, x, kDotY + 3, x,
                         kDotY + 9);
    } else if (is_read) {
      out += fmt::format("<path d=\"M{} {} Q{} {} {} {} H{}\"/>", x, kDotY - 9, x, kDotY - 3, x + 5,
                         kDotY - 3, dot);
    }
    if (!ends) {
      out += fmt::format("<line x1=\"{0}\" y1=\"{1}\" x2=\"{0}\" y2=\"100%\"/>", x,
                         begins ? kDotY + 9 : kDotY - 9);
    }
    out += "</g>";
  }
  return out + fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"5\"/></svg>", dot, kDotY);
}

}  // namespace jumar::driver::html
