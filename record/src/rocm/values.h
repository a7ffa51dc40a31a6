// What rocprofiler-sdk and roctracer say alike, as our log has it.
#pragma once

#include <cstdint>

#include "borescope/recording/log_format.h"

namespace borescope::inject::rocm {

// Work-groups of so many work-items, of which a last one may be cut short.
uint32_t Groups(uint32_t items, uint32_t size);

// Whether calls of a function are recorded, by its name: as the options say, and none of those that
// programs make all the time.
bool IsWantedCall(const char* name);

// As CUPTI counts the kinds of copies, and of memory: pinned or of a device.
void SetCopyKinds(bool from_host, bool to_host, recording::CopyBody& body);

struct GpuFacts {
  uint32_t target;  // gfx942 is 90402
  uint32_t compute_units;
  uint32_t warp;
};

// Writes what is known of a GPU. Before any record of it.
void DescribeGpu(uint32_t number, const GpuFacts& facts);

}  // namespace borescope::inject::rocm
