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
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/grouper.h"
#include "borescope/analysis/core/keyed_rows.h"
#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/core/selection/device_time.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/measures/idle/idle_causes.h"
#include "borescope/analysis/measures/idle/late_host.h"
#include "borescope/analysis/measures/idle/stream_gaps.h"
#include "borescope/analysis/measures/time/duration_stats.h"
#include "borescope/analysis/measures/time/step_times.h"
#include "borescope/analysis/verbs/verbs.h"
#include "borescope/base/check.h"
#include "borescope/base/hash/hash_tables.h"
#include "borescope/base/saturating.h"
#include "borescope/base/stop.h"
#include "borescope/table/table_ops.h"
#include "borescope/table/typed_rows.h"

namespace borescope::internal {

namespace {

// Table longest_gaps: when a device does nothing between its work, the longest time first.

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

struct LongestGapRow {
  int64_t rank = 0;
  std::optional<int64_t> step = {};
  std::optional<int64_t> gpu = {};
  int64_t place = 0;
  int64_t begin_ns = 0;
  int64_t duration_ns = 0;
  double share = 0;
  std::string_view cause = {};
  int64_t cause_time_ns = 0;
  std::optional<std::string_view> activity = {};
  std::optional<std::string_view> host = {};
  std::optional<std::string_view> caller = {};
  std::optional<std::string_view> op = {};
  std::optional<int64_t> host_time_ns = {};
  std::optional<std::string_view> before = {};
  std::optional<std::string_view> after = {};
  int64_t stream = 0;
  std::optional<std::string_view> launch = {};
  std::optional<int64_t> launch_begin_ns = {};

  static constexpr TableNames kTable{"longest_gaps",
                                     "Longest gaps: when a device had nothing to run"};
  static constexpr ColumnOf<LongestGapRow> kColumns[] = {
      {"rank", &LongestGapRow::rank, Role::kKey, kRankDoc},
      {"step", &LongestGapRow::step, Role::kKey, kStepOrNoneDoc},
      {"gpu", &LongestGapRow::gpu, Role::kKey, kGpuDoc},
      {"place", &LongestGapRow::place, Role::kKey,
       "1 is the longest gap of this device. Those of the first places have rows, and of each "
       "step the longest."},
      {"begin_ns", &LongestGapRow::begin_ns, Unit::kNanoseconds, Role::kKey,
       "When nothing ran any more, on the file's own clock."},
      {"duration_ns", &LongestGapRow::duration_ns, Unit::kNanoseconds, Role::kSum,
       "How long, as far as it is in the selected time.", InTone(Tone::kIdle)},
      {"share", &LongestGapRow::share, Unit::kShare, Role::kDerived,
       "Of the selected time of the device."},
      {"cause", &LongestGapRow::cause, Role::kDerived,
       "Cause of most of it, as the times of idle_causes are called."},
      {"cause_time_ns", &LongestGapRow::cause_time_ns, Unit::kNanoseconds, Role::kDerived,
       "How much of it that is."},
      {"activity", &LongestGapRow::activity, Role::kDerived,
       "What is known of the thread that launched the next work, as in late_host: call, no "
       "processor, sampled or event; missing: nothing."},
      {"host", &LongestGapRow::host, Role::kDerived,
       "What that thread did in the gap: the innermost event that fills at least half of it, "
       "else the call, function or event with most of it; missing where nothing is known of "
       "more of it.",
       AsNames()},
      {"caller", &LongestGapRow::caller, Role::kDerived,
       "Function that made the call, by its recorded stack; missing without one."},
      {"op", &LongestGapRow::op, Role::kDerived,
       "Innermost operator that the thread was in for at least half of the gap; missing: "
       "none."},
      {"host_time_ns", &LongestGapRow::host_time_ns, Unit::kNanoseconds, Role::kDerived,
       "How much of the gap that took."},
      {"before", &LongestGapRow::before, Role::kDerived,
       "The work that ended last before the gap."},
      {"after", &LongestGapRow::after, Role::kDerived, "The work that ended the gap."},
      {"stream", &LongestGapRow::stream, Role::kDerived, "The stream of that work."},
      {"launch", &LongestGapRow::launch, Role::kDerived,
       "The call that launched it; missing: not recorded."},
      {"launch_begin_ns", &LongestGapRow::launch_begin_ns, Unit::kNanoseconds, Role::kDerived,
       "When that call began, on the file's own clock."}};
};

std::optional<std::string_view> TextOf(const Trace& trace, StringId text) {
  return text.valid() ? Recorded(trace.Text(text)) : std::nullopt;
}

void AddHost(const Trace& trace, const MainActivity& host, LongestGapRow& row) {
  row.host = TextOf(trace, host.name);
  row.caller = TextOf(trace, host.caller);
  row.op = TextOf(trace, host.op);
  if (host.activity != HostActivity::kUnknown) {
    row.activity = Recorded(HostActivityName(host.activity));
    row.host_time_ns = Recorded(host.ns);
  }
}

void AddNeighbours(const Trace& trace, const StreamGap& gap, LongestGapRow& row) {
  const DeviceEvents& device = trace.device();
  row.before = TextOf(trace, device.name[gap.before.value]);
  row.after = TextOf(trace, device.name[gap.after.value]);
  row.stream = trace.tracks().tid[device.track[gap.after.value].value];
  if (gap.launch.valid()) {
    row.launch = Recorded(trace.Name(gap.launch));
    row.launch_begin_ns = trace.host().ts_ns[gap.launch.value];
  }
}

void AddLongestGaps(const RankView& view, const Selected& selected, const DeviceIdle& device,
                    size_t most, LateHost& late, std::vector<LongestGapRow>& rows) {
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
    const LongGap& gap = gaps[i];
    LongestGapRow row{.rank = view.rank,
                      .gpu = Recorded(device.time->gpu),
                      .place = static_cast<int64_t>(places[i] + 1),
                      .begin_ns = gap.hull.begin,
                      .duration_ns = gap.ns,
                      .share = ShareOf(gap.ns, span_ns),
                      .cause = IdleCauseName(gap.cause),
                      .cause_time_ns = gap.cause_ns};
    if (gap.step != kNoStep) row.step = view.steps().steps[gap.step].number;
    AddHost(view.trace, hosts[i], row);
    AddNeighbours(view.trace, *gap.gap, row);
    rows.push_back(row);
  }
}

// The longest gaps of all ranks first.
Table FinishLongestGaps(const Table& table) {
  const std::vector<LongestGapRow> gaps = ReadRows<LongestGapRow>(table);
  std::vector<uint32_t> order(gaps.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return std::tuple(gaps[b].duration_ns, gaps[a].rank, gaps[a].gpu.value_or(0), gaps[a].place) <
           std::tuple(gaps[a].duration_ns, gaps[b].rank, gaps[b].gpu.value_or(0), gaps[b].place);
  });
  return TakeRows(table, order);
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

struct IdleRow {
  int64_t rank = 0;
  std::optional<int64_t> step = {};
  std::optional<int64_t> gpu = {};
  std::optional<int64_t> stream = {};
  int64_t span_ns = 0;
  int64_t busy_ns = 0;
  int64_t idle_ns = 0;
  int64_t host_wait_ns = 0;
  int64_t kernel_wait_ns = 0;
  int64_t other_ns = 0;
  int64_t unlinked_ns = 0;
  int64_t head_ns = 0;
  int64_t tail_ns = 0;
  int64_t gaps = 0;
  double idle_share = 0;

  static constexpr TableNames kTable{"idle", "Why the streams wait"};
  static constexpr ColumnOf<IdleRow> kColumns[] = {
      {"rank", &IdleRow::rank, Role::kKey, kRankDoc},
      {"step", &IdleRow::step, Role::kKey, kStepOrNoneDoc},
      {"gpu", &IdleRow::gpu, Role::kKey, kGpuOrNoneDoc},
      {"stream", &IdleRow::stream, Role::kKey, kStreamDoc},
      {"span_ns", &IdleRow::span_ns, Unit::kNanoseconds, Role::kSum,
       "Length of the window: the recording, the selected windows, or the step."},
      {"busy_ns", &IdleRow::busy_ns, Unit::kNanoseconds, Role::kSum,
       "Time in which the stream works (union)."},
      {"idle_ns", &IdleRow::idle_ns, Unit::kNanoseconds, Role::kSum,
       "Span less busy time; the sum of the six times that follow."},
      {"host_wait_ns", &IdleRow::host_wait_ns, Unit::kNanoseconds, Role::kSum,
       "Gaps up to the launch of the work after them: the host was late."},
      {"kernel_wait_ns", &IdleRow::kernel_wait_ns, Unit::kNanoseconds, Role::kSum,
       "Gaps after the launch, where that is shorter than --kernel-wait: launch latency."},
      {"other_ns", &IdleRow::other_ns, Unit::kNanoseconds, Role::kSum,
       "Gaps after the launch, where that is longer: dependencies between streams, a full device."},
      {"unlinked_ns", &IdleRow::unlinked_ns, Unit::kNanoseconds, Role::kSum,
       "Gaps before work whose launch was not recorded."},
      {"head_ns", &IdleRow::head_ns, Unit::kNanoseconds, Role::kSum,
       "Time before the first work of the stream."},
      {"tail_ns", &IdleRow::tail_ns, Unit::kNanoseconds, Role::kSum,
       "Time after the last work of the stream."},
      {"gaps", &IdleRow::gaps, Unit::kCount, Role::kSum, "Gaps between works, in part at least."},
      {"idle_share", &IdleRow::idle_share, Unit::kShare, Role::kDerived, "Idle time / span."}};
};

IdleRow IdleOf(int64_t rank, const Stream& stream, int64_t step, const IntervalSet& time) {
  const TimeSplit split = SplitTime(stream.time, time);
  const WaitSums waits = SumWaits(stream.gaps, time);
  BS_CHECK(waits.total_ns() == split.idle_ns);
  const auto of_cause = [&](WaitCause cause) { return waits.by_cause[static_cast<size_t>(cause)]; };
  return {.rank = rank,
          .step = Recorded(step),
          .gpu = Recorded(stream.time.gpu),
          .stream = Recorded(stream.time.stream),
          .span_ns = split.span_ns,
          .busy_ns = split.busy_ns,
          .idle_ns = split.idle_ns,
          .host_wait_ns = of_cause(WaitCause::kHostWait),
          .kernel_wait_ns = of_cause(WaitCause::kKernelWait),
          .other_ns = of_cause(WaitCause::kOther),
          .unlinked_ns = of_cause(WaitCause::kUnlinked),
          .head_ns = waits.head_ns,
          .tail_ns = waits.tail_ns,
          .gaps = waits.gaps,
          .idle_share = ShareOf(split.idle_ns, split.span_ns)};
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
  std::vector<LongestGapRow> longest;
  const auto idle_times = SharedIdleTimes(view, params.selection);
  if (!idle_times->ok()) {
    return idle_times->error();
  }
  LateHost late(view);
  for (const DeviceIdle& device : (*idle_times)->devices) {
    AddLongestGaps(view, selected, device, static_cast<size_t>(most), late, longest);
  }
  Table idle = NewTable<IdleRow>();
  RowWriter<IdleRow> rows(idle);
  Table intervals = NewIntervalTable();
  const std::vector<Stream> streams = FindStreams(view, selected, params.Number(kKernelWaitParam));
  const std::vector<StepWindow> windows =
      WindowsOf(view, selected, by_step, TracksOfLines(streams));
  BS_TRY(CheckRows(view, windows.size(), streams.size()));
  for (const StepWindow& window : windows) {
    for (size_t i = 0; i < streams.size(); ++i) {
      rows.Push(IdleOf(view.rank, streams[i], window.step, window.On(i)));
    }
  }
  if (!by_step) DropColumn(idle, "step");
  for (const Stream& stream : streams) {
    PushIntervals(intervals, view.rank, stream, selected.TimeOf(stream.tracks));
  }
  Table longest_gaps = MakeTable(longest);
  longest_gaps.preview_rows = static_cast<size_t>(most);
  // Why devices idle is the answer; the streams, of which one may wait while others work, follow.
  return Tables{ShownCauses((*idle_times)->tables[0]), (*idle_times)->tables[1],
                std::move(longest_gaps), std::move(idle), std::move(intervals)};
}

Result<Tables> FinishIdle(Tables tables, const Params& /*params*/) {
  Table& longest = TableOf<LongestGapRow>(tables);
  longest = FinishLongestGaps(longest);
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
