// The rows that HolisticTraceAnalysis takes for device rows. Loading a file it
//
//   1. shrinks events to whole microseconds when any time has a fraction: ts := ceil(ts),
//      end := floor(ts + dur). Short events become 0 or -1 us long.
//   2. keeps, when the file has two steps or more, only host rows that start before the last step,
//      and device rows that share a correlation number with a kept host row: as often as there are
//      such host rows.
//   3. takes as device row whatever has a stream: kernels, copies, waits of cuda_sync (unless their
//      stream is -1), and the host operators of Triton kernels, which record a stream too.
//
// All arithmetic is in double microseconds, as HTA's. Deviations, each because the reason lies
// outside of one finished trace:
//   - HTA counts the steps over all ranks of the run, we those of the rank.
//   - The filter of MTIA files, which repairs rows while it walks a Python set, is not reproduced.
//   - The operators of Triton kernels are recognised by having the name of the kernel they launch.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "borescope/analysis/registry.h"

namespace borescope {

// HTA's classes of names, in the order of its bits.
enum class HtaType : uint8_t { kComputation, kCommunication, kMemory, kOther };

std::string_view HtaTypeName(HtaType type);
HtaType HtaTypeOf(std::string_view name);

struct HtaRow {
  double ts_us = 0;
  double dur_us = 0;  // may be -1 after rounding
  StringId name;
  HtaType type = HtaType::kOther;
  int64_t times = 1;  // how often HTA has this row: its join on correlation numbers repeats rows

  double end_us() const { return ts_us + dur_us; }
};

// Device rows after the step filter, by start.
std::vector<HtaRow> HtaDeviceRows(const RankView& view);

struct HtaInterval {
  double begin_us = 0;
  double end_us = 0;
};

// HTA's merge_intervals: overlapping and touching rows become one. REQUIRES: rows by start.
std::vector<HtaInterval> HtaMerge(const std::vector<HtaRow>& rows);
double HtaLength(const std::vector<HtaInterval>& merged);

}  // namespace borescope
