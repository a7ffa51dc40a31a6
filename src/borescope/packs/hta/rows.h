// The rows that HolisticTraceAnalysis takes for device rows of a frame (hta/frame.h): whatever has
// a stream, that is kernels, copies, waits of cuda_sync (unless their stream is -1), and the host
// operators of Triton kernels, which record a stream too; these are recognised by having the name
// of the kernel they launch.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/packs/hta/frame.h"

namespace borescope::internal {

// HTA's classes of names, in the order of its bits.
enum class HtaType : uint8_t { kComputation, kCommunication, kMemory, kOther };

std::string_view HtaTypeName(HtaType type);
HtaType HtaTypeOf(std::string_view name);
// Its pattern for names of copies, whatever else they match.
bool HtaIsMemoryName(std::string_view name);

struct HtaRow : HtaTimes {
  StringId name;
  HtaType type = HtaType::kOther;
  int64_t times = 1;  // how often HTA has this row: its join on correlation numbers repeats rows
  int64_t stream = -1;
  DeviceId device;  // one of these two is valid
  HostId op;        // of a Triton kernel
};

// Device rows after the step filter, by start.
std::vector<HtaRow> HtaDeviceRows(const HtaFrame& frame);
std::vector<HtaRow> HtaDeviceRows(const RankView& view, const Params& params = {});

struct HtaInterval {
  double begin_us = 0;
  double end_us = 0;
};

// HTA's merge_intervals: overlapping and touching rows become one. REQUIRES: rows by start.
std::vector<HtaInterval> HtaMerge(const std::vector<HtaRow>& rows);
double HtaLength(const std::vector<HtaInterval>& merged);

}  // namespace borescope::internal
