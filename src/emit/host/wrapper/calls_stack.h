// The parts of Calls (calls.h) that turn arguments into words of the dispatcher's stack.
#pragma once

#include "emit/host/wrapper/calls_results.h"

namespace jumar::wrapper {

// libtorch consumes what a word refers to, and deletes the cell of an optional.
inline uint64_t Calls::word_of(const Arg& arg, bool is_cell) {
  if (arg.kind == Arg::Kind::kNone) return 0;
  const uint64_t word = plain_word(arg);
  return is_cell ? reinterpret_cast<uint64_t>(new uint64_t(word)) : word;
}

inline uint64_t Calls::plain_word(const Arg& arg) {
  switch (arg.kind) {
    case Arg::Kind::kTensor: {
      Handle reference = nullptr;
      if (torch_.aoti_torch_new_tensor_handle(handle(*arg.tensor), &reference) != 0)
        fail(FailureKind::kMemory, "no memory for an operand");
      return reinterpret_cast<uint64_t>(reference);
    }
    case Arg::Kind::kFloat: {
      uint64_t bits = 0;
      std::memcpy(&bits, &arg.number, sizeof bits);
      return bits;
    }
    case Arg::Kind::kText: {
      String text = nullptr;
      torch_.torch_new_string_handle(arg.text, std::strlen(arg.text), &text);
      return reinterpret_cast<uint64_t>(text);
    }
    case Arg::Kind::kList: {
      List list = nullptr;
      torch_.torch_new_list_reserve_size(static_cast<size_t>(arg.integer), &list);
      for (int64_t k = 0; k < arg.integer; ++k)
        torch_.torch_list_push_back(list, word_of(arg.items[k], arg.items[k].is_optional));
      return reinterpret_cast<uint64_t>(list);
    }
    case Arg::Kind::kDevice: {  // type in the upper half, index in the lower
      const uint32_t type = static_cast<uint32_t>(torch_.aoti_torch_device_type_cpu());
      return static_cast<uint64_t>(type) << 32 | static_cast<uint32_t>(arg.integer);
    }
    case Arg::Kind::kFormat:
      return static_cast<uint64_t>(format_code(static_cast<Format>(arg.integer)));
    default:
      return static_cast<uint64_t>(arg.integer);
  }
}

inline int64_t Calls::format_code(Format format) const {
  switch (format) {
    case Format::kStrided:
      return torch_.aoti_torch_layout_strided();
    case Format::kContiguous:
      return torch_.aoti_torch_memory_format_contiguous_format();
    case Format::kPreserve:
      return torch_.aoti_torch_memory_format_preserve_format();
    case Format::kChannelsLast:
      return torch_.aoti_torch_memory_format_channels_last();
    case Format::kChannelsLast3d:
      return torch_.aoti_torch_memory_format_channels_last_3d();
  }
  return 0;
}

}  // namespace jumar::wrapper
