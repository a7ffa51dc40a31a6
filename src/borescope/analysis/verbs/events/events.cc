// events: a row for every recorded event. With --compat hta the frames of HolisticTraceAnalysis,
// which hold whatever it reads of a file.
#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/verbs/verbs.h"
#include "borescope/base/each_row.h"
#include "borescope/base/stop.h"
#include "borescope/trace/trace.h"

namespace borescope::internal {
namespace {

Table NewTable() {
  Table table{"events", "Recorded events", {}};
  AddRankKey(table);
  AddInt(table, "event_index", Unit::kNone, Role::kDerived,
         "Position in traceEvents, from 0; missing for formats without one.");
  AddString(table, "side", Role::kDerived, "host or device.");
  AddString(table, "kind", Role::kDerived,
            "host: python, annotation, op, runtime, other; device: kernel, memcpy, memset, sync, "
            "annotation, range, other.");
  AddString(table, "name", Role::kDerived, "Name of the event.");
  AddInt(table, "ts_ns", Unit::kNanoseconds, Role::kDerived, "When it began, on the file's clock.");
  AddInt(table, "dur_ns", Unit::kNanoseconds, Role::kDerived, "How long it took.");
  AddInt(table, "pid", Unit::kNone, Role::kDerived, "Process, or number of the device.");
  AddInt(table, "tid", Unit::kNone, Role::kDerived, "Thread, or number of the stream.");
  AddInt(table, "correlation", Unit::kNone, Role::kDerived,
         "Number that ties a call to the work it started.");
  table.preview_rows = 20;
  return table;
}

int64_t CorrelationOf(const Trace& trace, HostId id) {
  const HostEvents& host = trace.host();
  const bool is_call = host.kind[id.value] == HostKind::kRuntime;
  const uint32_t detail = is_call ? host.detail[id.value] : kNoDetail;
  return detail == kNoDetail ? kMissing : trace.runtime_calls().correlation[detail];
}

std::optional<int64_t> PositionOf(const ColumnData<uint32_t>& positions, size_t row) {
  return positions.empty() || positions[row] == kNoPosition
             ? std::nullopt
             : std::optional<int64_t>(positions[row]);
}

void AddHost(const RankView& view, HostId id, Table& table) {
  const HostEvents& host = view.trace.host();
  const Tracks& tracks = view.trace.tracks();
  const uint32_t track = host.track[id.value].value;
  Row(table)
      .Int(view.rank)
      .MaybeInt(PositionOf(host.position, id.value))
      .Text("host")
      .Text(HostKindName(host.kind[id.value]))
      .Text(view.trace.Name(id))
      .Int(host.ts_ns[id.value])
      .Int(host.dur_ns[id.value])
      .MaybeInt(tracks.pid[track])
      .MaybeInt(tracks.tid[track])
      .MaybeInt(CorrelationOf(view.trace, id));
}

void AddDevice(const RankView& view, DeviceId id, Table& table) {
  const DeviceEvents& device = view.trace.device();
  Row(table)
      .Int(view.rank)
      .MaybeInt(PositionOf(device.position, id.value))
      .Text("device")
      .Text(DeviceKindName(device.kind[id.value]))
      .Text(view.trace.Name(id))
      .Int(device.ts_ns[id.value])
      .Int(device.dur_ns[id.value])
      .MaybeInt(view.trace.DeviceOf(id))
      .MaybeInt(view.trace.StreamOf(id))
      .MaybeInt(device.correlation[id.value]);
}

// Waits and annotations of a device are no work, which Selected would keep; they are here as long
// as nothing of the device side is left out.
bool KeepsRecord(const RankView& view, const Selected& selected, DeviceId id) {
  const DeviceEvents& device = view.trace.device();
  return IsDeviceWork(device.kind[id.value]) ? selected.Keeps(id)
                                             : selected.KeepsTrack(device.track[id.value]) &&
                                                   selected.KeepsTime(device.ts_ns[id.value]);
}

Result<Tables> MapEvents(const RankView& view, const Params& params) {
  BS_ASSIGN(const Selected selected, Selected::Make(view, params.selection));
  Table table = NewTable();
  for (const uint32_t row : EachRow(view.trace.host().size())) {
    if (selected.Keeps(HostId{row})) {
      AddHost(view, HostId{row}, table);
    }
  }
  for (const uint32_t row : EachRow(view.trace.device().size())) {
    if (KeepsRecord(view, selected, DeviceId{row})) {
      AddDevice(view, DeviceId{row}, table);
    }
  }
  return Tables{std::move(table)};
}

constexpr const ParamSpec* kEventParams[] = {&kAsParsedParam, &kIncludeLastStepParam};

}  // namespace

const AnalysisSpec kEventsVerb{
    .name = "events",
    .summary = "every event as it was recorded, host threads first",
    .example = "borescope events trace.json.gz --begin 10% --end 11% -f csv",
    .needs = Needs::kEvents,
    .params = kEventParams,
    .answer = {.map = MapEvents, .reduce = ConcatTables},
    .memory = 3,
    .in_report = false};

}  // namespace borescope::internal
