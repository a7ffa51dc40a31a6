// idle: why each stream waits. In every window of a stream
//
//   span = busy + host_wait + kernel_wait + other + unlinked + head + tail
//
// exactly: busy is the union of its work, the first four are the parts of gaps between works by
// cause (stream_gaps.h), head and tail the time before the first and after the last work of the
// stream. A gap that a window cuts counts with the part inside; it is divided as a whole.
// idle_causes looks at the GPU as a whole (idle_causes.h), and longest_gaps at single gaps of it.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <numeric>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/group_keys.h"
#include "borescope/analysis/core/key_columns.h"
#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/core/selection/device_time.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/measures/idle/idle_causes.h"
#include "borescope/analysis/measures/idle/late_host.h"
#include "borescope/analysis/measures/idle/stream_gaps.h"
#include "borescope/analysis/measures/time/quantiles.h"
#include "borescope/analysis/measures/time/step_windows.h"
#include "borescope/analysis/verbs/verbs.h"
#include "borescope/base/check.h"
#include "borescope/base/hash/hash_tables.h"
#include "borescope/base/saturating.h"
#include "borescope/base/stop.h"
#include "borescope/compat/hta/tables.h"
#include "borescope/table/table_ops.h"

namespace borescope::internal {

namespace {

// Table longest_gaps: when a device does nothing between its work, the longest time first. Internal
// to idle/.

// A gap as far as it lies in the selected time.
struct LongGap {
  const StreamGap* gap;
  Interval hull;  // of its parts in there
  int64_t ns = 0;
  IdleCause cause = IdleCause::kUnknown;  // with most of it; of equal ones the first in time
  int64_t cause_ns = 0;
  HostId launch = {};  // the one that decided this cause
  uint32_t step = kNoStep;
};

// Sums the pieces of one gap, which come by time.
class CauseOfGap {
 public:
  void Add(const IdlePiece& piece, Interval time) {
    int64_t& sum_ns = sums_[static_cast<size_t>(piece.cause)];
    if (sum_ns == 0) {
      order_[causes_++] = piece;
    }
    sum_ns += time.length();
  }

  void Decide(LongGap& gap) const {
    for (size_t i = 0; i < causes_; ++i) {
      const int64_t ns = sums_[static_cast<size_t>(order_[i].cause)];
      if (ns > gap.cause_ns) {
        gap.cause = order_[i].cause;
        gap.cause_ns = ns;
        gap.launch = order_[i].launch;
      }
    }
  }

 private:
  static constexpr size_t kCauses = static_cast<size_t>(IdleCause::kCount);

  std::array<int64_t, kCauses> sums_{};
  std::array<IdlePiece, kCauses> order_{};  // the first of each cause
  size_t causes_ = 0;
};

Interval Both(Interval a, Interval b) {
  return {std::max(a.begin, b.begin), std::min(a.end, b.end)};
}

// The gaps in the selected time with their causes, by time.
std::vector<LongGap> GapsWithCauses(const DeviceIdle& device) {
  std::vector<LongGap> found;
  auto piece = device.pieces.begin();
  for (const GapPart& part : GapsIn(device.gaps, device.windows)) {
    CheckStopAt(found.size());
    const Interval time = part.gap->time;
    while (piece != device.pieces.end() && piece->time.end <= time.begin) {
      ++piece;
    }
    LongGap gap{.gap = part.gap, .hull = {time.end, time.begin}, .ns = part.ns};
    CauseOfGap cause;
    for (auto at = piece; at != device.pieces.end() && at->time.begin < time.end; ++at) {
      const Interval inside = Both(at->time, time);
      cause.Add(*at, inside);
      gap.hull = {std::min(gap.hull.begin, inside.begin), std::max(gap.hull.end, inside.end)};
    }
    cause.Decide(gap);
    gap.hull = gap.cause_ns > 0 ? gap.hull : time;
    found.push_back(gap);
  }
  return found;
}

// The step with most of each gap, of equal ones the first.
void FindSteps(const std::vector<Steps::Piece>& pieces, std::vector<LongGap>& gaps) {
  for (LongGap& gap : gaps) {
    const Interval time = gap.gap->time;
    auto next =
        std::upper_bound(pieces.begin(), pieces.end(), time.begin,
                         [](int64_t ns, const Steps::Piece& piece) { return ns < piece.begin_ns; });
    uint32_t step = next == pieces.begin() ? kNoStep : std::prev(next)->step;
    int64_t begin_ns = time.begin;
    int64_t longest_ns = 0;
    while (begin_ns < time.end) {
      const bool is_last = next == pieces.end() || next->begin_ns >= time.end;
      const int64_t end_ns = is_last ? time.end : next->begin_ns;
      if (end_ns - begin_ns > longest_ns) {
        longest_ns = end_ns - begin_ns;
        gap.step = step;
      }
      begin_ns = end_ns;
      step = is_last ? step : (next++)->step;
    }
  }
}

// From the longest to the shortest.
std::vector<uint32_t> ByLength(const std::vector<LongGap>& gaps) {
  std::vector<std::pair<int64_t, uint32_t>> keys;  // 0 less the length, place in `gaps`
  keys.reserve(gaps.size());
  for (const LongGap& gap : gaps) {
    keys.emplace_back(-gap.ns, static_cast<uint32_t>(keys.size()));
  }
  std::sort(keys.begin(), keys.end());
  std::vector<uint32_t> order;
  order.reserve(keys.size());
  for (const auto& [ns, place] : keys) {
    order.push_back(place);
  }
  return order;
}

// The places in `order` of the first `most`, and of the first of each step.
std::vector<size_t> PlacesToShow(const std::vector<LongGap>& gaps,
                                 const std::vector<uint32_t>& order, size_t most) {
  HashSet<uint32_t> seen;
  std::vector<size_t> places;
  for (size_t place = 0; place < order.size(); ++place) {
    const uint32_t step = gaps[order[place]].step;
    const bool is_longest_of_step = step != kNoStep && seen.insert(step).second;
    if (place < most || is_longest_of_step) {
      places.push_back(place);
    }
  }
  return places;
}

// What the host did in the gaps at some places.
std::vector<MainActivity> ActivitiesIn(const DeviceIdle& device, const std::vector<LongGap>& gaps,
                                       LateHost& late) {
  std::vector<LateTime> times;
  times.reserve(gaps.size());
  for (const LongGap& gap : gaps) {
    times.push_back({{AddSaturating(gap.hull.begin, device.skew_ns),
                      AddSaturating(gap.hull.end, device.skew_ns)},
                     gap.launch});
  }
  return late.MainActivities(times);
}

class LongGapRow {
 public:
  LongGapRow(Table& table, const RankView& view) : row_(table), trace_(view.trace) {}

  void Push(int64_t rank, int64_t gpu, int64_t step, size_t place) {
    row_.Int(rank).MaybeInt(step).MaybeInt(gpu).Count(place + 1);
  }

  void PushTimes(const LongGap& gap, int64_t span_ns) {
    row_.Int(gap.hull.begin).Int(gap.ns).Share(gap.ns, span_ns);
    row_.Text(IdleCauseName(gap.cause)).Int(gap.cause_ns);
  }

  void PushHost(const MainActivity& host) {
    const bool is_known = host.activity != HostActivity::kUnknown;
    row_.MaybeText(is_known ? HostActivityName(host.activity) : std::string_view());
    row_.MaybeText(TextOf(host.name)).MaybeText(TextOf(host.caller)).MaybeText(TextOf(host.op));
    row_.MaybeInt(is_known ? host.ns : kMissing);
  }

  void PushNeighbours(const StreamGap& gap) {
    const DeviceEvents& device = trace_.device();
    row_.MaybeText(TextOf(device.name[gap.before.value]));
    row_.MaybeText(TextOf(device.name[gap.after.value]));
    row_.Int(trace_.tracks().tid[device.track[gap.after.value].value]);
    if (gap.launch.valid()) {
      row_.MaybeText(trace_.Name(gap.launch)).Int(trace_.host().ts_ns[gap.launch.value]);
    } else {
      row_.Missing().Missing();
    }
  }

 private:
  std::string_view TextOf(StringId text) const {
    return text.valid() ? trace_.Text(text) : std::string_view();
  }

  Row row_;
  const Trace& trace_;
};

void AddHostColumns(Table& table) {
  AddString(table, "activity", Role::kDerived,
            "What is known of the thread that launched the next work, as in late_host: call, no "
            "processor, sampled or event; missing: nothing.");
  AddString(table, "host", Role::kDerived,
            "What that thread did in the gap: the innermost event that fills at least half of it, "
            "else the call, function or event with most of it; missing where nothing is known of "
            "more of it.")
      .hints.names = true;
  AddString(table, "caller", Role::kDerived,
            "Function that made the call, by its recorded stack; missing without one.");
  AddString(table, "op", Role::kDerived,
            "Innermost operator that the thread was in for at least half of the gap; missing: "
            "none.");
  AddInt(table, "host_time_ns", Unit::kNanoseconds, Role::kDerived,
         "How much of the gap that took.");
}

void AddNeighbourColumns(Table& table) {
  AddString(table, "before", Role::kDerived, "The work that ended last before the gap.");
  AddString(table, "after", Role::kDerived, "The work that ended the gap.");
  AddInt(table, "stream", Unit::kNone, Role::kDerived, "The stream of that work.");
  AddString(table, "launch", Role::kDerived, "The call that launched it; missing: not recorded.");
  AddInt(table, "launch_begin_ns", Unit::kNanoseconds, Role::kDerived,
         "When that call began, on the file's own clock.");
}

// Without rows. `shown` are shown by default as text.
Table NewLongestGaps(int64_t shown) {
  Table table{"longest_gaps", "Longest gaps: when a device had nothing to run", {}};
  table.preview_rows = static_cast<size_t>(shown);
  AddRankKey(table);
  AddStepKeyOrNone(table);
  AddGpuKey(table);
  AddInt(table, "place", Unit::kNone, Role::kKey,
         "1 is the longest gap of this device. Those of the first places have rows, and of each "
         "step the longest.");
  AddInt(table, "begin_ns", Unit::kNanoseconds, Role::kKey,
         "When nothing ran any more, on the file's own clock.");
  AddInt(table, "duration_ns", Unit::kNanoseconds, Role::kSum,
         "How long, as far as it is in the selected time.")
      .hints.tone = Tone::kIdle;
  AddFloat(table, "share", Unit::kShare, Role::kDerived, "Of the selected time of the device.");
  AddString(table, "cause", Role::kDerived,
            "Cause of most of it, as the times of idle_causes are called.");
  AddInt(table, "cause_time_ns", Unit::kNanoseconds, Role::kDerived, "How much of it that is.");
  AddHostColumns(table);
  AddNeighbourColumns(table);
  return table;
}

// Adds the `most` longest gaps of a device, and of each step the longest. Of equal ones the
// earlier. `late`: what the host did. O(gaps log gaps) and that of LateHost.
void PushLongestGaps(Table& table, const RankView& view, const Selected& selected,
                     const DeviceIdle& device, size_t most, LateHost& late) {
  std::vector<LongGap> all = GapsWithCauses(device);
  FindSteps(selected.PiecesOf(device.time->tracks), all);
  const std::vector<uint32_t> order = ByLength(all);
  const std::vector<size_t> places = PlacesToShow(all, order, most);
  std::vector<LongGap> gaps;
  gaps.reserve(places.size());
  for (const size_t place : places) {
    gaps.push_back(all[order[place]]);
  }
  const std::vector<MainActivity> hosts = ActivitiesIn(device, gaps, late);
  const int64_t span_ns = Coverage(device.windows);
  for (size_t i = 0; i < gaps.size(); ++i) {
    const uint32_t step = gaps[i].step;
    const int64_t number = step == kNoStep ? kMissing : view.steps().steps[step].number;
    LongGapRow row(table, view);
    row.Push(view.rank, device.time->gpu, number, places[i]);
    row.PushTimes(gaps[i], span_ns);
    row.PushHost(hosts[i]);
    row.PushNeighbours(*gaps[i].gap);
  }
}

// Of all ranks together: the longest first.
Table FinishLongestGaps(const Table& table) {
  const IntValues& lengths = Ints(table, "duration_ns");
  const IntValues& ranks = Ints(table, "rank");
  const IntValues& gpus = Ints(table, "gpu");
  const IntValues& places = Ints(table, "place");
  std::vector<uint32_t> rows(table.rows());
  std::iota(rows.begin(), rows.end(), 0U);
  std::sort(rows.begin(), rows.end(), [&](uint32_t a, uint32_t b) {
    return std::tuple(lengths[b], ranks[a], gpus[a], places[a]) <
           std::tuple(lengths[a], ranks[b], gpus[b], places[b]);
  });
  return TakeRows(table, rows);
}

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
constexpr CompatPipeline kCompatPipelines[] = {{Compat::kHta, &kHtaIdle}};
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
    .compats = kCompatPipelines,
    .views = kViews};

}  // namespace borescope::internal
