// HtaFrame: what HolisticTraceAnalysis does to a rank when it loads it. It
//
//   1. shrinks events to whole microseconds when any time of the file has a fraction:
//      ts := ceil(ts), end := floor(ts + dur). Short events become 0 or -1 us long.
//   2. ties rows of host and device that share a correlation number; of several the last one counts
//      (`index_correlation`).
//   3. keeps, when the file has two steps or more, only host rows that start before the last step,
//      and device rows that share a correlation number with a kept host row: as often as there are
//      such host rows.
//
// All arithmetic is in double microseconds, as HTA's. Nothing is copied: rows are asked for one by
// one. Deviations, each because the reason lies outside of one finished trace:
//   - HTA counts the steps over all ranks of the run, we those of the rank.
//   - The filter of MTIA files, which repairs rows while it walks a Python set, is not reproduced.
//   - HTA cannot tie anything to the first event of a file, whose number is 0. We can.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/base/hash/hash_tables.h"

namespace borescope::internal {

struct HtaTimes {
  double ts_us = 0;
  double dur_us = 0;  // may be -1 after rounding

  double end_us() const { return ts_us + dur_us; }
};

// Immutable once made. The view must outlive it.
class HtaFrame {
 public:
  enum class Steps : uint8_t {
    kFiltered,     // as TraceAnalysis loads a run
    kAll,          // as TraceDiff does
    kIncludeLast,  // as TraceAnalysis does with include_last_profiler_step
  };
  // What --include-last-step chooses.
  static Steps StepsOf(const Params& params);
  explicit HtaFrame(const RankView& view, Steps steps = Steps::kFiltered);

  const RankView& view() const { return view_; }
  const Trace& trace() const { return view_.trace; }

  HtaTimes TimesOf(HostId id) const;
  HtaTimes TimesOf(DeviceId id) const;

  // Columns `stream` and `correlation` of HTA's frame; -1 where there is none.
  int64_t StreamOf(DeviceId id) const;
  int64_t CorrelationOf(DeviceId id) const;
  int64_t CorrelationOf(HostId id) const;

  // HTA's predicate for rows of the device. Other device rows are treated like host rows.
  bool IsDeviceSide(DeviceId id) const;

  // Whether rows were left out because of steps.
  bool filters_steps() const { return filter_; }
  // Whether a host row survives the step filter; how often a device row is there after it.
  bool Keeps(HostId id) const;
  int64_t Repeats(DeviceId id) const;

  // The host row of the correlation number of a device row, of several the last; invalid if none.
  HostId LaunchOf(DeviceId id) const;
  // Whether some row of the device has this correlation number.
  bool HasDeviceRow(int64_t correlation) const { return device_numbers_.contains(correlation); }

  // Order of host rows in the file; in formats without one, of their starts.
  bool IsBefore(HostId a, HostId b) const;

  // Names of steps, and "ProfilerStep#12" -> 12.
  bool IsStep(StringId name) const { return steps_[name.value] != 0; }
  static int64_t StepNumberOf(std::string_view name);

 private:
  HtaTimes Shrunk(int64_t ts_ns, int64_t dur_ns) const;
  bool StartsInTime(int64_t ts_ns) const;
  void FindLastMoment();
  bool IsWithoutStream(uint32_t kernel) const;
  void FindFractions();
  void FindCorrelations();
  void FindSteps();
  void FindKeptCorrelations();

  const RankView& view_;
  bool fractions_ = false;
  bool filter_ = false;
  std::vector<char> steps_;  // per name: is a step
  bool includes_last_ = false;
  double last_us_ = 0;  // host rows from then on are left out; with includes_last_ those after it
  HashMap<int64_t, HostId> launches_;       // correlation -> last host row
  HashMap<int64_t, char> device_numbers_;   // correlations of device rows
  HashMap<int64_t, int64_t> kept_numbers_;  // correlation -> kept host rows with it
};

}  // namespace borescope::internal
