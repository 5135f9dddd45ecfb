// Lines beside a list of rows, as version control draws branches: a buffer takes a lane from the row that
// writes it to the last row that reads it.
#pragma once

#include <string>
#include <vector>

#include "driver/program_rows.h"

namespace jumar::driver::html {

class Lanes {
 public:
  explicit Lanes(const std::vector<ProgramRow>& rows);

  // Of the column, the same for all rows.
  int width() const;
  // Buffers that have no line.
  size_t left_out() const { return left_out_; }
  // The lines of one row, as SVG that is as high as the row is.
  std::string svg(size_t row) const;
  // The lines that pass from the row before to this one, for what stands between the two.
  std::string svg_before(size_t row) const;

 private:
  struct Line {
    size_t first = 0;             // row that writes it
    std::vector<size_t> readers;  // rows, ascending; not empty
    int lane = 0;                 // 0 is next to the rows
  };
  void place();
  int dot_x() const;
  int lane_x(int lane) const;
  std::string opening() const;

  std::vector<Line> lines_;
  std::vector<std::vector<size_t>> at_;  // lines that touch a row
  int lanes_ = 0;
  size_t left_out_ = 0;
};

}  // namespace jumar::driver::html
