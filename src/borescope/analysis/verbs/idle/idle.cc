// idle: why each stream waits. In every window of a stream
//
//   span = busy + host_wait + kernel_wait + other + unlinked + head + tail
//
// exactly: busy is the union of its work, the first four are the parts of gaps between works by
// cause (stream_gaps.h), head and tail the time before the first and after the last work of the
// stream. A gap that a window cuts counts with the part inside; it is divided as a whole.
// idle_causes looks at the GPU as a whole (idle_causes.h), and longest_gaps at single gaps of it.
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "borescope/analysis/core/group_keys.h"
#include "borescope/analysis/core/key_columns.h"
#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/core/selection/device_time.h"
#include "borescope/analysis/measures/idle/idle_causes.h"
#include "borescope/analysis/measures/idle/late_host.h"
#include "borescope/analysis/measures/idle/stream_gaps.h"
#include "borescope/analysis/measures/time/duration_stats.h"
#include "borescope/analysis/measures/time/step_times.h"
#include "borescope/analysis/verbs/idle/longest_gaps.h"
#include "borescope/analysis/verbs/verbs.h"
#include "borescope/base/check.h"

namespace borescope::internal {
namespace {

// One stream with its gaps; the only one, empty, of a rank without device work.
struct Stream {
  DeviceTime time;
  StreamGaps gaps;
  LineTracks tracks;
};

std::vector<Stream> FindStreams(const RankView& view, const Selected& selected,
                                int64_t kernel_wait_ns) {
  const Tracks& tracks = view.trace.tracks();
  std::map<std::pair<int64_t, int64_t>, std::vector<uint32_t>> tracks_of;
  for (uint32_t track = 0; track < tracks.size(); ++track) {
    if (tracks.kind[track] == TrackKind::kDevice) {
      tracks_of[{tracks.pid[track], tracks.tid[track]}].push_back(track);
    }
  }
  std::vector<Stream> streams;
  const SharedDeviceTimes times = DeviceTimes(view, selected, PerTrack::kStream);
  for (const DeviceTime& time : *times) {
    const auto found = tracks_of.find({time.gpu, time.stream});
    StreamGaps gaps;
    if (found != tracks_of.end()) {
      gaps = FindStreamGaps(view, found->second, kernel_wait_ns);
    }
    streams.push_back({time, std::move(gaps), time.tracks});
  }
  return streams;
}

Table NewIdleTable(bool by_step) {
  Table table{"idle", "Why the streams wait", {}};
  const auto ns = [&](std::string_view name, std::string_view doc) {
    AddInt(table, name, Unit::kNanoseconds, Role::kSum, doc);
  };
  AddRankKey(table);
  if (by_step) {
    AddStepKeyOrNone(table);
  }
  AddGpuKeyOrNone(table);
  AddStreamKey(table);
  ns("span_ns", "Length of the window: the recording, the selected windows, or the step.");
  ns("busy_ns", "Time in which the stream works (union).");
  ns("idle_ns", "Span less busy time; the sum of the six times that follow.");
  ns("host_wait_ns", "Gaps up to the launch of the work after them: the host was late.");
  ns("kernel_wait_ns",
     "Gaps after the launch, where that is shorter than --kernel-wait: launch latency.");
  ns("other_ns",
     "Gaps after the launch, where that is longer: dependencies between streams, a full device.");
  ns("unlinked_ns", "Gaps before work whose launch was not recorded.");
  ns("head_ns", "Time before the first work of the stream.");
  ns("tail_ns", "Time after the last work of the stream.");
  AddInt(table, "gaps", Unit::kCount, Role::kSum, "Gaps between works, in part at least.");
  AddFloat(table, "idle_share", Unit::kShare, Role::kDerived, "Idle time / span.");
  return table;
}

void PushIdle(Table& table, int64_t rank, bool by_step, const Stream& stream, int64_t step,
              const IntervalSet& time) {
  const TimeSplit split = SplitTime(stream.time, time);
  const WaitSums waits = SumWaits(stream.gaps, time);
  BS_CHECK(waits.total_ns() == split.idle_ns);
  Row row(table);
  row.Int(rank);
  if (by_step) {
    row.MaybeInt(step);
  }
  row.MaybeInt(stream.time.gpu).MaybeInt(stream.time.stream);
  row.Int(split.span_ns).Int(split.busy_ns).Int(split.idle_ns);
  for (const int64_t ns : waits.by_cause) {
    row.Int(ns);
  }
  row.Int(waits.head_ns).Int(waits.tail_ns).Int(waits.gaps).Share(split.idle_ns, split.span_ns);
}

Table NewIntervalTable() {
  Table table{"idle_intervals", "Gaps between the works of a stream, by cause", {}};
  AddRankKey(table);
  AddGpuKey(table);
  AddStreamKey(table);
  AddString(table, "cause", Role::kKey,
            "host_wait, kernel_wait, other or unlinked, as in table idle.");
  AddInt(table, "count", Unit::kCount, Role::kSum, "Gaps in the selected time, in part at least.");
  AddInt(table, "total_ns", Unit::kNanoseconds, Role::kSum, "Sum of their lengths, as in idle.");
  AddSampleColumns(table, Unit::kNanoseconds, "_ns", "gap");
  return table;
}

void PushIntervals(Table& table, int64_t rank, const Stream& stream, const IntervalSet& windows) {
  std::array<std::vector<int64_t>, kWaitCauses> lengths = WaitLengths(stream.gaps, windows);
  for (size_t i = 0; i < lengths.size(); ++i) {
    const SampleStats stats = StatsOfSamples(lengths[i]);
    if (stats.count != 0) {
      Row row(table);
      row.Int(rank).Int(stream.time.gpu).Int(stream.time.stream);
      row.Text(WaitCauseName(static_cast<WaitCause>(i))).Int(stats.count).Int(stats.total);
      PushSamples(row, stats);
    }
  }
}

Result<Tables> MapIdle(const RankView& view, const Params& params) {
  const bool by_step = HasKey(params.by, "step");
  BS_ASSIGN(const Selected selected, Selected::Make(view, params.selection));
  const int64_t most = params.Number(kLongestParam);
  Table longest = NewLongestGaps(most);
  const auto idle_times = SharedIdleTimes(view, params.selection);
  if (!idle_times->ok()) {
    return idle_times->error();
  }
  LateHost late(view);
  for (const DeviceIdle& device : (*idle_times)->devices) {
    PushLongestGaps(longest, view, selected, device, static_cast<size_t>(most), late);
  }
  Table idle = NewIdleTable(by_step);
  Table intervals = NewIntervalTable();
  const std::vector<Stream> streams = FindStreams(view, selected, params.Number(kKernelWaitParam));
  const std::vector<StepWindow> windows =
      WindowsOf(view, selected, by_step, TracksOfLines(streams));
  BS_TRY(CheckRows(view, windows.size(), streams.size()));
  for (const StepWindow& window : windows) {
    for (size_t i = 0; i < streams.size(); ++i) {
      PushIdle(idle, view.rank, by_step, streams[i], window.step, window.On(i));
    }
  }
  for (const Stream& stream : streams) {
    PushIntervals(intervals, view.rank, stream, selected.TimeOf(stream.tracks));
  }
  return Tables{std::move(idle), std::move(intervals), ShownCauses((*idle_times)->tables[0]),
                (*idle_times)->tables[1], std::move(longest)};
}

Result<Tables> FinishIdle(Tables tables, const Params& /*params*/) {
  tables.back() = FinishLongestGaps(tables.back());
  return tables;
}

constexpr std::string_view kStepKey[] = {"step"};
constexpr const ParamSpec* kIdleParams[] = {&kKernelWaitParam, &kLongestParam,
                                            &kIncludeLastStepParam};
constexpr std::string_view kDevice[] = {"rank", "gpu", "step"};
constexpr std::string_view kIdleParts[] = {"head_ns",        "before_recording_ns",
                                           "inherited_ns",   "sync_ns",
                                           "data_ns",        "host_ns",
                                           "launch_call_ns", "latency_ns",
                                           "device_ns",      "unrecorded_ns",
                                           "unknown_ns",     "tail_ns"};
constexpr std::string_view kOfGaps[] = {"cause_time_ns", "activity", "caller",         "op",
                                        "stream",        "launch",   "launch_begin_ns"};
constexpr std::string_view kInherited[] = {"inherited_ns"};
constexpr ViewSpec kViews[] = {
    {"idle_causes", ViewKind::kStackedBars, "Idle time by cause", kDevice, kIdleParts},
    {"idle_causes", ViewKind::kAside, "Work from before the recording", {}, kInherited},
    {"longest_gaps", ViewKind::kAside, "More about the longest gaps", kOfGaps, {}}};

}  // namespace

const AnalysisSpec kIdleVerb{
    .name = "idle",
    .summary = "why each stream waits: for the host, for its next kernel, other",
    .example = "borescope idle run/ --kernel-wait 50us",
    .needs = Needs::kDeviceEvents,
    .by = kStepKey,
    .params = kIdleParams,
    .answer = {.map = MapIdle, .reduce = ConcatTables, .finish = FinishIdle},
    .views = kViews};

}  // namespace borescope::internal
