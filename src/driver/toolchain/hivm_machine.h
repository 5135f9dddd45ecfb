// Runs functions of a HivmProgram and counts what they do: used by hivm_traffic alone.
#pragma once

#include <array>
#include <map>
#include <span>
#include <vector>

#include "driver/toolchain/hivm_traffic.h"

namespace jumar::driver::toolchain {

struct HivmView {
  HivmSpace space = HivmSpace::kNone;
  uint8_t rank = 0;
  int16_t bits = 0;       // of an element
  bool is_table = false;  // a constant of the module, in global memory
  std::array<int64_t, kMostDims> sizes = {};
  std::array<int64_t, kMostDims> strides = {};

  int64_t elements() const;
  // Contiguous pieces, in the order of the dimensions.
  int64_t rows() const;
  // A buffer as the type describes it; dynamic sizes come from `dynamic` in order, and are 1 without.
  static HivmView of(const HivmType& type, std::span<const int64_t> dynamic = {});
};

struct HivmValue {
  int64_t number = 0;
  bool is_known = true;
  HivmView view;
};

class HivmMachine {
 public:
  HivmMachine(const HivmProgram& program, int64_t most_steps) : program_(program), most_steps_(most_steps) {}

  // Adds to `work` what the function does. The values it returns are `returned` then.
  Status run(const HivmFunction& function, std::span<const HivmValue> arguments, int64_t block,
             int64_t sub_block, HivmWork& work);
  const std::vector<HivmValue>& returned() const { return returned_; }

  const std::map<std::string, HivmVectorUse>& vectors();
  int64_t ub_bytes() const { return ub_bytes_; }
  int64_t data_branches() const { return data_branches_; }

 private:
  // One call of a function.
  struct Frame {
    const HivmFunction& function;
    std::vector<HivmValue> values;
    std::vector<HivmValue> moved;  // of a move, while it is done
    size_t at = 0;
    bool is_over = false;
  };

  Status run_frame(const HivmFunction& function, std::span<const HivmValue> arguments, int depth);
  Status step(Frame& frame, int depth);
  void number(const HivmStep& step, Frame& frame) const;
  void affine(const HivmStep& step, Frame& frame) const;
  void view(const HivmStep& step, Frame& frame);
  void metadata(const HivmStep& step, Frame& frame) const;
  void dimension(const HivmStep& step, Frame& frame) const;
  void scalar_access(const HivmStep& step, const Frame& frame);
  // What a call of a repeatable function did, with the arguments it had.
  struct Effect {
    HivmWork work;
    std::vector<std::pair<uint32_t, HivmVectorUse>> uses;
    int64_t data_branches = 0;
  };

  void count_library_call(const HivmStep& step, const Frame& frame);
  void count_vector(uint32_t key, int64_t elements, int64_t bits);
  void count_instruction(const HivmStep& step);
  Status repeat(const HivmFunction& function, std::span<const HivmValue> arguments, int depth);
  Status call(const HivmStep& step, Frame& frame, int depth);
  void control(const HivmStep& step, Frame& frame);

  const HivmProgram& program_;
  int64_t most_steps_;
  int64_t block_ = 0;
  int64_t sub_block_ = 0;
  bool is_cube_ = false;
  HivmWork work_;
  std::vector<HivmValue> returned_;
  int64_t ub_bytes_ = 0;
  int64_t data_branches_ = 0;
  // Of callees, then of the names of instructions.
  std::vector<HivmVectorUse> uses_;
  std::map<std::vector<int64_t>, Effect> effects_;
  std::map<std::string, HivmVectorUse> vectors_;
};

}  // namespace jumar::driver::toolchain
