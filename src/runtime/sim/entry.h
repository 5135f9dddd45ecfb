// The function that the executor calls, around a lowered kernel.
//
//   void jumar_sim_entry(int64_t begin, int64_t end, void** args) {
//     frame = jumar_sim_frame_take(pool);
//     for (block = begin; block < end && !fault->flag; ++block)
//       kernel(jumar_sim_frame_begin(frame), frame, arguments from the words, grid, program ids, fault, block);
//     jumar_sim_frame_give(pool, frame);
//   }
//
// The kernel's buffers, allocas of its first block, get places in the frame. Until the optimizer is done each
// comes from a call without effects whose result aliases nothing; resolve_buffers then puts the address there.
#pragma once

#include <llvm/IR/Module.h>

#include <cstdint>

#include "runtime/sim/frames.h"
#include "runtime/sim/signature.h"

namespace jumar::runtime::sim {

inline constexpr const char* kEntryName = "jumar_sim_entry";

// Gives the kernel's buffers their places, and says how large a frame is.
int64_t lay_out_frame(llvm::Module& module);
void add_entry(llvm::Module& module, const Signature& signature, const Words& words, const FramePool* pool);
void resolve_buffers(llvm::Module& module);

}  // namespace jumar::runtime::sim
