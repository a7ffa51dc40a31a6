#include "cuda/record_sizes.h"

#include <cstring>

namespace borescope::inject::cuda {

bool RecordSizes::LeadToEnd(const uint8_t* records, size_t bytes) const {
  size_t at = 0;
  while (bytes - at >= sizeof(uint32_t)) {
    uint32_t kind = 0;
    memcpy(&kind, records + at, sizeof(kind));
    const size_t size = Of(kind);
    if (size == 0 || size > bytes - at) return false;
    at += size;
  }
  return at == bytes;
}

}  // namespace borescope::inject::cuda
