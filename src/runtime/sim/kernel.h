// A kernel that was compiled, and everything that its code needs to run.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/sim/api.h"
#include "runtime/sim/frames.h"
#include "runtime/sim/jit.h"
#include "runtime/sim/signature.h"
#include "support/result.h"

namespace jumar::runtime::sim {

struct Options {
  std::string kernel;  // empty: the module's only one
  int level = 2;
  bool floats_last = false;
  bool fills_buffers = true;
};

class Kernel {
 public:
  static Result<std::unique_ptr<Kernel>> compile(std::string_view text, const Options& options);

  jumar_sim_fn function() const { return reinterpret_cast<jumar_sim_fn>(code_->entry()); }
  const jumar_sim_info& info() const { return info_; }
  std::string fault_text(const jumar_sim_fault& fault) const;

 private:
  void describe(const Words& words, int64_t buffer_bytes);

  Signature signature_;
  std::unique_ptr<FramePool> frames_;
  std::unique_ptr<Code> code_;
  std::vector<jumar_sim_argument> arguments_;
  jumar_sim_info info_ = {};
};

}  // namespace jumar::runtime::sim
