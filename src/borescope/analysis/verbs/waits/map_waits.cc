// The map side of waits: the calls of one rank, with what its device did before each.

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/keyed_rows.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/core/selection/device_time.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/measures/align_inherited.h"
#include "borescope/analysis/measures/idle/host_time.h"
#include "borescope/analysis/measures/idle/stream_gaps.h"
#include "borescope/analysis/measures/matching/match_calls.h"
#include "borescope/analysis/measures/time/covered_time.h"
#include "borescope/analysis/verbs/waits/blame.h"
#include "borescope/analysis/verbs/waits/wait_run.h"
#include "borescope/base/saturating.h"
#include "borescope/table/typed_rows.h"

namespace borescope::internal {
namespace {

// What a device did in any time, by cause: prepared once for a rank, and used for the time before
// each of its collectives.
class GapCauses {
 public:
  // O(rows log rows).
  static Result<GapCauses> Make(const RankView& view);

  // The time from `begin` to `end` of a device by cause; the parts add up to it. What comes after
  // its last work is unknown. All zero where the time is none. O(log rows).
  CauseNs Within(int64_t gpu, int64_t begin, int64_t end) const;

 private:
  struct Device {
    std::vector<IntervalSums> by_cause;  // of all own causes but kUnknown, which is the rest
  };

  std::map<int64_t, Device> devices_;  // by number
};

LateCause CauseOf(IdleCause cause) {
  switch (cause) {
    case IdleCause::kData:
      return LateCause::kData;
    case IdleCause::kHead:
    case IdleCause::kHost:
      return LateCause::kHost;
    case IdleCause::kSync:
      return LateCause::kSync;
    case IdleCause::kLaunchCall:
    case IdleCause::kLatency:
      return LateCause::kLaunch;
    case IdleCause::kDevice:
      return LateCause::kDevice;
    case IdleCause::kBeforeRecording:
    case IdleCause::kInherited:
    case IdleCause::kTail:
    case IdleCause::kUnrecorded:
    case IdleCause::kUnknown:
    case IdleCause::kCount:
      break;
  }
  return LateCause::kUnknown;
}

using CauseSets = std::array<IntervalSet, kOwnCauses>;

// The idle times of one device by cause. Gaps are on its clock, the host on its own.
class IdleTimes {
 public:
  IdleTimes(const Trace& trace, const HostTime& host, int64_t skew_ns, bool has_inherited,
            CauseSets& sets)
      : trace_(trace), host_(host), skew_ns_(skew_ns), has_inherited_(has_inherited), sets_(sets) {}

  void Add(const StreamGaps& gaps) {
    if (gaps.first_ns == kMissing) return;
    DivideHead(OnHost({trace_.begin_ns(), gaps.first_ns}), LaunchOf(gaps.first_launch),
               {has_inherited_, AddSaturating(gaps.first_ns, skew_ns_)}, host_, parts_);
    Keep();
    for (const StreamGap& gap : gaps.gaps) {
      DivideGap(OnHost(gap.time), LaunchOf(gap.launch), host_, parts_);
      Keep();
    }
  }

 private:
  Interval OnHost(Interval time) const {
    return {AddSaturating(time.begin, skew_ns_), AddSaturating(time.end, skew_ns_)};
  }

  LaunchTime LaunchOf(HostId launch) const {
    if (!launch.valid()) return {};
    return {trace_.host().ts_ns[launch.value], trace_.host().end_ns(launch)};
  }

  void Keep() {
    for (const IdlePart& part : parts_) {
      int64_t now_ns = part.time.begin;
      if (part.cause == IdleCause::kSync) {
        for (const Interval& loading : LoadingAfterWait(part.time)) {
          Extend({now_ns, loading.begin}, LateCause::kSync);
          Extend(loading, LateCause::kData);
          now_ns = loading.end;
        }
      }
      Extend({now_ns, part.time.end}, CauseOf(part.cause));
    }
  }

  // Idle time after a wait is of the wait, as `idle` divides it: without it the host would have
  // been ahead. Here ranks are compared that wait alike, and one may load data for longer.
  IntervalSet LoadingAfterWait(Interval time) const {
    return Subtract(Clip(host_.loading, time), Clip(host_.blocked, time));
  }

  void Extend(Interval time, LateCause cause) {
    borescope::internal::Extend(
        sets_[static_cast<size_t>(cause)],
        {SubtractSaturating(time.begin, skew_ns_), SubtractSaturating(time.end, skew_ns_)});
  }

  const Trace& trace_;
  const HostTime& host_;
  const int64_t skew_ns_;
  const bool has_inherited_;
  CauseSets& sets_;
  std::vector<IdlePart> parts_;
};

CauseSets SetsOf(const RankView& view, const DeviceTime& time, const HostTime& host,
                 const InheritedWork& inherited, const DeviceClocks& clocks) {
  CauseSets sets;
  sets[static_cast<size_t>(LateCause::kCompute)] = time.compute;
  sets[static_cast<size_t>(LateCause::kCopy)] = time.exposed_copy;
  sets[static_cast<size_t>(LateCause::kComm)] = time.exposed_comm;
  const int64_t skew_ns = time.tracks.empty() ? 0 : clocks.SkewOf(TrackId{time.tracks.front()});
  IdleTimes(view.trace, host, skew_ns, inherited.IsOnAny(time.tracks), sets)
      .Add(FindStreamGaps(view, time.tracks, 0));
  return sets;
}

Result<SharedDeviceTimes> TimesOfAll(const RankView& view) {
  BS_ASSIGN(const Selected selected, Selected::Make(view, {}));
  return DeviceTimes(view, selected, PerTrack::kGpu);
}

Result<GapCauses> GapCauses::Make(const RankView& view) {
  BS_ASSIGN(const SharedDeviceTimes times, TimesOfAll(view));
  const HostTimes host(view);
  const std::shared_ptr<const InheritedWork> inherited = SharedInheritedWork(view);
  const auto waits = SyncsByRecordedTimes(view);
  GapCauses causes;
  for (const DeviceTime& time : *times) {
    CauseSets sets = SetsOf(view, time, host.all(), *inherited, waits->clocks);
    Device& device = causes.devices_[time.gpu];
    for (size_t cause = 0; cause < static_cast<size_t>(LateCause::kUnknown); ++cause) {
      device.by_cause.emplace_back(std::move(sets[cause]));
    }
  }
  return causes;
}

CauseNs GapCauses::Within(int64_t gpu, int64_t begin, int64_t end) const {
  CauseNs parts{};
  if (begin >= end) return parts;
  int64_t rest_ns = SubtractSaturating(end, begin);
  const auto device = devices_.find(gpu);
  if (device != devices_.end()) {
    for (size_t cause = 0; cause < device->second.by_cause.size(); ++cause) {
      parts[cause] = device->second.by_cause[cause].Within(begin, end);
      rest_ns -= parts[cause];
    }
  }
  At(parts, LateCause::kUnknown) = rest_ns;
  return parts;
}

// The time in which kernels compute on any device of the rank.
Result<IntervalSet> ComputeTime(const RankView& view) {
  BS_ASSIGN(const SharedDeviceTimes times, TimesOfAll(view));
  IntervalSet compute;
  for (const DeviceTime& time : *times) compute = Union(compute, time.compute);
  return compute;
}

constexpr int64_t kMicrosecond = 1000;

// By place in the list of calls.
using CallOrder = std::vector<size_t>;

CallOrder ByBegin(const std::vector<MatchableCall>& calls) {
  CallOrder order(calls.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return calls[a].ts_ns < calls[b].ts_ns; });
  return order;
}

// The begin of the time before each call that is its own: the end of the previous call of its
// group; of the first the begin of the recording. What names the group is in `keys`.
std::vector<int64_t> TimesSince(const RankView& view, const RankCalls& found) {
  const Table& keys = GetTable(found.tables, "keys");
  using Group = std::tuple<std::string, std::string, int64_t, int64_t>;
  std::map<Group, int64_t> last_end;
  std::vector<int64_t> since(found.matchable.size());
  for (const size_t i : ByBegin(found.matchable)) {
    const size_t key = found.matchable[i].key;
    const Group group{Texts(keys, "group")[key], Texts(keys, "members")[key],
                      Ints(keys, "group_size")[key], Ints(keys, "lane")[key]};
    const auto at = last_end.try_emplace(group, view.trace.begin_ns()).first;
    since[i] = at->second;
    at->second = std::max(at->second, found.matchable[i].call->end_ns);
  }
  return since;
}

// When the work that its stream ran before has ended; the begin of all times if there is none.
int64_t PreviousEnd(const Trace& trace, DeviceId kernel) {
  const uint32_t track = trace.device().track[kernel.value].value;
  uint32_t row = kernel.value;
  while (row > trace.tracks().first_row[track]) {
    --row;
    if (IsDeviceWork(trace.device().kind[row])) return trace.device().end_ns(DeviceId{row});
  }
  return std::numeric_limits<int64_t>::min();
}

// kMissing where the launch was not recorded.
int64_t DispatchOf(const RankView& view, const MatchableCall& call) {
  const HostId launch = view.index.correlation.launch_of[call.call->kernel.value];
  if (!launch.valid()) return kMissing;
  const int64_t ready_ns =
      std::max(view.trace.host().ts_ns[launch.value], PreviousEnd(view.trace, call.call->kernel));
  return std::max<int64_t>(0, SubtractSaturating(call.ts_ns, ready_ns));
}

// A column of `calls`, which has a row for each call.
Column NewCallColumn(std::string_view name, Unit unit) {
  return Column{std::string(name), unit, Role::kDerived, "", IntValues(), {}};
}

Result<void> AddGapColumns(const RankView& view, RankCalls& found) {
  BS_ASSIGN(const GapCauses causes, GapCauses::Make(view));
  const std::vector<int64_t> since = TimesSince(view, found);
  Column dispatch = NewCallColumn("dispatch_ns", Unit::kNanoseconds);
  std::vector<Column> gaps;
  gaps.reserve(std::size(kGapColumns));
  for (const std::string_view name : kGapColumns) {
    gaps.push_back(NewCallColumn(name, Unit::kNanoseconds));
  }
  for (size_t i = 0; i < found.matchable.size(); ++i) {
    const MatchableCall& call = found.matchable[i];
    PushOptional(dispatch, Recorded(DispatchOf(view, call)));
    const CauseNs parts =
        causes.Within(view.trace.DeviceOf(call.call->kernel), since[i], call.ts_ns);
    for (size_t cause = 0; cause < gaps.size(); ++cause) {
      Push(gaps[cause], parts[cause]);
    }
  }
  std::vector<Column>& columns = GetTable(found.tables, "calls").columns;
  columns.push_back(std::move(dispatch));
  std::move(gaps.begin(), gaps.end(), std::back_inserter(columns));
  return {};
}

// Profilers that count whole microseconds show multiples of them alone.
int64_t GrainOf(const std::vector<MatchableCall>& calls) {
  const bool is_coarse = std::all_of(calls.begin(), calls.end(), [](const MatchableCall& call) {
    return call.ts_ns % kMicrosecond == 0 && call.call->end_ns % kMicrosecond == 0;
  });
  return is_coarse ? kMicrosecond : 1;
}

void AddRankColumns(const RankView& view, RankCalls& found) {
  WaitRankRow row{.rank = view.rank,
                  .begin_ns = view.trace.begin_ns(),
                  .grain_ns = GrainOf(found.matchable),
                  .world_size = view.trace.meta().world_size};
  if (!found.matchable.empty()) {
    row.gpu = int64_t{view.trace.DeviceOf(found.matchable.front().call->kernel)};
  }
  AddColumns(GetTable(found.tables, "ranks"), std::vector<WaitRankRow>{row});
}

struct ComputeRow {
  int64_t rank = 0;
  int64_t begin_ns = 0;
  int64_t end_ns = 0;

  static constexpr TableNames kTable{"compute", ""};
  static constexpr ColumnOf<ComputeRow> kColumns[] = {
      {"rank", &ComputeRow::rank, Role::kKey, ""},
      {"begin_ns", &ComputeRow::begin_ns, Unit::kNanoseconds, Role::kDerived, ""},
      {"end_ns", &ComputeRow::end_ns, Unit::kNanoseconds, Role::kDerived, ""}};
};

Result<Table> ComputeTable(const RankView& view, const RankCalls& found) {
  BS_ASSIGN(const IntervalSet compute, ComputeTime(view));
  std::vector<Interval> in_calls;
  in_calls.reserve(found.matchable.size());
  for (const MatchableCall& call : found.matchable) {
    in_calls.push_back({call.ts_ns, call.call->end_ns});
  }
  Table table = NewTable<ComputeRow>();
  RowWriter<ComputeRow> rows(table);
  for (const Interval& part : Intersect(compute, Union(std::move(in_calls)))) {
    rows.Push({view.rank, part.begin, part.end});
  }
  return table;
}

Error Damaged(std::string what) {
  return {ErrorCode::kCorrupt, "its collectives are none of one rank: " + std::move(what)};
}

// What is not selected is matched and explains what is: a collective is late for what was before.
Result<void> AddSelected(const RankView& view, const Selection& selection, RankCalls& found) {
  BS_ASSIGN(const Selected selected, Selected::Make(view, selection));
  Column is_selected = NewCallColumn("selected", Unit::kNone);
  for (const MatchableCall& call : found.matchable) {
    Push(is_selected, int64_t{selected.Keeps(call.call->kernel) ? 1 : 0});
  }
  GetTable(found.tables, "calls").columns.push_back(std::move(is_selected));
  return {};
}

}  // namespace

Result<Tables> MapWaits(const RankView& view, const Params& params) {
  BS_ASSIGN(RankCalls found, FindRankCalls(view, {}));
  AddRankColumns(view, found);
  BS_TRY(AddGapColumns(view, found));
  BS_TRY(AddSelected(view, params.selection, found));
  BS_ASSIGN(Table compute, ComputeTable(view, found));
  found.tables.push_back(std::move(compute));
  return std::move(found.tables);
}

Result<void> CheckWaitTables(const Tables& tables, const Params&) {
  BS_TRY(CheckRankCalls(tables));
  const WaitTables of_rank(tables);
  const int64_t grain_ns = of_rank.ranks.front().grain_ns;
  if (grain_ns < 1 || grain_ns > kMicrosecond) {
    return Damaged("times have no such grain");
  }
  const IntValues& begin = Ints(of_rank.calls, "begin_ns");
  const IntValues& end = Ints(of_rank.calls, "end_ns");
  const IntValues& selected = Ints(of_rank.calls, "selected");
  for (size_t row = 0; row < begin.size(); ++row) {
    if (end[row] < begin[row]) return Damaged("a call ends before it begins");
    if (selected[row] != 0 && selected[row] != 1) return Damaged("a call is selected by halves");
  }
  const IntValues& from = Ints(of_rank.compute, "begin_ns");
  const IntValues& to = Ints(of_rank.compute, "end_ns");
  int64_t sum_ns = 0;
  for (size_t row = 0; row < from.size(); ++row) {
    int64_t length_ns = 0;
    if (to[row] <= from[row] || (row > 0 && from[row] <= to[row - 1]) ||
        __builtin_sub_overflow(to[row], from[row], &length_ns) ||
        __builtin_add_overflow(sum_ns, length_ns, &sum_ns)) {
      return Damaged("times of compute are not in order");
    }
  }
  return {};
}

}  // namespace borescope::internal
