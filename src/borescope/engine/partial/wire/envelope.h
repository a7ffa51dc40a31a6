// The envelope of a partial: what says that it is one, which format it has and who wrote it, around
// a compressed body.
//
//   8 bytes  89 "BSP" 0D 0A 1A 0A: spoilt by what takes it for text
//   2 bytes  major version of the format, little endian
//   2 bytes  minor version
//   1 byte   length of the text that follows: the version of the program that wrote it
//   a zstd frame with its content size and checksum, and no more; where a body shrinks beyond what
//   readers believe, a skippable frame of zeros after it
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "borescope/base/result.h"

namespace borescope::internal {

struct Envelope {
  uint16_t major = 0;
  uint16_t minor = 0;
  std::string program_version;
  std::string body;
};

// The largest body that is written or read.
inline constexpr uint64_t kMostBodyBytes = uint64_t{1} << 30;

// How large a body may claim to be that is stored in so many bytes: what it inflates to is bounded
// by what was sent.
constexpr uint64_t BelievedBodyBytes(uint64_t stored_bytes) {
  constexpr uint64_t kAlways = uint64_t{1} << 20;
  constexpr uint64_t kTimes = 1000;
  const uint64_t believed = kAlways + kTimes * stored_bytes;
  return believed < kMostBodyBytes ? believed : kMostBodyBytes;
}

// Whether the bytes begin as a partial does.
bool IsPartial(std::string_view bytes);

// kInvalidArgument where the body is too large. The same bytes for the same envelope, with the same
// release of zstd.
Result<std::string> Seal(const Envelope& envelope);

// `name` represents the bytes in messages. kUnsupportedFormat for what is no partial, and for a
// partial of another major version; kCorrupt for a damaged one.
Result<Envelope> Open(std::string_view bytes, std::string_view name);

}  // namespace borescope::internal
