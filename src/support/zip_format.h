// Numbers of the zip format that readers and writers share: PKWARE's APPNOTE.TXT 6.3.
#pragma once

#include <cstddef>
#include <cstdint>

namespace jumar::zip_format {

inline constexpr uint32_t kLocalMark = 0x04034b50;
inline constexpr uint32_t kEntryMark = 0x02014b50;  // of a row of the directory
inline constexpr uint32_t kEndMark = 0x06054b50;
inline constexpr uint32_t kEnd64Mark = 0x06064b50;
inline constexpr uint32_t kEnd64LocatorMark = 0x07064b50;
// Without names and extra fields.
inline constexpr size_t kLocalBytes = 30;
inline constexpr size_t kEntryBytes = 46;
inline constexpr size_t kEndBytes = 22;
inline constexpr size_t kEnd64Bytes = 56;
inline constexpr size_t kEnd64LocatorBytes = 20;
inline constexpr uint16_t kDeflated = 8;  // the method
// In place of numbers that only the 64-bit records can hold.
inline constexpr uint64_t kIs64 = 0xffffffff;
inline constexpr uint64_t kCountIs64 = 0xffff;
inline constexpr uint16_t kExtra64 = 1;  // the extra field that holds them
// The window of a deflated entry, as zlib takes it: the largest, and no header of zlib's.
inline constexpr int kRawWindow = -15;

}  // namespace jumar::zip_format
