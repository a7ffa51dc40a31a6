// Records of rocprofiler-sdk, written into our log. On rocprofiler's own thread only, but for what
// says otherwise.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rocm/abi.h"

namespace borescope::inject::rocm {

// The version of rocprofiler, whose numbers of kinds differ; before anything else.
void SetVersion(uint32_t version);

// The kind of records that are calls of RCCL.
uint32_t RcclCalls();

// How far rocprofiler's clock is ahead of ours.
void SetClockOffset(int64_t ahead_ns);

// One record; kinds that we do not know are passed over.
void DecodeRecord(const RecordHeader& header, const Rocprofiler& library);

// The name of a kernel that was loaded. Any thread.
void NameKernel(uint64_t kernel, const char* name);

// A device, in rocprofiler's order; what is no GPU is passed over. Before any record.
void AddAgent(const uint8_t* agent);

}  // namespace borescope::inject::rocm
