// Checks on how device events, launches, operators and waits belong together.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <vector>

#include "borescope/analysis/core/grouper.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/core/selection/device_time.h"
#include "borescope/analysis/core/selection/phases.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/measures/align_inherited.h"
#include "borescope/analysis/measures/idle/host_time.h"
#include "borescope/analysis/measures/recorded.h"
#include "borescope/analysis/verbs/doctor/quality_checks.h"
#include "borescope/base/each_row.h"
#include "borescope/base/hash/hash_tables.h"
#include "borescope/base/saturating.h"
#include "borescope/base/sort_runs.h"
#include "borescope/base/stop.h"
#include "borescope/base/text/text.h"
#include "borescope/index/syncs/sync_edges.h"

namespace borescope::internal {
namespace {

CheckOutcome BeforeLaunch(const RankView& view) {
  return CountDeviceCases(view, [&](DeviceId id) {
    const HostId launch = view.index.correlation.launch_of[id.value];
    return launch.valid() &&
           view.trace.device().ts_ns[id.value] < view.trace.host().ts_ns[launch.value];
  });
}

CheckOutcome LaunchedBefore(const RankView& view) {
  const std::shared_ptr<const InheritedWork> inherited = SharedInheritedWork(view);
  return CountDeviceCases(view, [&](DeviceId id) { return inherited->IsInherited(id); });
}

CheckOutcome WithoutLaunch(const RankView& view) {
  const std::shared_ptr<const InheritedWork> inherited = SharedInheritedWork(view);
  return CountDeviceCases(view, [&](DeviceId id) {
    return inherited->OriginOf(id) == LaunchOrigin::kLost &&
           view.index.correlation.rule[id.value] != LinkRule::kAmbiguous;
  });
}

CheckOutcome WithoutOperator(const RankView& view) {
  if (!IsOfPyTorchProgram(view.trace)) {
    return NotApplicable();
  }
  return CountDeviceCases(view, [&](DeviceId id) {
    return view.index.correlation.rule[id.value] == LinkRule::kLaunchOnly;
  });
}

CheckOutcome FromDiagnostic(const RankView& view, Diag diag) {
  const Diagnostics::Entry& entry = view.index.diagnostics.Get(diag);
  return {static_cast<int64_t>(entry.count), std::nullopt, entry.first};
}

CheckOutcome DuplicateCorrelation(const RankView& view) {
  return FromDiagnostic(view, Diag::kDuplicateCorrelation);
}

// Calls `use(id, row)` for the External id of every operator that has one.
template <class Use>
void ForEachExternalId(const Trace& trace, const Use& use) {
  const HostEvents& host = trace.host();
  for (const uint32_t row : EachRow(host.size())) {
    if (host.kind[row] == HostKind::kOp && host.detail[row] != kNoDetail) {
      const int64_t id = trace.ops().external_id[host.detail[row]];
      if (id != kMissing && id != 0) {
        use(id, row);
      }
    }
  }
}

// How many operators have an External id that an earlier one has, and the smallest such id.
struct Repeats {
  int64_t count = 0;
  int64_t least = kMissing;

  void Add(int64_t id) { least = count++ == 0 ? id : std::min(least, id); }
};

Repeats RepeatsOfSparseIds(const Trace& trace, size_t count) {
  std::vector<int64_t> ids;
  ids.reserve(count);
  ForEachExternalId(trace, [&](int64_t id, uint32_t) { ids.push_back(id); });
  SortRuns(std::span(ids), std::less<>());  // each thread counts upwards
  Repeats repeats;
  for (size_t i = 1; i < ids.size(); ++i) {
    if (ids[i] == ids[i - 1]) {
      repeats.Add(ids[i]);
    }
  }
  return repeats;
}

// With a bit for each id from `least` on.
Repeats RepeatsOfDenseIds(const Trace& trace, int64_t least, uint64_t range) {
  std::vector<bool> seen(range + 1);
  Repeats repeats;
  ForEachExternalId(trace, [&](int64_t id, uint32_t) {
    const uint64_t bit = static_cast<uint64_t>(id) - static_cast<uint64_t>(least);
    if (seen[bit]) {
      repeats.Add(id);
    }
    seen[bit] = true;
  });
  return repeats;
}

// Ids are numbers of a counter: a bit for each is less than they take themselves.
Repeats RepeatsOfIds(const Trace& trace) {
  constexpr uint64_t kMostBits = 64;  // for each id
  uint64_t count = 0;
  int64_t least = std::numeric_limits<int64_t>::max();
  int64_t largest = std::numeric_limits<int64_t>::min();
  ForEachExternalId(trace, [&](int64_t id, uint32_t) {
    ++count;
    least = std::min(least, id);
    largest = std::max(largest, id);
  });
  if (count == 0) {
    return {};
  }
  const uint64_t range = static_cast<uint64_t>(largest) - static_cast<uint64_t>(least);
  return range / kMostBits < count ? RepeatsOfDenseIds(trace, least, range)
                                   : RepeatsOfSparseIds(trace, count);
}

// The second row with the id.
uint32_t SecondRowOf(const Trace& trace, int64_t id) {
  int64_t count = 0;
  uint32_t second = 0;
  ForEachExternalId(trace, [&](int64_t other, uint32_t row) {
    if (other == id && ++count == 2) {
      second = row;
    }
  });
  return second;
}

CheckOutcome DuplicateExternalId(const RankView& view) {
  const Repeats repeats = RepeatsOfIds(view.trace);
  CheckOutcome outcome;
  outcome.count = repeats.count;
  if (repeats.count > 0) {
    const HostId second{SecondRowOf(view.trace, repeats.least)};
    outcome.first = fmt::format("External id {}: {}", repeats.least, Describe(view, second));
  }
  return outcome;
}

CheckOutcome AmbiguousLaunch(const RankView& view) {
  return CountDeviceCases(view, [&](DeviceId id) {
    return view.index.correlation.rule[id.value] == LinkRule::kAmbiguous;
  });
}

CheckOutcome UnresolvedWait(const RankView& view) {
  return FromDiagnostic(view, Diag::kUnresolvedWait);
}

CheckOutcome GraphLaunches(const RankView& view) {
  const Correlation& links = view.index.correlation;
  const std::vector<char> is_graph = FlagNames(
      view.trace.strings(), [](std::string_view name) { return Contains(name, "GraphLaunch"); });
  CheckOutcome outcome;
  for (uint32_t call = 0; call + 1 < links.device_begin.size(); ++call) {
    const std::span<const DeviceId> rows = links.DevicesOf(call);
    const auto is_work = [&](DeviceId id) {
      return IsDeviceWork(view.trace.device().kind[id.value]);
    };
    if (rows.size() < 2 ||
        is_graph[view.trace.host().name[links.launch_of[rows.front().value].value].value] == 0) {
      continue;
    }
    if (std::count_if(rows.begin(), rows.end(), is_work) > 1 && outcome.count++ == 0) {
      outcome.first = Describe(view, links.launch_of[rows.front().value]);
    }
  }
  return outcome;
}

// Looks for the copies of calls that copy and wait for it. Where all records of copies are absent,
// copies were not traced; where some are, they were lost.
CheckOutcome UntracedCopies(const RankView& view) {
  const std::vector<CopyWithoutRecord> untraced = CopiesWithoutRecord(view);
  CheckOutcome outcome;
  outcome.count = static_cast<int64_t>(untraced.size());
  if (untraced.empty()) {
    return outcome;
  }
  int64_t ns = 0;
  for (const CopyWithoutRecord& copy : untraced) {
    AddSaturatingTo(ns, TimeOf(view.trace.host(), copy).length());
  }
  outcome.first = Describe(view, untraced.front().call);
  outcome.share = ShareOf(ns, view.trace.span_ns());
  return outcome;
}

// A call is a case of one check alone.
CheckOutcome UntracedLaunches(const RankView& view) {
  std::vector<HostId> untraced = CallsOfUntracedKinds(view);
  if (!untraced.empty()) {
    const std::vector<CopyWithoutRecord> copies = CopiesWithoutRecord(view);
    auto copy = copies.begin();
    std::erase_if(untraced, [&](HostId call) {
      copy = std::find_if(copy, copies.end(), [&](const CopyWithoutRecord& one) {
        return one.call.value >= call.value;
      });
      return copy != copies.end() && copy->call == call;
    });
  }
  CheckOutcome outcome;
  outcome.count = static_cast<int64_t>(untraced.size());
  outcome.first = untraced.empty() ? std::string() : Describe(view, untraced.front());
  return outcome;
}

bool IsEventWait(const RankView& view, uint32_t row) {
  if (view.trace.device().kind[row] != DeviceKind::kSync) {
    return false;
  }
  const std::string_view name = view.trace.Name(DeviceId{row});
  return name == "Stream Wait Event" || name == "Event Sync";
}

int64_t RecordOf(const RankView& view, uint32_t row) {
  const uint32_t detail = view.trace.device().detail[row];
  return detail == kNoDetail ? kMissing : view.trace.syncs().wait_on_record_correlation[detail];
}

// R2 of PyTorch's trace validator.
CheckOutcome WaitWithoutRecord(const RankView& view) {
  CheckOutcome outcome;
  for (const uint32_t row : EachRow(view.trace.device().size())) {
    if (IsEventWait(view, row) && RecordOf(view, row) < 0 && outcome.count++ == 0) {
      outcome.first = Describe(view, DeviceId{row});
    }
  }
  return outcome;
}

CheckOutcome WithoutWaits(const RankView& view) {
  CheckOutcome outcome;
  outcome.count = HasNoWaits(view.trace) ? 1 : 0;
  outcome.applies = view.trace.runtime_calls().size() != 0;
  return outcome;
}

HashMap<int64_t, int64_t> EventRecordTimes(const RankView& view) {
  HashMap<int64_t, int64_t> times;
  const std::vector<char> is_record = FlagNames(view.trace.strings(), IsEventRecordName);
  const HostEvents& host = view.trace.host();
  for (const uint32_t row : EachRow(host.size())) {
    if (host.kind[row] == HostKind::kRuntime && host.detail[row] != kNoDetail &&
        is_record[host.name[row].value] != 0) {
      times.emplace(view.trace.runtime_calls().correlation[host.detail[row]], host.ts_ns[row]);
    }
  }
  return times;
}

// The device rows that are waits for a record they name.
std::vector<uint32_t> WaitsForRecords(const RankView& view) {
  std::vector<uint32_t> waits;
  for (const uint32_t row : EachRow(view.trace.device().size())) {
    if (IsEventWait(view, row) && RecordOf(view, row) >= 0) {
      waits.push_back(row);
    }
  }
  return waits;
}

// R4: the record a wait names exists and is not later than the wait.
CheckOutcome WaitBeforeRecord(const RankView& view) {
  CheckOutcome outcome;
  const std::vector<uint32_t> waits = WaitsForRecords(view);
  if (waits.empty()) {
    return outcome;
  }
  const HashMap<int64_t, int64_t> records = EventRecordTimes(view);
  for (const uint32_t row : waits) {
    CheckStopAt(row);
    const HostId call = view.index.correlation.launch_of[row];
    const int64_t wait_ns =
        call.valid() ? view.trace.host().end_ns(call) : view.trace.device().end_ns(DeviceId{row});
    const auto record = records.find(RecordOf(view, row));
    if ((record == records.end() || record->second > wait_ns) && outcome.count++ == 0) {
      outcome.first = Describe(view, DeviceId{row});
    }
  }
  return outcome;
}

constexpr uint32_t kNoRow = std::numeric_limits<uint32_t>::max();

// For each device row the last kernel of its track up to and with it, or kNoRow.
std::vector<uint32_t> LastKernels(const RankView& view) {
  const Tracks& tracks = view.trace.tracks();
  const DeviceEvents& device = view.trace.device();
  std::vector<uint32_t> last(device.size(), kNoRow);
  for (const uint32_t row : EachRow(device.size())) {
    if (device.kind[row] == DeviceKind::kKernel) {
      last[row] = row;
    } else if (row > tracks.first_row[device.track[row].value]) {
      last[row] = last[row - 1];
    }
  }
  return last;
}

// Whether a kernel of the track runs over `ts_ns`. REQUIRES: a device track.
bool RunsAt(const RankView& view, const std::vector<uint32_t>& last_kernels, uint32_t track,
            int64_t ts_ns) {
  const Tracks& tracks = view.trace.tracks();
  const DeviceEvents& device = view.trace.device();
  const auto begin = device.ts_ns.begin() + tracks.first_row[track];
  const auto end = device.ts_ns.begin() + tracks.end_row[track];
  const auto next = std::lower_bound(begin, end, ts_ns);
  if (next == begin) {
    return false;
  }
  const uint32_t kernel = last_kernels[static_cast<size_t>(next - device.ts_ns.begin()) - 1];
  return kernel != kNoRow && device.end_ns(DeviceId{kernel}) > ts_ns;
}

// R3: a Stream Sync record of PyTorch's profiler begins when its stream has drained; those of other
// profilers begin with the call, while the kernel that is waited for still runs.
CheckOutcome SyncDuringKernel(const RankView& view) {
  if (view.trace.meta().format != TraceFormat::kKineto) {
    return NotApplicable();
  }
  const Tracks& tracks = view.trace.tracks();
  std::map<std::tuple<int64_t, int64_t, int64_t>, uint32_t> track_of;
  for (uint32_t i = 0; i < tracks.size(); ++i) {
    if (tracks.kind[i] == TrackKind::kDevice) {
      track_of[{tracks.pid[i], tracks.tid[i], tracks.process[i]}] = i;
    }
  }
  const std::vector<uint32_t> last_kernels = LastKernels(view);
  CheckOutcome outcome;
  const DeviceEvents& device = view.trace.device();
  for (const uint32_t row : EachRow(device.size())) {
    if (device.kind[row] != DeviceKind::kSync || device.detail[row] == kNoDetail ||
        view.trace.Name(DeviceId{row}) != "Stream Sync") {
      continue;
    }
    const int64_t stream = view.trace.syncs().stream[device.detail[row]];
    const auto track = track_of.find(
        {view.trace.DeviceOf(DeviceId{row}), stream, tracks.process[device.track[row].value]});
    if (track != track_of.end() && RunsAt(view, last_kernels, track->second, device.ts_ns[row]) &&
        outcome.count++ == 0) {
      outcome.first = Describe(view, DeviceId{row});
    }
  }
  return outcome;
}

// What critical-path and link leave out, since nothing waits for what ends after it.
CheckOutcome BackwardWait(const RankView& view) {
  const auto recorded = SyncsByRecordedTimes(view);
  const SyncEdges& syncs = recorded->syncs;
  const SyncEdge& first = syncs.first_backward;
  CheckOutcome outcome;
  outcome.count = static_cast<int64_t>(syncs.backward);
  if (first.source.valid()) {
    const std::string who = first.kind == SyncKind::kStreamWait ? Describe(view, first.target)
                                                                : Describe(view, first.call);
    outcome.first = fmt::format("{}, for {}", who, Describe(view, first.source));
  }
  return outcome;
}

bool HasCoreKeys(const Collectives& rows, uint32_t row) {
  return row != kNoDetail && rows.in_elems[row] != kMissing && rows.out_elems[row] != kMissing &&
         rows.group_size[row] != kMissing && rows.dtype[row].value != 0;
}

// R5: operators that record a collective say which one it is.
CheckOutcome CollectiveWithoutMetadata(const RankView& view) {
  const StringId name = view.trace.strings().Find("record_param_comms");
  const HostEvents& host = view.trace.host();
  return CountHostCases(view, [&](HostId id) {
    const uint32_t detail = host.detail[id.value];
    return name.valid() && host.name[id.value] == name && host.kind[id.value] == HostKind::kOp &&
           (detail == kNoDetail ||
            !HasCoreKeys(view.trace.collectives(), view.trace.ops().collective[detail]));
  });
}

// R6: one backward operator per sequence number (and forward thread).
CheckOutcome BackwardNameConflict(const RankView& view) {
  const HostEvents& host = view.trace.host();
  const Ops& ops = view.trace.ops();
  const std::vector<char> is_backward = BackwardNames(view.trace.strings());
  Grouper pairs(2);
  std::vector<StringId> names;  // of each pair, the first
  return CountHostCases(view, [&](HostId id) {
    const uint32_t detail = host.detail[id.value];
    if (host.kind[id.value] != HostKind::kOp || detail == kNoDetail ||
        is_backward[host.name[id.value].value] == 0 || ops.sequence[detail] == kMissing) {
      return false;
    }
    const int64_t pair[] = {ops.sequence[detail], ops.forward_thread[detail]};
    const uint32_t found = pairs.Find(pair);
    if (found == names.size()) {
      names.push_back(host.name[id.value]);
    }
    return names[found] != host.name[id.value];
  });
}

constexpr QualityCheck kLinkChecks[] = {
    {"device-before-launch", Severity::kWarning,
     "Device work starts before its launch: host and device clocks disagree, launch delays are "
     "wrong. Share of device time.",
     BeforeLaunch},
    {"inherited-work", Severity::kInfo,
     "The host was ahead of the device when the recording began, as it should be, so that this "
     "work has no recorded launch. It is left out of rates and of the lengths of steps; the tables "
     "inherited and inherited_work say what it is like. Share of device time.",
     LaunchedBefore},
    {"unlinked-device-event", Severity::kWarning,
     "Device work whose launch call is missing, although it was made in the recording; the work is "
     "counted, and has an operator only if its External id names one. Share of device time.",
     WithoutLaunch},
    {"untraced-copies", Severity::kWarning,
     "Copies that the host waited for, of which there is no record: the device may have been busy "
     "meanwhile. Share of the recording. To have their records",
     UntracedCopies,
     "record the device with ProfilerActivity.CUDA (also for ROCm); if that was on, the profiler "
     "lost them: record a shorter part.",
     MissingData::kCopies},
    {"untraced-launches", Severity::kWarning,
     "Launches or copies by calls of one name, of none of which any work was recorded, while other "
     "work was: the device may have been busy. To have their records",
     UntracedLaunches,
     "record the device with ProfilerActivity.CUDA (also for ROCm); if that was on, the profiler "
     "lost them: record a shorter part.",
     MissingData::kDeviceWork},
    {"no-operator", Severity::kInfo,
     "Device work launched outside any operator (CUDA graphs, custom code); listed as \"(no "
     "operator)\". Share of device time.",
     WithoutOperator},
    {"duplicate-correlation", Severity::kWarning,
     "Several calls, or kernels of several calls, carry one correlation number; device work goes "
     "to the innermost launch, or to the one that its name, thread, stream and operator show.",
     DuplicateCorrelation},
    {"ambiguous-launch", Severity::kWarning,
     "Device work that carries the correlation number of several launches, in an order that does "
     "not tell whose it is; it is counted, but has no launch and no operator. Share of device "
     "time.",
     AmbiguousLaunch},
    {"duplicate-external-id", Severity::kWarning,
     "Operators share one External id (a 32-bit counter that wraps in very long runs); links by "
     "nesting are not affected.",
     DuplicateExternalId},
    {"graph-launch", Severity::kInfo,
     "Launches of CUDA or HIP graphs that started several kernels: all of them count for the "
     "operator around the launch.",
     GraphLaunches},
    {"wait-without-record", Severity::kInfo,
     "Event waits that do not name the record they wait for (PyTorch before April 2026): critical "
     "paths cannot follow them.",
     WaitWithoutRecord},
    {"no-waits", Severity::kInfo,
     "Device work was launched, but no call that waits for it was recorded (…Synchronize, a "
     "blocking copy): time in which the host waits looks like work of the host, as in "
     "critical-path.",
     WithoutWaits},
    {"unresolved-wait", Severity::kWarning,
     "The host waited for a device or stream on which no work was recorded: what released it is "
     "not known, and its time may look like that of the host.",
     UnresolvedWait},
    {"sync-during-kernel", Severity::kWarning,
     "A Stream Sync record begins while a kernel of its stream runs: device times are "
     "inconsistent.",
     SyncDuringKernel},
    {"wait-before-record", Severity::kWarning,
     "Event waits whose record is missing or later than the wait; such edges are ignored.",
     WaitBeforeRecord},
    {"backward-wait", Severity::kWarning,
     "Calls or streams waited for work that ends after the wait: host and device clocks disagree, "
     "or the record of an event is lost. link leaves such waits out; critical-path corrects the "
     "clocks first (its table clock_skew).",
     BackwardWait},
    {"collective-metadata", Severity::kInfo,
     "Collectives without name, sizes, type and group (PyTorch before 2.2): no bandwidth can be "
     "given. Share of host events.",
     CollectiveWithoutMetadata},
    {"backward-name-conflict", Severity::kWarning,
     "Backward operators of different names share a sequence number: forward-backward links are "
     "doubtful. Share of host events.",
     BackwardNameConflict},
};

}  // namespace

std::span<const QualityCheck> LinkChecks() { return kLinkChecks; }

}  // namespace borescope::internal
