// Inputs that change: a program's last kernels, which copy a buffer into an input each.
//
//   kernel @new { nest (i0 in 4) { stage { load %p[i0] ... store %new[i0], %2 } } }
//   kernel @p_update { nest (i0 in 4) { stage { %0: f32 = load %new[i0]  store %p[i0], %0 } } }
//   ->
//   kernel @new { nest (i0 in 4) { stage { load %p[i0] ... store %p[i0], %2 } } }
//
// Fusion works on programs in which a buffer is written once, so these kernels stand aside meanwhile.
// Afterwards a buffer that becomes an input is stored to the input at once, if that is proved to change
// nothing: whatever touches the input has run by then, but loads of the very element that a point stores,
// above the store. Otherwise the copy stays, after everything else.
#pragma once

#include "fuse/fuse.h"

namespace jumar::fuse {

class Updates {
 public:
  // Takes the copies off the end of the program. What they read is returned by the program until they are
  // back.
  explicit Updates(loop::Program& program);

  // Whether other kernels store to inputs as well: such a program is left as it is.
  bool has_others() const { return has_others_; }
  // Brings the program's inputs up to date in as few kernels as there can be.
  void put_back(FuseReport& report, const FuseOptions& options);

 private:
  struct Update {
    loop::Kernel kernel;
    loop::BufferId value;
    loop::BufferId input;
  };
  void restore_ids();
  void append_copies(std::vector<Update> copies, FuseReport& report, const FuseOptions& options);

  loop::Program& program_;
  std::vector<Update> updates_;
  bool has_others_ = false;
};

}  // namespace jumar::fuse
