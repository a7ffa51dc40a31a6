// busy: how much of its time each device works. `busy_ns` is the union of all work of the device,
// `sum_ns` the sum of its durations, where work that runs at one time counts as often; both only
// inside the windows. The span is the whole recording or the selected windows, as in `breakdown`,
// so that busy + idle = span.
//
// A device is one row, whichever processes use it. Streams are numbered by each process for itself,
// so that --by stream has rows of their own for the processes of a file.
#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "borescope/analysis/core/grouper.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/core/selection/device_time.h"
#include "borescope/analysis/verbs/verbs.h"
#include "borescope/base/each_row.h"
#include "borescope/base/intervals.h"
#include "borescope/base/saturating.h"

namespace borescope::internal {
namespace {

struct BusyKeys {
  bool process;
  bool stream;
};

// Device, process and stream; kMissing for what the rows are not divided by.
using BusyKey = std::tuple<int64_t, int64_t, int64_t>;

// The selected time of a row, and all work, cut to it.
struct BusyTime {
  IntervalSet windows;
  std::vector<Interval> parts;
  int64_t count = 0;
  int64_t sum_ns = 0;
};

// Adds what is inside the selected time.
void AddWork(Interval work, BusyTime& busy) {
  auto window = std::partition_point(busy.windows.begin(), busy.windows.end(),
                                     [&](const Interval& one) { return one.end <= work.begin; });
  const bool is_inside = window != busy.windows.end() && window->begin < work.end;
  for (; window != busy.windows.end() && window->begin < work.end; ++window) {
    busy.parts.push_back({std::max(work.begin, window->begin), std::min(work.end, window->end)});
    busy.sum_ns = AddSaturating(busy.sum_ns, busy.parts.back().length());
  }
  busy.count += is_inside ? 1 : 0;
}

// Work without length is in no time of a step that it could belong to.
bool KeepsInstant(const RankView& view, const Selected& selected, DeviceId id) {
  const bool is_by_launch = selected.has_steps() && selected.step_rule() == StepRule::kLaunch;
  return is_by_launch ? selected.Keeps(id)
                      : selected.KeepsTime(view.trace.device().ts_ns[id.value]);
}

void AddTrack(const RankView& view, uint32_t track, const Selected& selected, BusyTime& busy) {
  const DeviceEvents& device = view.trace.device();
  const Tracks& tracks = view.trace.tracks();
  for (const uint32_t row : EachRow(tracks.first_row[track], tracks.end_row[track])) {
    if (!IsDeviceWork(device.kind[row])) {
      continue;
    }
    if (device.dur_ns[row] > 0) {
      AddWork({device.ts_ns[row], device.end_ns(DeviceId{row})}, busy);
    } else {
      busy.count += KeepsInstant(view, selected, DeviceId{row}) ? 1 : 0;
    }
  }
}

// The tracks of each row.
std::map<BusyKey, std::vector<uint32_t>> TracksByKey(const RankView& view, const Selected& selected,
                                                     BusyKeys keys) {
  const Tracks& tracks = view.trace.tracks();
  std::map<BusyKey, std::vector<uint32_t>> found;
  for (uint32_t track = 0; track < tracks.size(); ++track) {
    if (HasDeviceWork(view.trace, track) && selected.KeepsTrack(TrackId{track})) {
      const BusyKey key{tracks.pid[track], keys.process ? tracks.process[track] : kMissing,
                        keys.stream ? tracks.tid[track] : kMissing};
      found[key].push_back(track);
    }
  }
  if (found.empty() && !selected.by_track()) {
    found.try_emplace({kMissing, kMissing, kMissing});
  }
  return found;
}

std::map<BusyKey, BusyTime> BusyTimes(const RankView& view, const Selected& selected,
                                      BusyKeys keys) {
  std::map<BusyKey, BusyTime> times;
  for (const auto& [key, tracks] : TracksByKey(view, selected, keys)) {
    BusyTime& busy = times[key];
    busy.windows = selected.TimeOf(tracks);
    for (const uint32_t track : tracks) {
      AddTrack(view, track, selected, busy);
    }
  }
  return times;
}

Table NewTable(BusyKeys keys) {
  Table table{"busy", "How busy each device is", {}};
  const auto ns = [&](std::string_view name, std::string_view doc) {
    AddInt(table, name, Unit::kNanoseconds, Role::kSum, doc);
  };
  AddRankKey(table);
  AddGpuKeyOrNone(table);
  if (keys.process) {
    AddInt(table, "process", Unit::kNone, Role::kKey,
           "Process whose streams they are; missing in files of one process.");
  }
  if (keys.stream) {
    AddStreamKey(table);
  }
  AddInt(table, "count", Unit::kCount, Role::kSum,
         "Kernels, memcpys and memsets that run in the windows.");
  ns("span_ns", "Length of the window: the recording, or the selected windows.");
  ns("busy_ns", "Time in which any of them runs (union).");
  ns("idle_ns", "Span less busy time.");
  ns("sum_ns", "Sum of their durations: time shared by several counts as often.");
  AddFloat(table, "share", Unit::kShare, Role::kDerived, "Busy time / span.");
  return table;
}

Result<Tables> MapBusy(const RankView& view, const Params& params) {
  const bool by_stream = HasKey(params.by, "stream");
  const BusyKeys keys{by_stream || HasKey(params.by, "process"), by_stream};
  BS_ASSIGN(const Selected selected, Selected::Make(view, params.selection));
  Table table = NewTable(keys);
  for (auto& [key, busy] : BusyTimes(view, selected, keys)) {
    const int64_t span_ns = Coverage(busy.windows);
    const int64_t busy_ns = Coverage(Union(std::move(busy.parts)));
    const auto [gpu, process, stream] = key;
    Row row(table);
    row.Int(view.rank).MaybeInt(gpu);
    if (keys.process) {
      row.MaybeInt(process);
    }
    if (keys.stream) {
      row.MaybeInt(stream);
    }
    row.Int(busy.count).Int(span_ns).Int(busy_ns).Int(span_ns - busy_ns).Int(busy.sum_ns);
    row.Share(busy_ns, span_ns);
  }
  return Tables{std::move(table)};
}

constexpr std::string_view kBusyKeys[] = {"process", "stream"};

}  // namespace

const AnalysisSpec kBusyVerb{
    .name = "busy",
    .summary = "how much of its time each device works: union and sum of all work",
    .example = "borescope busy run/ --by stream",
    .needs = Needs::kDeviceEvents,
    .by = kBusyKeys,
    .answer = {.map = MapBusy, .reduce = ConcatTables},
    .in_report = false};

}  // namespace borescope::internal
