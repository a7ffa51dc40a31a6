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

// HtaEvents: the rows of a frame as HolisticTraceAnalysis' critical path sees them: those of host
// and device in one list, in the order of the file, each with the row its correlation number ties
// it to.

// A row by its number in HtaEvents::rows; kNoHtaEvent is none.
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
  // HTA's "index_correlation", as far as that row is kept; of several the last one of the file.
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

  // The order of HTA's frame: where steps were filtered, rows of the device come first.
  std::vector<HtaEventRow> FrameOrder() const;

 private:
  void Collect();
  void MarkTriton();
  void TieAndFilter();

  const HtaFrame& frame_;
  std::vector<HtaEvent> rows_;  // by position
};

// The rows that HolisticTraceAnalysis takes for device rows of a frame (hta/frame.h): whatever has
// a stream, that is kernels, copies, waits of cuda_sync (unless their stream is -1), and the host
// operators of Triton kernels, which record a stream too; these are recognised by having the name
// of the kernel they launch.

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

// HTA's column `iteration`: the number of the step a row belongs to.

// Immutable once made. The frame must outlive it.
class HtaIterations {
 public:
  static constexpr int64_t kNone = -1;

  explicit HtaIterations(const HtaFrame& frame);

  // Of the last listed step whose window holds the start of the row. Steps are listed as in files:
  // those of the host by start, then their copies on devices.
  int64_t Of(HostId id) const;
  // A row of a stream belongs to the step of its launch. A device row without a stream goes by
  // time, and a row of stream 0 (AMD, legacy default stream) belongs to no step.
  int64_t Of(DeviceId id) const;
  int64_t Of(const HtaRow& row) const;

  // Numbers of the steps that are listed and kept, ascending.
  const std::vector<int64_t>& kept() const { return kept_; }

 private:
  struct Window {
    double begin_us;
    double end_us;
    int64_t number;
  };
  // From begin_us to where the next piece begins.
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

// Names as HTA shortens and understands them.

// HTA's short name of a function: "void at::native::f<int>(float*)" is "at::native::f". Names of
// copies, and names without any of < and (, stay as they are.
std::string HtaShortName(std::string_view name);

// Whether a call only waits, so that its time is that of what it waits for.
bool HtaIsBlockingCall(std::string_view name);

// The names of calls that HTA counts as entering a queue.
bool IsHtaQueueLaunch(std::string_view name);

}  // namespace borescope::internal
