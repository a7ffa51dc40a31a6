// gaps: when each device is idle between pieces of work. A gap is the time from the latest
// end of all earlier work of the device to the start of the next, where that is positive
// (stream_gaps.h). In every window of a device
//
//   span = busy + gap + leading + trailing
//
// exactly: leading and trailing are the time before its first and after its last work. `gaps` puts
// every single gap into the range of its own length; a gap that a window cuts counts with the part
// inside. `gap_neighbours` says between which pieces of work the time is lost.
//
// A device is one row, whichever processes use it; --by stream asks the same of each stream alone.
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "borescope/analysis/core/grouper.h"
#include "borescope/analysis/core/keyed_rows.h"
#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/core/selection/device_time.h"
#include "borescope/analysis/measures/idle/stream_gaps.h"
#include "borescope/analysis/measures/time/step_times.h"
#include "borescope/analysis/verbs/verbs.h"
#include "borescope/table/table_ops.h"
#include "borescope/table/typed_rows.h"

namespace borescope::internal {
namespace {

constexpr size_t kPreviewRows = 20;

// A device, or one stream of it; the only one, empty, of a rank without device work.
struct Line {
  int64_t gpu = kMissing;
  int64_t stream = kMissing;
  StreamGaps gaps;
  LineTracks tracks;
};

// Its time in a step, or all of its selected time.
struct LineTime {
  const Line& line;
  int64_t step;
  const IntervalSet& time;
};

struct Keys {
  bool step;
  bool stream;
};

// Some of the gaps: those of one range of lengths, or those between work of two names.
struct GapSum {
  int64_t count = 0;
  int64_t total_ns = 0;
  int64_t max_ns = 0;

  void Add(int64_t ns) {
    ++count;
    total_ns = AddSaturating(total_ns, ns);
    max_ns = std::max(max_ns, ns);
  }
};

std::vector<Line> FindLines(const RankView& view, const Selected& selected, bool by_stream) {
  const Tracks& tracks = view.trace.tracks();
  std::map<std::pair<int64_t, int64_t>, std::vector<uint32_t>> tracks_of;
  for (uint32_t track = 0; track < tracks.size(); ++track) {
    if (HasDeviceWork(view.trace, track) && selected.KeepsTrack(TrackId{track})) {
      tracks_of[{tracks.pid[track], by_stream ? tracks.tid[track] : kMissing}].push_back(track);
    }
  }
  std::vector<Line> lines;
  lines.reserve(tracks_of.size());
  for (const auto& [key, of_line] : tracks_of) {
    lines.push_back({key.first, key.second, FindStreamGaps(view, of_line, 0), of_line});
  }
  if (lines.empty() && !selected.by_track()) {
    lines.emplace_back();
  }
  return lines;
}

// ---- Tables ----

struct DeviceTimeRow {
  int64_t rank = 0;
  std::optional<int64_t> step = {};
  std::optional<int64_t> gpu = {};
  std::optional<int64_t> stream = {};
  int64_t span_ns = 0;
  int64_t busy_ns = 0;
  int64_t gap_ns = 0;
  int64_t leading_ns = 0;
  int64_t trailing_ns = 0;
  double idle_share = 0;

  static constexpr TableNames kTable{"gpu_time", "Work and idle time of each device"};
  static constexpr ColumnOf<DeviceTimeRow> kColumns[] = {
      {"rank", &DeviceTimeRow::rank, Role::kKey, kRankDoc},
      {"step", &DeviceTimeRow::step, Role::kKey, kStepOrNoneDoc},
      {"gpu", &DeviceTimeRow::gpu, Role::kKey, kGpuOrNoneDoc},
      {"stream", &DeviceTimeRow::stream, Role::kKey, kStreamDoc},
      {"span_ns", &DeviceTimeRow::span_ns, Unit::kNanoseconds, Role::kSum,
       "Length of the window: the recording, the selected windows, or the step; the sum of the "
       "four times that follow."},
      {"busy_ns", &DeviceTimeRow::busy_ns, Unit::kNanoseconds, Role::kSum,
       "Time in which any work runs (union)."},
      {"gap_ns", &DeviceTimeRow::gap_ns, Unit::kNanoseconds, Role::kSum,
       "Time without work between the first and the last work."},
      {"leading_ns", &DeviceTimeRow::leading_ns, Unit::kNanoseconds, Role::kSum,
       "Time before the first work."},
      {"trailing_ns", &DeviceTimeRow::trailing_ns, Unit::kNanoseconds, Role::kSum,
       "Time after the last work."},
      {"idle_share", &DeviceTimeRow::idle_share, Unit::kShare, Role::kDerived,
       "Time without work / span."}};
};

struct GapRow {
  int64_t rank = 0;
  std::optional<int64_t> step = {};
  std::optional<int64_t> gpu = {};
  std::optional<int64_t> stream = {};
  std::string range = {};
  int64_t from_ns = 0;
  std::optional<int64_t> to_ns = {};
  int64_t count = 0;
  int64_t total_ns = 0;
  double mean_ns = 0;
  int64_t max_ns = 0;
  double share = 0;

  static constexpr TableNames kTable{"gaps", "Gaps between work, by their length"};
  static constexpr ColumnOf<GapRow> kColumns[] = {
      {"rank", &GapRow::rank, Role::kKey, kRankDoc},
      {"step", &GapRow::step, Role::kKey, kStepOrNoneDoc},
      {"gpu", &GapRow::gpu, Role::kKey, kGpuOrNoneDoc},
      {"stream", &GapRow::stream, Role::kKey, kStreamDoc},
      {"range", &GapRow::range, Role::kKey,
       "Lengths of these gaps; ranges without a gap have no row."},
      {"from_ns", &GapRow::from_ns, Unit::kNanoseconds, Role::kKey, "They are longer than this."},
      {"to_ns", &GapRow::to_ns, Unit::kNanoseconds, Role::kKey,
       "They are this long at most; missing: without limit."},
      {"count", &GapRow::count, Unit::kCount, Role::kSum, "Number of gaps."},
      {"total_ns", &GapRow::total_ns, Unit::kNanoseconds, Role::kSum,
       "Sum of their lengths; over all ranges gap_ns of gpu_time.", InTone(Tone::kIdle)},
      {"mean_ns", &GapRow::mean_ns, Unit::kNanoseconds, Role::kDerived, "Mean length."},
      {"max_ns", &GapRow::max_ns, Unit::kNanoseconds, Role::kMax, "Longest one."},
      {"share", &GapRow::share, Unit::kShare, Role::kDerived, "Total / span of the device."}};
};

struct NeighbourRow {
  std::string_view before = {};
  std::string_view after = {};
  int64_t count = 0;
  int64_t total_ns = 0;
  int64_t max_ns = 0;
  std::optional<double> share = {};

  static constexpr TableNames kTable{"gap_neighbours", "Between which works the gaps are",
                                     kPreviewRows};
  static constexpr ColumnOf<NeighbourRow> kColumns[] = {
      {"before", &NeighbourRow::before, Role::kKey,
       "Name of the work that ends last before the gap; of several the first to start."},
      {"after", &NeighbourRow::after, Role::kKey,
       "Name of the work that begins where the gap ends."},
      {"count", &NeighbourRow::count, Unit::kCount, Role::kSum, "Gaps between two such works."},
      {"total_ns", &NeighbourRow::total_ns, Unit::kNanoseconds, Role::kSum,
       "Sum of their lengths."},
      {"max_ns", &NeighbourRow::max_ns, Unit::kNanoseconds, Role::kMax, "Longest one."},
      {"share", &NeighbourRow::share, Unit::kShare, Role::kDerived, "Total / total of all gaps."}};
};

// Takes the key columns out that were not asked for.
void DropKeys(Keys keys, Table& table) {
  if (!keys.step) DropColumn(table, "step");
  if (!keys.stream) DropColumn(table, "stream");
}

DeviceTimeRow TimeOf(int64_t rank, const LineTime& part) {
  const WaitSums waits = SumWaits(part.line.gaps, part.time);
  const int64_t span_ns = Coverage(part.time);
  const int64_t idle_ns = waits.total_ns();
  return {.rank = rank,
          .step = Recorded(part.step),
          .gpu = Recorded(part.line.gpu),
          .stream = Recorded(part.line.stream),
          .span_ns = span_ns,
          .busy_ns = span_ns - idle_ns,
          .gap_ns = idle_ns - waits.head_ns - waits.tail_ns,
          .leading_ns = waits.head_ns,
          .trailing_ns = waits.tail_ns,
          .idle_share = ShareOf(idle_ns, span_ns)};
}

// "to 10us", "10us to 20us", "over 20us".
std::string RangeText(const std::vector<int64_t>& edges, size_t range) {
  if (range == edges.size()) {
    return "over " + FormatParamTime(edges.back());
  }
  const std::string to = "to " + FormatParamTime(edges[range]);
  return range == 0 ? to : FormatParamTime(edges[range - 1]) + " " + to;
}

void PushGaps(RowWriter<GapRow>& rows, int64_t rank, const LineTime& in,
              const std::vector<int64_t>& edges) {
  std::vector<GapSum> ranges(edges.size() + 1);
  for (const GapPart& part : GapsIn(in.line.gaps, in.time)) {
    const auto edge = std::lower_bound(edges.begin(), edges.end(), part.ns);
    ranges[static_cast<size_t>(edge - edges.begin())].Add(part.ns);
  }
  const int64_t span_ns = Coverage(in.time);
  for (size_t i = 0; i < ranges.size(); ++i) {
    const GapSum& sum = ranges[i];
    if (sum.count == 0) {
      continue;
    }
    GapRow row{.rank = rank,
               .step = Recorded(in.step),
               .gpu = Recorded(in.line.gpu),
               .stream = Recorded(in.line.stream),
               .range = RangeText(edges, i),
               .from_ns = i == 0 ? 0 : edges[i - 1],
               .count = sum.count,
               .total_ns = sum.total_ns,
               .mean_ns = ShareOf(sum.total_ns, sum.count),
               .max_ns = sum.max_ns,
               .share = ShareOf(sum.total_ns, span_ns)};
    if (i < edges.size()) row.to_ns = edges[i];
    rows.Push(row);
  }
}

Table NeighbourTable(const Trace& trace, const std::vector<Line>& lines, const Selected& selected) {
  Grouper pairs(2);
  std::vector<GapSum> sums;
  const ColumnData<StringId>& names = trace.device().name;
  for (const Line& line : lines) {
    for (const GapPart& part : GapsIn(line.gaps, selected.TimeOf(line.tracks))) {
      const int64_t pair[] = {names[part.gap->before.value].value,
                              names[part.gap->after.value].value};
      const uint32_t group = pairs.Find(pair);
      sums.resize(pairs.size());
      sums[group].Add(part.ns);
    }
  }
  std::vector<NeighbourRow> rows;
  rows.reserve(sums.size());
  const auto name_of = [&](int64_t name) {
    return trace.Text(StringId{static_cast<uint32_t>(name)});
  };
  for (size_t i = 0; i < sums.size(); ++i) {
    rows.push_back({.before = name_of(pairs.key(i)[0]),
                    .after = name_of(pairs.key(i)[1]),
                    .count = sums[i].count,
                    .total_ns = sums[i].total_ns,
                    .max_ns = sums[i].max_ns});
  }
  return MergeByKey(MakeTable(rows));
}

Result<Tables> MapGaps(const RankView& view, const Params& params) {
  const Keys keys{HasKey(params.by, "step"), HasKey(params.by, "stream")};
  const std::vector<int64_t> edges = params.Times(kEdgesParam);
  BS_ASSIGN(const Selected selected, Selected::Make(view, params.selection));
  const std::vector<Line> lines = FindLines(view, selected, keys.stream);
  const std::vector<StepWindow> windows =
      WindowsOf(view, selected, keys.step, TracksOfLines(lines));
  BS_TRY(CheckRows(view, windows.size(), lines.size()));
  Table times = NewTable<DeviceTimeRow>();
  RowWriter<DeviceTimeRow> time_rows(times);
  Table gaps = NewTable<GapRow>();
  RowWriter<GapRow> gap_rows(gaps);
  for (const StepWindow& window : windows) {
    for (size_t i = 0; i < lines.size(); ++i) {
      const LineTime part{lines[i], window.step, window.On(i)};
      time_rows.Push(TimeOf(view.rank, part));
      PushGaps(gap_rows, view.rank, part, edges);
    }
  }
  DropKeys(keys, times);
  DropKeys(keys, gaps);
  return Tables{std::move(times), std::move(gaps), NeighbourTable(view.trace, lines, selected)};
}

Result<Tables> FinishGaps(Tables tables, const Params&) {
  Table& neighbours = TableOf<NeighbourRow>(tables);
  const int64_t all_ns = SumOf(ReadRows<NeighbourRow>(neighbours), &NeighbourRow::total_ns);
  UpdateRows<NeighbourRow>(neighbours,
                           [&](NeighbourRow& row) { row.share = ShareOf(row.total_ns, all_ns); });
  neighbours = Sorted(neighbours, "total_ns");
  return tables;
}

constexpr std::string_view kGapKeys[] = {"step", "stream"};
constexpr const ParamSpec* kGapParams[] = {&kEdgesParam};
constexpr std::string_view kRange[] = {"rank", "gpu", "range"};
constexpr std::string_view kTotal[] = {"total_ns"};
constexpr ViewSpec kViews[] = {
    {"gaps", ViewKind::kBars, "Time in gaps of each length", kRange, kTotal}};

}  // namespace

const AnalysisSpec kGapsVerb{
    .name = "gaps",
    .summary = "where each device stands still: gaps by length, and the kernels around them",
    .example = "borescope gaps run/ --edges 5us,50us,1ms",
    .needs = Needs::kDeviceEvents,
    .by = kGapKeys,
    .params = kGapParams,
    .answer = {.map = MapGaps, .reduce = ReduceByRank, .finish = FinishGaps},
    .views = kViews};

}  // namespace borescope::internal
