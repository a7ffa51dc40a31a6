// HtaFrame: what HolisticTraceAnalysis does to a rank when it loads it. It
//
//   1. shrinks events to whole microseconds when any time of the file has a fraction:
//      ts := ceil(ts), end := floor(ts + dur). Short events become 0 or -1 us long.
//   2. ties rows of host and device that share a correlation number; of several the last one counts
//      (`index_correlation`).
//   3. keeps, when the file has two steps or more, only host rows that start before the last step,
//      and device rows that share a correlation number with a kept host row, once for each such
//      host row.
//
// All arithmetic is in double microseconds, as in HTA. Nothing is copied: callers ask for rows one
// by one. Deviations, each because its reason lies outside of one finished trace:
//   - HTA counts the steps over all ranks of the run, this those of the rank.
//   - The filter of MTIA files, which repairs rows while it walks a Python set, is not reproduced.
//   - HTA cannot tie anything to the first event of a file, whose number is 0. This can.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
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
  // The steps that --include-last-step chooses.
  static Steps StepsOf(const Params& params);
  explicit HtaFrame(const RankView& view, Steps steps = Steps::kFiltered);

  const RankView& view() const { return view_; }
  const Trace& trace() const { return view_.trace; }

  HtaTimes TimesOf(HostId id) const;
  HtaTimes TimesOf(DeviceId id) const;

  // Columns `stream` and `correlation` of HTA's frame; -1 if there is none.
  int64_t StreamOf(DeviceId id) const;
  int64_t CorrelationOf(DeviceId id) const;
  int64_t CorrelationOf(HostId id) const;

  // HTA's predicate for rows of the device. Other device rows are treated like host rows.
  bool IsDeviceSide(DeviceId id) const;

  // Whether rows were left out because of steps.
  bool filters_steps() const { return filter_; }
  // Whether the step filter keeps a host row; how often a device row is there after it.
  bool Keeps(HostId id) const;
  int64_t Repeats(DeviceId id) const;

  // The host row with the correlation number of a device row, the last one of several; invalid if
  // there is none.
  HostId LaunchOf(DeviceId id) const;
  // Whether any row of the device has this correlation number.
  bool HasDeviceRow(int64_t correlation) const { return device_numbers_.contains(correlation); }

  // The order of host rows in the file; for formats without one, the order of their starts.
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
  double last_us_ =
      0;  // host rows from this time on are left out; with includes_last_, those after it
  HashMap<int64_t, HostId> launches_;       // correlation -> last host row
  HashMap<int64_t, char> device_numbers_;   // correlations of device rows
  HashMap<int64_t, int64_t> kept_numbers_;  // correlation -> kept host rows with it
};

// HtaEvents: the rows of a frame as HolisticTraceAnalysis' critical path uses them: host and device
// rows in one list, in the order of the file, each with the row that has the same correlation
// number.

// A row by its number in HtaEvents::rows; kNoHtaEvent means none.
using HtaEventRow = uint32_t;
inline constexpr HtaEventRow kNoHtaEvent = std::numeric_limits<HtaEventRow>::max();

struct HtaEvent {
  uint32_t position = 0;  // HTA's "index": among all events of the file
  StringId name;
  int64_t ts_us = 0;
  int64_t dur_us = 0;
  int64_t pid = 0;  // of the thread or stream
  int64_t tid = 0;
  int64_t stream = -1;
  int64_t correlation = -1;
  // HTA's "index_correlation", if that row is kept; of several the last one of the file.
  HtaEventRow partner = kNoHtaEvent;
  HostId host;  // one of these two is valid
  DeviceId device;

  int64_t end_us() const { return ts_us + dur_us; }
  bool is_host() const { return host.valid(); }
};

// Immutable once made. The frame must outlive it.
class HtaEvents {
 public:
  explicit HtaEvents(const HtaFrame& frame);

  const Trace& trace() const { return frame_.trace(); }
  const std::vector<HtaEvent>& rows() const { return rows_; }
  size_t size() const { return rows_.size(); }
  const HtaEvent& operator[](HtaEventRow row) const { return rows_[row]; }
  std::string_view NameOf(HtaEventRow row) const { return trace().Text(rows_[row].name); }

  bool IsSync(HtaEventRow row) const;
  // Whether HTA takes the row for one of the device.
  bool IsDeviceSide(HtaEventRow row) const {
    return rows_[row].device.valid() && frame_.IsDeviceSide(rows_[row].device);
  }
  // HTA's "index_correlation > 0", which misses the first event of a file.
  bool HasPartner(HtaEventRow row) const {
    return rows_[row].partner != kNoHtaEvent && rows_[rows_[row].partner].position > 0;
  }
  // The launches and copies that HTA counts in queues.
  bool IsLaunch(HtaEventRow row) const;

  // The order of HTA's frame: if steps were filtered, rows of the device come first.
  std::vector<HtaEventRow> FrameOrder() const;

 private:
  void Collect();
  void MarkTriton();
  void TieAndFilter();

  const HtaFrame& frame_;
  std::vector<HtaEvent> rows_;  // by position
};

// The rows that HolisticTraceAnalysis takes for device rows of a frame: whatever has a stream.
// These are kernels, copies, waits of cuda_sync (unless their stream is -1), and the host operators
// of Triton kernels, which record a stream too and are recognised because they have the name of the
// kernel that they launch.

// HTA's classes of names, in the order of its bits.
enum class HtaType : uint8_t { kComputation, kCommunication, kMemory, kOther };

std::string_view HtaTypeName(HtaType type);
HtaType HtaTypeOf(std::string_view name);
// HTA's pattern for names of copies, whatever else the names match.
bool HtaIsMemoryName(std::string_view name);

struct HtaRow : HtaTimes {
  StringId name;
  HtaType type = HtaType::kOther;
  int64_t times =
      1;  // how often HTA has this row, because its join on correlation numbers repeats rows
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

// HTA's column `iteration`: the number of the step to which a row belongs.

// Immutable once made. The frame must outlive it.
class HtaIterations {
 public:
  static constexpr int64_t kNone = -1;

  explicit HtaIterations(const HtaFrame& frame);

  // The last listed step whose window contains the start of the row. Steps are listed as in files:
  // those of the host by start, then their copies on devices.
  int64_t Of(HostId id) const;
  // A row of a stream belongs to the step of its launch. A device row without a stream belongs to
  // the step at its time, and a row of stream 0 (AMD, legacy default stream) to none.
  int64_t Of(DeviceId id) const;
  int64_t Of(const HtaRow& row) const;

  // Numbers of the listed steps that are kept, ascending.
  const std::vector<int64_t>& kept() const { return kept_; }

 private:
  struct Window {
    double begin_us;
    double end_us;
    int64_t number;
  };
  // From begin_us to the begin of the next piece.
  struct Piece {
    double begin_us;
    int64_t number;
  };

  void ListSteps();
  void MakePieces();
  int64_t At(double ts_us) const;

  const HtaFrame& frame_;
  std::vector<Window> windows_;  // as listed
  std::vector<Piece> pieces_;    // by begin_us
  std::vector<int64_t> kept_;
};

// How HTA shortens and classifies names.

// HTA's short name of a function: "void at::native::f<int>(float*)" is "at::native::f". Names of
// copies, and names without < and (, stay as they are.
std::string HtaShortName(std::string_view name);

// Whether a call only waits, so that its time is that of the work it waits for.
bool HtaIsBlockingCall(std::string_view name);

// Whether HTA counts a call of this name as entering a queue.
bool IsHtaQueueLaunch(std::string_view name);

}  // namespace borescope::internal
