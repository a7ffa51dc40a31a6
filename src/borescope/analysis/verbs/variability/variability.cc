// variability: how much longer kernels take than in their best call. Calls are alike when the
// kernel, its size as recorded and the kernels before it on its stream are; `excess`
// is what all of them take beyond the shortest of their kind:
//
//   excess = sum of (duration - shortest) = total - count x shortest
//
// The kernels before are those recorded, selected or not; the first kernels of a stream have fewer
// of them, and are kept. Streams of different devices and processes never mix. `gap_ns` is the time
// in which the whole device was idle just before the call (stream_gaps.h): with --all and nothing
// left out it adds up to gap_ns of `gaps`.
//
// The durations of outliers, and the gaps before them, are in no column but `outliers`. What is an
// outlier is judged against the calls of the same rank, so that no rank has to wait for another.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/grouper.h"
#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/core/selection/device_time.h"
#include "borescope/analysis/measures/collectives.h"
#include "borescope/analysis/measures/idle/stream_gaps.h"
#include "borescope/analysis/measures/names/kernel_categories.h"
#include "borescope/analysis/measures/time/duration_stats.h"
#include "borescope/analysis/measures/work_groups.h"
#include "borescope/analysis/verbs/verbs.h"
#include "borescope/base/check.h"
#include "borescope/base/each_row.h"

namespace borescope::internal {

namespace {

// How large a piece of device work was asked to be, as far as it was recorded: blocks of the grid
// and threads of a block of a kernel, elements and their type that a collective was given, bytes of
// a copy. Calls of one kernel on problems of different size are not the same work.

// Members that AppendWorkSize adds to a key.
inline constexpr size_t kWorkSizeKeys = 5;

constexpr int64_t kBytes = -1;  // in the place of an element type: the amount is one of bytes

// Two numbers in one member: of a grid and a block there are six, of every kernel.
int64_t Pair(int32_t first, int32_t second) {
  return static_cast<int64_t>((static_cast<uint64_t>(static_cast<uint32_t>(first)) << 32) |
                              static_cast<uint32_t>(second));
}

int32_t First(int64_t pair) { return static_cast<int32_t>(static_cast<uint64_t>(pair) >> 32); }
int32_t Second(int64_t pair) { return static_cast<int32_t>(static_cast<uint64_t>(pair)); }

struct Amount {
  int64_t count = kMissing;
  int64_t type = kMissing;  // StringId of the elements' type, or kBytes
};

Amount AmountOf(const RankView& view, DeviceId id) {
  const Trace& trace = view.trace;
  if (trace.device().kind[id.value] != DeviceKind::kKernel) {
    return Amount{CopyBytes(trace, id), kBytes};
  }
  const uint32_t args = CollectiveArgsOf(view, id);
  const Collectives& collectives = trace.collectives();
  return args == kNoDetail || collectives.in_elems[args] == kMissing
             ? Amount()
             : Amount{collectives.in_elems[args], collectives.dtype[args].value};
}

std::string AmountText(const Trace& trace, Amount amount) {
  if (amount.count == kMissing) {
    return {};
  }
  const std::string_view type =
      amount.type == kBytes ? "bytes" : trace.Text(StringId{static_cast<uint32_t>(amount.type)});
  return fmt::format("{} {}", amount.count, type.empty() ? "elements" : type);
}

std::string ShapeText(std::span<const int64_t> members) {
  const int32_t grid_x = First(members[0]);
  const int32_t block_x = Second(members[1]);
  const std::span<const int64_t> shape = members.first(3);
  if (std::all_of(shape.begin(), shape.end(),
                  [](int64_t pair) { return First(pair) < 0 && Second(pair) < 0; })) {
    return {};
  }
  return fmt::format("{},{},{} x {},{},{}", grid_x, Second(members[0]), First(members[1]), block_x,
                     First(members[2]), Second(members[2]));
}

// Appends the size of device work to the key of a Grouper. Work of a rank has equal members only if
// its WorkSizeText is equal.
void AppendWorkSize(const RankView& view, DeviceId id, std::vector<int64_t>& key) {
  const DeviceEvents& device = view.trace.device();
  const Kernels& kernels = view.trace.kernels();
  const uint32_t row = device.detail[id.value];
  if (device.kind[id.value] == DeviceKind::kKernel && row != kNoDetail) {
    key.push_back(Pair(kernels.grid_x[row], kernels.grid_y[row]));
    key.push_back(Pair(kernels.grid_z[row], kernels.block_x[row]));
    key.push_back(Pair(kernels.block_y[row], kernels.block_z[row]));
  } else {
    key.insert(key.end(), 3, Pair(-1, -1));
  }
  const Amount amount = AmountOf(view, id);
  key.push_back(amount.count);
  key.push_back(amount.type);
}

// "2049000 Float, 6,1,1 x 512,1,1": the size whose members AppendWorkSize added, for people and to
// merge ranks by; empty where nothing of it was recorded.
std::string WorkSizeText(const Trace& trace, std::span<const int64_t> members) {
  BS_DCHECK(members.size() == kWorkSizeKeys);
  const std::string amount = AmountText(trace, {members[3], members[4]});
  const std::string shape = ShapeText(members);
  return amount + (amount.empty() || shape.empty() ? "" : ", ") + shape;
}

constexpr size_t kPreviewRows = 20;
constexpr int64_t kMostContext = 64;
// Fewer calls may be the only ones that are 1 standard deviation away.
constexpr int64_t kLeastOutliers = 2;
constexpr int64_t kMostOutliers = 1'000'000;
constexpr int64_t kNoKernel = -1;  // in a key: the stream begins

// What is asked, and of what.
struct Asked {
  const RankView& view;
  const Selected& selected;
  const GroupKeys& keys;
  size_t context;
  bool all;  // copies and memsets, too

  bool Asks(DeviceId id) const {
    const DeviceKind kind = view.trace.device().kind[id.value];
    return kind == DeviceKind::kKernel || (all && IsDeviceWork(kind));
  }
};

struct Call {
  DeviceId id;
  uint32_t group;
};

// How many values of a key are about the call itself; the names of the kernels before follow.
constexpr size_t kOwnKeys = 2 + kWorkSizeKeys;

// A group is known by the values of --by, the class, the name, the size and the names before,
// nearest first.
struct Calls {
  explicit Calls(const Asked& question)
      : groups(question.keys.size() + kOwnKeys + question.context) {}

  Grouper groups;
  std::vector<Call> calls;
};

struct GroupTime {
  DurationStats stats;
  int64_t gap_ns = 0;
  int64_t outliers = 0;
};

// ---- Grouping ----

void AddTrack(const Asked& question, uint32_t track, Calls& found) {
  const Tracks& tracks = question.view.trace.tracks();
  const ColumnData<StringId>& names = question.view.trace.device().name;
  std::vector<int64_t> before(question.context, kNoKernel);
  std::vector<int64_t> key;
  for (const uint32_t row : EachRow(tracks.first_row[track], tracks.end_row[track])) {
    const DeviceId id{row};
    if (!question.Asks(id)) {
      continue;
    }
    if (question.selected.Keeps(id)) {
      key.clear();
      question.keys.Append(id, key);
      key.push_back(static_cast<int64_t>(WorkClassOf(question.view, id)));
      key.push_back(names[row].value);
      AppendWorkSize(question.view, id, key);
      key.insert(key.end(), before.begin(), before.end());
      found.calls.push_back({id, found.groups.Find(key)});
    }
    if (!before.empty()) {
      std::shift_right(before.begin(), before.end(), 1);
      before.front() = names[row].value;
    }
  }
}

Calls GroupCalls(const Asked& question) {
  Calls found(question);
  const Tracks& tracks = question.view.trace.tracks();
  for (uint32_t track = 0; track < tracks.size(); ++track) {
    if (tracks.kind[track] == TrackKind::kDevice && question.selected.KeepsTrack(TrackId{track})) {
      AddTrack(question, track, found);
    }
  }
  return found;
}

// How long the device was idle before each piece of work, on the streams that are asked about.
std::vector<int64_t> GapsBefore(const RankView& view, const Selected& selected) {
  const Tracks& tracks = view.trace.tracks();
  std::map<int64_t, std::vector<uint32_t>> tracks_of;
  for (uint32_t track = 0; track < tracks.size(); ++track) {
    if (tracks.kind[track] == TrackKind::kDevice && selected.KeepsTrack(TrackId{track})) {
      tracks_of[tracks.pid[track]].push_back(track);
    }
  }
  std::vector<int64_t> gaps(view.trace.device().size(), 0);
  for (const auto& [gpu, of_gpu] : tracks_of) {
    for (const StreamGap& gap : FindStreamGaps(view, of_gpu, 0).gaps) {
      gaps[gap.after.value] = gap.time.length();
    }
  }
  return gaps;
}

// `limit` 0: nothing is left out.
std::vector<GroupTime> SumCalls(const Asked& question, const Calls& found, int64_t limit) {
  const ColumnData<int64_t>& durations = question.view.trace.device().dur_ns;
  std::vector<DurationStats> all(found.groups.size());
  for (const Call& call : found.calls) {
    all[call.group].Add(durations[call.id.value]);
  }
  const std::vector<int64_t> gaps = GapsBefore(question.view, question.selected);
  std::vector<GroupTime> times(found.groups.size());
  for (const Call& call : found.calls) {
    GroupTime& time = times[call.group];
    const int64_t dur_ns = durations[call.id.value];
    if (limit != 0 && IsOutlier(all[call.group], dur_ns, limit)) {
      ++time.outliers;
    } else {
      time.stats.Add(dur_ns);
      time.gap_ns = AddSaturating(time.gap_ns, gaps[call.id.value]);
    }
  }
  return times;
}

// ---- Tables ----

Table NewTable(const Asked& question, bool has_outliers) {
  Table table{"variability",
              "Kernels that take longer than in their best call of the same size",
              {},
              kPreviewRows};
  question.keys.AddColumnsBeforeName(table);
  AddString(table, "name", Role::kKey, "Name of the kernel as recorded.");
  if (question.context != 0) {
    AddString(table, "after", Role::kKey,
              "Names of the kernels before it on its stream, in the order they ran (--context); "
              "fewer at the begin of a stream, and missing for its first.");
  }
  AddString(table, "size", Role::kKey,
            "What tells its problems apart, as recorded: elements that communication was given and "
            "their type, bytes of a copy; blocks of the grid x threads of a block (some AMD "
            "recordings: work-items x threads). Missing where none of them was recorded.");
  AddString(table, "class", Role::kKey, "What the kernel is for, judged by its name.")
      .hints.palette = Palette::kWork;
  AddStatsColumns(table, has_outliers ? "calls, without outliers" : "calls");
  AddInt(table, "excess_ns", Unit::kNanoseconds, Role::kDerived,
         "What the calls take beyond the shortest of them: total - count x min.")
      .hints.tone = Tone::kSync;
  AddFloat(table, "excess_share", Unit::kShare, Role::kDerived,
           "Excess / excess of all rows of this table.");
  AddInt(table, "gap_ns", Unit::kNanoseconds, Role::kSum,
         "Time in which the whole device stood idle just before the calls; 0 for its first work.");
  AddFloat(table, "gap_mean_ns", Unit::kNanoseconds, Role::kDerived, "The same for each call.");
  if (has_outliers) {
    AddInt(table, "outliers", Unit::kCount, Role::kSum,
           "Calls left out of all other columns: --outliers standard deviations or more from the "
           "mean of their kind and rank.");
  }
  return table;
}

// "a > b": the names of `before`, the nearest first.
std::string ContextText(const Trace& trace, std::span<const int64_t> before) {
  std::string text;
  for (auto name = before.rbegin(); name != before.rend(); ++name) {
    if (*name != kNoKernel) {
      text += text.empty() ? "" : " > ";
      text += trace.Text(StringId{static_cast<uint32_t>(*name)});
    }
  }
  return text;
}

void PushGroup(Table& table, const Asked& question, std::span<const int64_t> key,
               const GroupTime& time, bool has_outliers) {
  const Trace& trace = question.view.trace;
  const std::span<const int64_t> kind = key.subspan(question.keys.size());
  Row row(table);
  question.keys.PushBeforeName(row, key);
  row.Text(trace.Text(StringId{static_cast<uint32_t>(kind[1])}));
  if (question.context != 0) {
    row.MaybeText(ContextText(trace, kind.subspan(kOwnKeys)));
  }
  row.MaybeText(WorkSizeText(trace, kind.subspan(2, kWorkSizeKeys)));
  row.Text(KernelClassName(static_cast<KernelClass>(kind[0])));
  PushStats(row, time.stats);
  row.Missing().Missing().Int(time.gap_ns).Missing();
  if (has_outliers) {
    row.Int(time.outliers);
  }
}

// ---- Finish ----

// total - count x min, which a sum that has reached the end of its range must not turn negative.
int64_t ExcessOf(int64_t total_ns, int64_t count, int64_t min_ns) {
  int64_t least_ns = 0;
  return __builtin_mul_overflow(count, min_ns, &least_ns)
             ? 0
             : std::max(int64_t{0}, SubtractSaturating(total_ns, least_ns));
}

void FillExcess(Table& table) {
  const IntValues& total = Ints(table, "total_ns");
  const IntValues& count = Ints(table, "count");
  const IntValues& min = Ints(table, "min_ns");
  Column* excess = table.Find("excess_ns");
  excess->missing.clear();
  auto& values = std::get<IntValues>(excess->values);
  for (size_t row = 0; row < table.rows(); ++row) {
    values[row] = ExcessOf(total[row], count[row], min[row]);
  }
  FillShare(table, "excess_ns", "excess_share");
}

// What the question is about follows the count; the share of the total says less.
void ArrangeColumns(Table& table) {
  std::erase_if(table.columns, [](const Column& column) { return column.name == "share"; });
  const auto place = [&](std::string_view name) {
    return std::find_if(table.columns.begin(), table.columns.end(),
                        [&](const Column& column) { return column.name == name; });
  };
  std::rotate(place("total_ns"), place("excess_ns"), place("gap_ns"));
}

struct KindSum {
  int64_t count = 0;
  int64_t total_ns = 0;
  int64_t excess_ns = 0;
};

Table NewSummary() {
  Table table{"variability_summary", "Time beyond the best calls", {}};
  AddString(table, "kernels", Role::kKey, "communication, other, or all.");
  AddInt(table, "count", Unit::kCount, Role::kSum, "Calls, without outliers.");
  AddInt(table, "total_ns", Unit::kNanoseconds, Role::kSum, "Sum of their durations.");
  AddInt(table, "excess_ns", Unit::kNanoseconds, Role::kSum, "Sum of excess_ns of variability.");
  AddFloat(table, "share", Unit::kShare, Role::kDerived, "Excess / total of all kernels.");
  return table;
}

Table SummaryOf(const Table& table) {
  const StringValues& classes = Texts(table, "class");
  KindSum sums[3];  // in the order of kNames
  for (size_t row = 0; row < table.rows(); ++row) {
    const bool is_comm = classes[row] == KernelClassName(KernelClass::kCollective);
    for (KindSum* sum : {&sums[is_comm ? 0 : 1], &sums[2]}) {
      AddSaturatingTo(sum->count, Ints(table, "count")[row]);
      AddSaturatingTo(sum->total_ns, Ints(table, "total_ns")[row]);
      AddSaturatingTo(sum->excess_ns, Ints(table, "excess_ns")[row]);
    }
  }
  constexpr std::string_view kNames[] = {"communication", "other", "all"};
  Table summary = NewSummary();
  for (size_t i = 0; i < std::size(sums); ++i) {
    Row row(summary);
    row.Text(kNames[i]).Int(sums[i].count).Int(sums[i].total_ns).Int(sums[i].excess_ns);
    row.Share(sums[i].excess_ns, sums[2].total_ns);
  }
  return summary;
}

Result<void> CheckVariability(const Params& params) {
  if (const int64_t context = params.Number(kContextParam); context > kMostContext) {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .cause = fmt::format("{} is more than {} kernels", context, kMostContext),
                 .parameter = "context"};
  }
  const int64_t limit = params.Number(kOutliersParam);
  if (limit != 0 && (limit < kLeastOutliers || limit > kMostOutliers)) {
    return Error{.code = ErrorCode::kInvalidArgument,
                 .cause = fmt::format("{} is no number of standard deviations from {} to {}", limit,
                                      kLeastOutliers, kMostOutliers),
                 .parameter = "outliers"};
  }
  return CheckPatterns(params);
}

Result<Tables> MapVariability(const RankView& view, const Params& params) {
  BS_ASSIGN(const Selected selected, Selected::Make(view, params.selection));
  const GroupKeys keys(view, params.by, params.selection.step_rule);
  const auto context = static_cast<size_t>(params.Number(kContextParam));
  const int64_t limit = params.Number(kOutliersParam);
  const Asked question{view, selected, keys, context, params.all};
  const Calls found = GroupCalls(question);
  const std::vector<GroupTime> times = SumCalls(question, found, limit);
  Table table = NewTable(question, limit != 0);
  for (size_t i = 0; i < times.size(); ++i) {
    PushGroup(table, question, found.groups.key(i), times[i], limit != 0);
  }
  return Tables{std::move(table)};
}

Result<Tables> FinishVariability(Tables tables, const Params& params) {
  Table table = FinishStatsTable(std::move(tables[0]));
  FillExcess(table);
  FillMean(table, "gap_ns", "count", "gap_mean_ns");
  Table summary = SummaryOf(table);
  table = Sorted(table, "excess_ns");
  ArrangeColumns(table);
  if (HasPatterns(params)) {
    BS_ASSIGN(const NamePatterns patterns, PatternsOf(params));
    AddCategories(table, patterns);
  }
  return Tables{std::move(table), std::move(summary)};
}

constexpr std::string_view kVariabilityKeys[] = {"rank", "step", "gpu", "stream"};
constexpr const ParamSpec* kVariabilityParams[] = {&kContextParam, &kOutliersParam,
                                                   &kPatternsParam};
constexpr std::string_view kCallsOfSize[] = {"name", "size"};
constexpr std::string_view kExcess[] = {"excess_ns"};
constexpr ViewSpec kViews[] = {
    {"variability", ViewKind::kBars, "Time beyond the best call", kCallsOfSize, kExcess}};

}  // namespace

const AnalysisSpec kVariabilityVerb{
    .name = "variability",
    .summary =
        "kernels that take longer than in their best call of the same size, after the same "
        "kernels",
    .example = "borescope variability run/ --context 0 --top 20",
    .needs = Needs::kDeviceEvents,
    .by = kVariabilityKeys,
    .params = kVariabilityParams,
    .takes_all = true,
    .answer = {.map = MapVariability, .reduce = MergeTables, .finish = FinishVariability},
    .check = CheckVariability,
    .views = kViews};

}  // namespace borescope::internal
