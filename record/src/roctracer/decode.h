// Records of roctracer's pool, written into our log. On roctracer's thread that hands buffers over.
#pragma once

#include <cstddef>
#include <cstdint>

#include "roctracer/abi.h"

namespace borescope::inject::roctracer {

// How far roctracer's clock is ahead of ours. Any thread.
void SetClockOffset(int64_t ahead_ns);

// All records of a buffer; those of other domains and kinds are passed over. Returns how many bytes
// at its end were no record.
size_t DecodeBuffer(const uint8_t* begin, const uint8_t* end, const Roctracer& library);

}  // namespace borescope::inject::roctracer
