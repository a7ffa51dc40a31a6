// info: what was recorded. `traces` has one row a file, `event_counts` counts every event of the
// input by phase and category, those included that no analysis looks at.
#include <algorithm>
#include <memory>
#include <string>

#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/core/selection/device_time.h"
#include "borescope/analysis/measures/align_inherited.h"
#include "borescope/analysis/measures/names/describe.h"
#include "borescope/analysis/verbs/verbs.h"
#include "borescope/base/saturating.h"
#include "borescope/trace/recorded_cut.h"

namespace borescope::internal {
namespace {

Table NewTraces() {
  Table table{"traces", "Recordings", {}};
  const auto number = [&](std::string_view name, Unit unit, std::string_view doc) {
    AddInt(table, name, unit, Role::kDerived, doc);
  };
  const auto text = [&](std::string_view name, std::string_view doc) {
    AddString(table, name, Role::kDerived, doc);
  };
  AddRankKey(table);
  text("file", "File as named on the command line.");
  text("format", "Format recognised by content.");
  number("world_size", Unit::kNone, "Number of ranks of the job, if recorded.");
  text("producer", "Program that wrote the file, as far as it tells.");
  number("events", Unit::kCount, "All events of the file, everything counted.");
  number("host_events", Unit::kCount,
         "Complete events of the host: operators, calls, annotations.");
  number("device_events", Unit::kCount, "Device work: kernels, memcpys and memsets.");
  number("streams", Unit::kCount, "Device streams with work on them.");
  number("steps", Unit::kCount, "ProfilerStep windows.");
  number("begin_unix_ns", Unit::kNone, "Unix time of the first event; missing if not recorded.");
  number("span_ns", Unit::kNanoseconds, "From the first start to the last end of all events.");
  text("devices", "Visible devices, used or not.");
  number("text_bytes", Unit::kBytes, "Size of the inflated text.");
  number("threads", Unit::kCount, "Host threads with events.");
  text("options", "Profiler options that the file shows to have been on.");
  number(
      "inherited_works", Unit::kCount,
      "Device work that was launched before the recording began: `doctor` says what it is like.");
  number("inherited_ns", Unit::kNanoseconds, "Sum of its durations.");
  AddFloat(table, "inherited_share", Unit::kShare, Role::kDerived,
           "Of the durations of all device work; 0 where there is none.");
  return table;
}

Table NewEventCounts() {
  Table table{"event_counts", "Events by phase and category", {}};
  AddRankKey(table);
  AddString(table, "phase", Role::kKey,
            "Phase letter: X complete, i instant, s/f flow, M metadata.");
  AddString(table, "category", Role::kKey, "Category as recorded; missing if there is none.");
  AddInt(table, "count", Unit::kCount, Role::kSum, "Number of events.");
  AddInt(table, "total_ns", Unit::kNanoseconds, Role::kSum, "Sum of their durations as recorded.");
  return table;
}

int64_t CountDeviceWork(const DeviceEvents& device) {
  return std::count_if(device.kind.begin(), device.kind.end(), IsDeviceWork);
}

int64_t CountTracks(const Trace& trace, TrackKind kind) {
  const Tracks& tracks = trace.tracks();
  int64_t count = 0;
  for (uint32_t i = 0; i < tracks.size(); ++i) {
    const bool used = kind == TrackKind::kHost ? tracks.first_row[i] < tracks.end_row[i]
                                               : HasDeviceWork(trace, i);
    // Overlapping ranges have a track beside that of the thread that began them.
    const bool is_counted =
        tracks.is_async[i] != 0 && i > 0 && tracks.kind[i - 1] == tracks.kind[i] &&
        tracks.pid[i - 1] == tracks.pid[i] && tracks.tid[i - 1] == tracks.tid[i];
    count += tracks.kind[i] == kind && used && !is_counted ? 1 : 0;
  }
  return count;
}

std::string DescribeOptions(const RecordedOptions& options) {
  std::string text;
  for (const auto& [on, name] : {std::pair{options.record_shapes, "record_shapes"},
                                 {options.profile_memory, "profile_memory"},
                                 {options.with_stack, "with_stack"},
                                 {options.with_modules, "with_modules"},
                                 {options.with_flops, "with_flops"}}) {
    if (on) {
      text += (text.empty() ? "" : ", ") + std::string(name);
    }
  }
  return text;
}

int64_t CountEvents(const Trace& trace) {
  uint64_t events = 0;
  for (const EventCount& count : trace.event_counts()) {
    events += count.count;
  }
  return static_cast<int64_t>(events);
}

// Whether anything has a time: else the begin of the trace is that of its clock.
bool HasTimes(const Trace& trace) {
  return trace.host().size() + trace.device().size() + trace.memory().size() +
             trace.samples().size() + trace.stack_samples().size() !=
         0;
}

// And what part of a recording it is that `borescope convert` cut out.
std::string ProducerOf(const Meta& meta) {
  return meta.cut ? meta.producer + "; part of a recording: " + TextOfCut(*meta.cut)
                  : meta.producer;
}

// The inherited work of all devices.
void PushInherited(Row& row, const RankView& view) {
  const std::shared_ptr<const InheritedWork> inherited = SharedInheritedWork(view);
  InheritedByDevice sum;
  for (const auto& [gpu, device] : inherited->devices) {
    sum.works += device.works;
    AddSaturatingTo(sum.device_ns, device.device_ns);
  }
  int64_t all_ns = 0;
  const DeviceEvents& device = view.trace.device();
  for (uint32_t id = 0; id < device.size() && sum.works != 0; ++id) {
    AddSaturatingTo(all_ns, IsDeviceWork(device.kind[id]) ? device.dur_ns[id] : 0);
  }
  row.Int(sum.works).Int(sum.device_ns).Share(sum.device_ns, all_ns);
}

void PushTrace(Table& table, const RankView& view) {
  const Trace& trace = view.trace;
  const Meta& meta = trace.meta();
  Row row(table);
  row.Int(view.rank).Text(meta.file).Text(FormatName(meta.format)).MaybeInt(meta.world_size);
  row.MaybeText(ProducerOf(meta)).Int(CountEvents(trace)).Count(trace.host().size());
  row.Int(CountDeviceWork(trace.device())).Int(CountTracks(trace, TrackKind::kDevice));
  row.Count(view.steps().steps.size());
  const bool has_begin = meta.base_ns.has_value() && HasTimes(trace);
  has_begin ? row.Int(*meta.base_ns + trace.begin_ns()) : row.Missing();
  row.Int(trace.span_ns()).MaybeText(DescribeDevices(meta));
  row.Int(static_cast<int64_t>(meta.text_bytes)).Int(CountTracks(trace, TrackKind::kHost));
  row.MaybeText(DescribeOptions(meta.options));
  PushInherited(row, view);
}

Result<Tables> MapInfo(const RankView& view, const Params&) {
  Table traces = NewTraces();
  Table counts = NewEventCounts();
  PushTrace(traces, view);
  for (const EventCount& count : view.trace.event_counts()) {
    Row(counts)
        .Int(view.rank)
        .Text({&count.phase, 1})
        .MaybeText(view.trace.Text(count.category))
        .Int(static_cast<int64_t>(count.count))
        .Int(count.total_ns);
  }
  return Tables{std::move(traces), std::move(counts)};
}

constexpr std::string_view kInherited[] = {"inherited_works", "inherited_ns", "inherited_share"};
constexpr ViewSpec kViews[] = {
    {"traces", ViewKind::kAside, "Work from before the recording", {}, kInherited}};

}  // namespace

const AnalysisSpec kInfoVerb{
    .name = "info",
    .summary = "what was recorded: ranks, devices, events, steps, time span",
    .example = "borescope info trace.json.gz",
    .takes_selection = false,
    .answer = {.map = MapInfo, .reduce = ConcatTables},
    .views = kViews};

}  // namespace borescope::internal
