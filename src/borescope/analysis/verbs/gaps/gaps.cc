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

#include "borescope/analysis/core/finish.h"
#include "borescope/analysis/core/group_keys.h"
#include "borescope/analysis/core/grouper.h"
#include "borescope/analysis/core/key_columns.h"
#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/core/selection/device_time.h"
#include "borescope/analysis/measures/idle/stream_gaps.h"
#include "borescope/analysis/measures/time/step_times.h"
#include "borescope/analysis/verbs/verbs.h"
#include "borescope/table/table_ops.h"

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

void AddKeyColumns(Table& table, Keys keys) {
  AddRankKey(table);
  if (keys.step) {
    AddStepKeyOrNone(table);
  }
  AddGpuKeyOrNone(table);
  if (keys.stream) {
    AddStreamKey(table);
  }
}

void PushKeys(Row& row, Keys keys, int64_t rank, const LineTime& part) {
  row.Int(rank);
  if (keys.step) {
    row.MaybeInt(part.step);
  }
  row.MaybeInt(part.line.gpu);
  if (keys.stream) {
    row.MaybeInt(part.line.stream);
  }
}

Table NewTimeTable(Keys keys) {
  Table table{"gpu_time", "Work and idle time of each device", {}};
  AddKeyColumns(table, keys);
  const auto ns = [&](std::string_view name, std::string_view doc) {
    AddInt(table, name, Unit::kNanoseconds, Role::kSum, doc);
  };
  ns("span_ns",
     "Length of the window: the recording, the selected windows, or the step; the sum of the four "
     "times that follow.");
  ns("busy_ns", "Time in which any work runs (union).");
  ns("gap_ns", "Time without work between the first and the last work.");
  ns("leading_ns", "Time before the first work.");
  ns("trailing_ns", "Time after the last work.");
  AddFloat(table, "idle_share", Unit::kShare, Role::kDerived, "Time without work / span.");
  return table;
}

Table NewGapTable(Keys keys) {
  Table table{"gaps", "Gaps between work, by their length", {}};
  AddKeyColumns(table, keys);
  AddString(table, "range", Role::kKey, "Lengths of these gaps; ranges without a gap have no row.");
  AddInt(table, "from_ns", Unit::kNanoseconds, Role::kKey, "They are longer than this.");
  AddInt(table, "to_ns", Unit::kNanoseconds, Role::kKey,
         "They are this long at most; missing: without limit.");
  AddInt(table, "count", Unit::kCount, Role::kSum, "Number of gaps.");
  AddInt(table, "total_ns", Unit::kNanoseconds, Role::kSum,
         "Sum of their lengths; over all ranges gap_ns of gpu_time.")
      .hints.tone = Tone::kIdle;
  AddFloat(table, "mean_ns", Unit::kNanoseconds, Role::kDerived, "Mean length.");
  AddInt(table, "max_ns", Unit::kNanoseconds, Role::kMax, "Longest one.");
  AddFloat(table, "share", Unit::kShare, Role::kDerived, "Total / span of the device.");
  return table;
}

Table NewNeighbourTable() {
  Table table{"gap_neighbours", "Between which works the gaps are", {}, kPreviewRows};
  AddString(table, "before", Role::kKey,
            "Name of the work that ends last before the gap; of several the first to start.");
  AddString(table, "after", Role::kKey, "Name of the work that begins where the gap ends.");
  AddInt(table, "count", Unit::kCount, Role::kSum, "Gaps between two such works.");
  AddInt(table, "total_ns", Unit::kNanoseconds, Role::kSum, "Sum of their lengths.");
  AddInt(table, "max_ns", Unit::kNanoseconds, Role::kMax, "Longest one.");
  AddFloat(table, "share", Unit::kShare, Role::kDerived, "Total / total of all gaps.");
  return table;
}

void PushTime(Table& table, Keys keys, int64_t rank, const LineTime& part) {
  const WaitSums waits = SumWaits(part.line.gaps, part.time);
  const int64_t span_ns = Coverage(part.time);
  const int64_t idle_ns = waits.total_ns();
  Row row(table);
  PushKeys(row, keys, rank, part);
  row.Int(span_ns).Int(span_ns - idle_ns).Int(idle_ns - waits.head_ns - waits.tail_ns);
  row.Int(waits.head_ns).Int(waits.tail_ns).Share(idle_ns, span_ns);
}

// "to 10us", "10us to 20us", "over 20us".
std::string RangeText(const std::vector<int64_t>& edges, size_t range) {
  if (range == edges.size()) {
    return "over " + FormatParamTime(edges.back());
  }
  const std::string to = "to " + FormatParamTime(edges[range]);
  return range == 0 ? to : FormatParamTime(edges[range - 1]) + " " + to;
}

void PushGaps(Table& table, Keys keys, int64_t rank, const LineTime& in,
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
    Row row(table);
    PushKeys(row, keys, rank, in);
    row.Text(RangeText(edges, i)).Int(i == 0 ? 0 : edges[i - 1]);
    row.MaybeInt(i == edges.size() ? kMissing : edges[i]).Int(sum.count).Int(sum.total_ns);
    row.Share(sum.total_ns, sum.count).Int(sum.max_ns).Share(sum.total_ns, span_ns);
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
  Table table = NewNeighbourTable();
  for (size_t i = 0; i < sums.size(); ++i) {
    Row row(table);
    for (const int64_t name : pairs.key(i)) {
      row.Text(trace.Text(StringId{static_cast<uint32_t>(name)}));
    }
    row.Int(sums[i].count).Int(sums[i].total_ns).Int(sums[i].max_ns).Missing();
  }
  return MergeByKey(table);
}

Result<Tables> MapGaps(const RankView& view, const Params& params) {
  const Keys keys{HasKey(params.by, "step"), HasKey(params.by, "stream")};
  const std::vector<int64_t> edges = params.Times(kEdgesParam);
  BS_ASSIGN(const Selected selected, Selected::Make(view, params.selection));
  const std::vector<Line> lines = FindLines(view, selected, keys.stream);
  const std::vector<StepWindow> windows =
      WindowsOf(view, selected, keys.step, TracksOfLines(lines));
  BS_TRY(CheckRows(view, windows.size(), lines.size()));
  Table times = NewTimeTable(keys);
  Table gaps = NewGapTable(keys);
  for (const StepWindow& window : windows) {
    for (size_t i = 0; i < lines.size(); ++i) {
      const LineTime part{lines[i], window.step, window.On(i)};
      PushTime(times, keys, view.rank, part);
      PushGaps(gaps, keys, view.rank, part, edges);
    }
  }
  return Tables{std::move(times), std::move(gaps), NeighbourTable(view.trace, lines, selected)};
}

Result<Tables> FinishGaps(Tables tables, const Params&) {
  FillShare(tables[2], "total_ns", "share");
  tables[2] = Sorted(tables[2], "total_ns");
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
