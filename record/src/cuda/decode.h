// Records of CUPTI, written into our log.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/options.h"
#include "cuda/library.h"

namespace borescope::inject::cuda {

// One record of so many bytes. Kinds that we do not know are passed over. On the flusher only.
void DecodeRecord(const uint8_t* record, size_t bytes, const Options& options, const Cupti& cupti);

}  // namespace borescope::inject::cuda
