#include "borescope/store/trace_checks.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "borescope/base/each_row.h"
#include "borescope/base/parallel.h"
#include "borescope/base/stop.h"
#include "borescope/trace/columns.h"
#include "borescope/trace/recorded_cut.h"

namespace borescope::internal {

namespace {

// A call of which device work can be looked up.
bool IsLaunch(const Trace& trace, HostId id) {
  const HostKind kind = trace.host().kind[id.value];
  return (kind == HostKind::kRuntime || kind == HostKind::kOther) &&
         trace.host().detail[id.value] != kNoDetail;
}

// Whether the rule that linked device work is one that gives these links.
bool FitsRule(LinkRule rule, HostId launch, HostId op) {
  switch (rule) {
    case LinkRule::kLaunchNesting:
      return launch.valid() && op.valid();
    case LinkRule::kExternalId:
    case LinkRule::kCapture:
      return op.valid();
    case LinkRule::kLaunchOnly:
      return launch.valid() && !op.valid();
    case LinkRule::kNone:
    case LinkRule::kAmbiguous:
      return !launch.valid() && !op.valid();
  }
  return false;
}

// Whether the device rows of each call are those whose launch it is, in their order.
bool AreRowsOfLaunches(const Trace& trace, const Correlation& links) {
  const auto has_launch = [](HostId launch) { return launch.valid(); };
  const auto launched = std::count_if(links.launch_of.begin(), links.launch_of.end(), has_launch);
  if (links.device_rows.size() != static_cast<size_t>(launched)) {
    return false;
  }
  for (uint32_t call = 0; call + 1 < links.device_begin.size(); ++call) {
    CheckStopAt(call);
    for (uint32_t i = links.device_begin[call]; i < links.device_begin[call + 1]; ++i) {
      const uint32_t row = links.device_rows[i].value;
      const HostId launch = links.launch_of[row];
      const bool is_in_order =
          i == links.device_begin[call] || links.device_rows[i - 1].value < row;
      if (!launch.valid() || trace.host().detail[launch.value] != call || !is_in_order) {
        return false;
      }
    }
  }
  return true;
}

bool ArePieces(const std::vector<Steps::Piece>& pieces, size_t steps) {
  return std::is_sorted(pieces.begin(), pieces.end(),
                        [](const Steps::Piece& a, const Steps::Piece& b) {
                          return a.begin_ns < b.begin_ns;
                        }) &&
         std::all_of(pieces.begin(), pieces.end(), [steps](const Steps::Piece& piece) {
           // A piece may begin where a step ends.
           return piece.begin_ns >= -kMostNs && piece.begin_ns <= 2 * kMostNs &&
                  (piece.step < steps || piece.step == kNoStep);
         });
}

bool AreSteps(const Trace& trace, const Steps& steps) {
  int64_t last_ns = 0;
  for (size_t i = 0; i < steps.steps.size(); ++i) {
    const Step& step = steps.steps[i];
    if (step.annotation.value >= trace.host().size() || step.process >= steps.processes.size() ||
        !IsEnd(step.end_ns, step.begin_ns) || (i > 0 && step.begin_ns < last_ns)) {
      return false;
    }
    last_ns = step.begin_ns;
  }
  return true;
}

}  // namespace

bool HasRowsOf(const Trace& trace, const TraceIndex& index) {
  const size_t host = trace.host().size();
  const size_t device = trace.device().size();
  const Correlation& links = index.correlation;
  const ColumnData<uint32_t>& step = index.steps.device_step;
  return index.tree.parent.size() == host && index.tree.subtree_end.size() == host &&
         links.launch_of.size() == device && links.op_of.size() == device &&
         links.rule.size() == device &&
         links.device_begin.size() == trace.runtime_calls().size() + 1 &&
         step.size() == (index.steps.steps.empty() ? 0 : device) &&
         index.class_of_name.size() == trace.strings().size();
}

// The end of an event's descendants lies within that of the event around it, on one thread.
std::string_view CallTreeFault(const Trace& trace, const TraceIndex& index) {
  const CallTree& tree = index.tree;
  const HostEvents& host = trace.host();
  for (const uint32_t row : EachRow(host.size())) {
    const uint32_t end = tree.subtree_end[row];
    const HostId parent = tree.parent[row];
    if (end <= row || end > trace.tracks().end_row[host.track[row].value]) {
      return "the end of a call";
    }
    if (parent.valid() && (parent.value >= row || row >= tree.subtree_end[parent.value] ||
                           end > tree.subtree_end[parent.value])) {
      return "the event around a call";
    }
  }
  return "";
}

std::string_view CorrelationFault(const Trace& trace, const TraceIndex& index) {
  const Correlation& links = index.correlation;
  const size_t host = trace.host().size();
  if (!AreBelowOrNone(links.launch_of, host) || !AreBelowOrNone(links.op_of, host)) {
    return "the launch or operator of device work";
  }
  for (const uint32_t row : EachRow(links.launch_of.size())) {
    const HostId launch = links.launch_of[row];
    if ((launch.valid() && !IsLaunch(trace, launch)) ||
        !FitsRule(links.rule[row], launch, links.op_of[row])) {
      return "the link of device work";
    }
  }
  if (links.device_begin.front() != 0 || links.device_begin.back() != links.device_rows.size() ||
      !IsAscending(links.device_begin) || !AreBelow(links.device_rows, trace.device().size()) ||
      !AreRowsOfLaunches(trace, links)) {
    return "the work of a launch";
  }
  return "";
}

std::string_view StepsFault(const Trace& trace, const TraceIndex& index) {
  const Steps& steps = index.steps;
  if (!AreSteps(trace, steps) || !AreBelowOrNone(steps.device_step, steps.steps.size())) {
    return "a step";
  }
  const bool has_steps = !steps.steps.empty();
  const bool are_known =
      std::all_of(steps.process_of.begin(), steps.process_of.end(), [&](uint32_t process) {
        return process < steps.processes.size() || process == kNoProcess || process == kAnyProcess;
      });
  if (!are_known || steps.pieces.size() != (has_steps ? steps.processes.size() + 1 : 0) ||
      steps.process_of.size() != (has_steps ? trace.tracks().size() : 0) ||
      !std::is_sorted(steps.processes.begin(), steps.processes.end())) {
    return "the process of a step";
  }
  return std::all_of(steps.pieces.begin(), steps.pieces.end(),
                     [&](const auto& pieces) { return ArePieces(pieces, steps.steps.size()); })
             ? ""
             : "a piece of a step";
}

std::string_view NamesFault(const Trace& trace, const TraceIndex& index) {
  const size_t host = trace.host().size();
  for (size_t i = 0; i < index.forward_backward.size(); ++i) {
    const ForwardBackwardLink& link = index.forward_backward[i];
    if (link.backward.value >= host || link.forward.value >= host ||
        (i > 0 && link.backward < index.forward_backward[i - 1].backward)) {
      return "a link from forward to backward";
    }
  }
  return std::all_of(index.class_of_name.begin(), index.class_of_name.end(),
                     [](KernelClass kind) { return kind < KernelClass::kCount; })
             ? ""
             : "the class of a kernel";
}

namespace {

// Columns of one length, but for positions, which may be absent.
template <class Table>
bool IsEven(const Table& table) {
  bool is_even = table.size() < std::numeric_limits<uint32_t>::max();
  ForEachColumn([&](const auto& column) { is_even = is_even && column.size() == table.size(); },
                table);
  return is_even;
}
template <class Spine>
bool IsEvenSpine(const Spine& spine) {
  bool is_even = spine.size() < std::numeric_limits<uint32_t>::max();
  ForEachColumn(
      [&](const auto& column) {
        const bool is_position = static_cast<const void*>(&column) == &spine.position;
        is_even = is_even && (column.size() == spine.size() || (is_position && column.empty()));
      },
      spine);
  return is_even;
}
bool IsEven(const HostEvents& host) { return IsEvenSpine(host); }
bool IsEven(const DeviceEvents& device) { return IsEvenSpine(device); }

// Texts and tracks of all rows exist.
class IdsExist {
 public:
  explicit IdsExist(const Trace& trace)
      : strings_(trace.strings().size()), tracks_(trace.tracks().size()) {}

  bool operator()(const ColumnData<StringId>& column) const { return AreBelow(column, strings_); }
  bool operator()(const ColumnData<TrackId>& column) const { return AreBelow(column, tracks_); }
  template <class T>
  bool operator()(const ColumnData<T>&) const {
    return true;
  }

 private:
  size_t strings_;
  size_t tracks_;
};

// The tracks of each kind share its spine, one slice after the other.
std::string_view TrackFault(const Trace& trace) {
  const Tracks& tracks = trace.tracks();
  uint32_t next[2] = {0, 0};
  for (uint32_t track = 0; track < tracks.size(); ++track) {
    if (tracks.kind[track] > TrackKind::kDevice) {
      return "a kind of track";
    }
    uint32_t& begin = next[static_cast<size_t>(tracks.kind[track])];
    if (tracks.first_row[track] != begin || tracks.end_row[track] < begin) {
      return "the rows of a track";
    }
    begin = tracks.end_row[track];
  }
  return next[0] == trace.host().size() && next[1] == trace.device().size() ? ""
                                                                            : "the rows of tracks";
}

// Every row lies in the slice of its track, in the order of the spine; times that do not overflow.
template <class Spine>
std::string_view SpineFault(const Trace& trace, const Spine& spine) {
  const Tracks& tracks = trace.tracks();
  for (const uint32_t row : EachRow(spine.size())) {
    const uint32_t track = spine.track[row].value;
    const bool is_there =
        (tracks.kind[track] == TrackKind::kHost) == std::is_same_v<Spine, HostEvents> &&
        row >= tracks.first_row[track] && row < tracks.end_row[track];
    if (!is_there) {
      return "the track of an event";
    }
    const int64_t dur_ns = spine.dur_ns[row];
    if (!IsTime(spine.ts_ns[row]) || spine.ts_ns[row] < trace.begin_ns() || dur_ns < 0 ||
        dur_ns > kMostNs) {
      return "the time of an event";
    }
    const bool is_first = row == tracks.first_row[track];
    if (!is_first &&
        (spine.ts_ns[row - 1] > spine.ts_ns[row] ||
         (spine.ts_ns[row - 1] == spine.ts_ns[row] && spine.dur_ns[row - 1] < dur_ns))) {
      return "the order of events";
    }
  }
  return "";
}

std::string_view HostDetailFault(const Trace& trace) {
  const HostEvents& host = trace.host();
  const auto ops = static_cast<uint32_t>(trace.ops().size());
  const auto calls = static_cast<uint32_t>(trace.runtime_calls().size());
  // By kind: python, annotation, op, runtime, other.
  const uint32_t rows[] = {0, ops, ops, calls, calls};
  for (const uint32_t row : EachRow(host.size())) {
    const uint32_t detail = host.detail[row];
    if (detail != kNoDetail && detail >= rows[static_cast<size_t>(host.kind[row])]) {
      return "the detail of a host event";
    }
  }
  return "";
}

std::string_view DeviceDetailFault(const Trace& trace) {
  const DeviceEvents& device = trace.device();
  const auto copies = static_cast<uint32_t>(trace.copies().size());
  // By kind: kernel, memcpy, memset, sync, annotation, range, other.
  const uint32_t rows[] = {static_cast<uint32_t>(trace.kernels().size()),
                           copies,
                           copies,
                           static_cast<uint32_t>(trace.syncs().size()),
                           0,
                           static_cast<uint32_t>(trace.ranges().size()),
                           0};
  for (const uint32_t row : EachRow(device.size())) {
    const uint32_t detail = device.detail[row];
    if (detail != kNoDetail && detail >= rows[static_cast<size_t>(device.kind[row])]) {
      return "the detail of a device event";
    }
  }
  return "";
}

// Details that refer to each other.
std::string_view DetailFault(const Trace& trace) {
  const size_t collectives = trace.collectives().size();
  if (!AreBelowOrNone(trace.ops().collective, collectives) ||
      !AreBelowOrNone(trace.kernels().collective, collectives)) {
    return "a collective";
  }
  if (!AreBelowOrNone(trace.ops().triton, trace.triton().size())) {
    return "a Triton launch";
  }
  if (!AreBelowOrNone(trace.copies().call, trace.copy_calls().size())) {
    return "the call of a copy";
  }
  const ProfilerRanges& ranges = trace.ranges();
  for (uint32_t row = 0; row < ranges.size(); ++row) {
    if (ranges.first_metric[row] > ranges.end_metric[row] ||
        ranges.end_metric[row] > trace.metrics().size()) {
      return "the counters of a range";
    }
  }
  return "";
}

std::string_view StackFault(const Trace& trace) {
  const StackFrames& frames = trace.stack_frames();
  for (const uint32_t row : EachRow(frames.size())) {
    if (frames.parent[row] != kNoDetail && frames.parent[row] >= row) {
      return "the frame around a frame";
    }
  }
  const CallStacks& stacks = trace.call_stacks();
  if (!AreBelowOrNone(trace.stack_samples().frame, frames.size()) ||
      !AreBelow(stacks.frame, frames.size())) {
    return "the frame of a stack";
  }
  if (!AreBelow(stacks.call, trace.runtime_calls().size()) ||
      !std::is_sorted(stacks.call.begin(), stacks.call.end())) {
    return "the call of a stack";
  }
  return "";
}

// Rows of a track by time.
template <class Rows>
bool IsByThread(const Rows& rows) {
  for (const size_t row : EachIndex(rows.size())) {
    if (!IsTime(rows.ts_ns[row]) ||
        (row > 0 && std::pair(rows.track[row - 1].value, rows.ts_ns[row - 1]) >
                        std::pair(rows.track[row].value, rows.ts_ns[row]))) {
      return false;
    }
  }
  return true;
}

std::string_view SampleFault(const Trace& trace) {
  const MemoryEvents& memory = trace.memory();
  for (const size_t row : EachIndex(memory.size())) {
    if (memory.category[row] > MemoryCategory::kNone ||
        !(memory.ts_ns[row] == kMissing || IsTime(memory.ts_ns[row])) ||
        (row > 0 && memory.ts_ns[row] < memory.ts_ns[row - 1])) {
      return "an event of memory";
    }
  }
  const Pauses& pauses = trace.pauses();
  for (size_t row = 0; row < pauses.size(); ++row) {
    if (!IsTime(pauses.end_ns[row]) || pauses.end_ns[row] < pauses.ts_ns[row]) {
      return "the end of a pause";
    }
  }
  const auto are_times = [](const ColumnData<int64_t>& times) {
    return std::all_of(times.begin(), times.end(), IsTime);
  };
  if (!are_times(trace.flows().ts_ns) || !are_times(trace.samples().ts_ns) ||
      !are_times(trace.samples().end_ns)) {
    return "the time of a sample";
  }
  return IsByThread(pauses) && IsByThread(trace.stack_samples()) ? "" : "the order of samples";
}

// Of the file as a whole.
std::string_view MetaFault(const Trace& trace) {
  const Meta& meta = trace.meta();
  if (meta.format >= TraceFormat::kCount || meta.vendor > Vendor::kMeta) {
    return "the format of the file";
  }
  if (!IsTime(trace.begin_ns()) || trace.end_ns() < trace.begin_ns() ||
      trace.end_ns() > 2 * kMostNs - 1 || (meta.cut.has_value() && !IsSane(*meta.cut))) {
    return "the time of the recording";
  }
  const bool known = std::all_of(
      trace.event_counts().begin(), trace.event_counts().end(),
      [&](const EventCount& count) { return count.category.value < trace.strings().size(); });
  return known ? "" : "a category";
}

using Check = std::function<std::string_view()>;

// What all other checks, which run side by side, rely on: they read rows of one table by the number
// of one of its columns, those of tracks and texts by their ids, and lists of tables by kinds.
std::string_view ShapeFault(const Trace& trace, const TraceData& data) {
  bool is_even = true;
  bool has_ids = true;
  const IdsExist ids(trace);
  ForEachTable(data, [&](const auto& table) {
    is_even = is_even && IsEven(table);
    ForEachColumn([&](const auto& column) { has_ids = has_ids && ids(column); }, table);
  });
  if (!is_even || !has_ids) {
    return is_even ? "a text or track" : "the length of a column";
  }
  const bool has_kinds = AreKinds(trace.host().kind, HostKind::kOther) &&
                         AreKinds(trace.device().kind, DeviceKind::kOther);
  return has_kinds ? TrackFault(trace) : "the kind of an event";
}

}  // namespace

std::optional<std::string> FaultOfTrace(const Trace& trace, const TraceIndex& index, int threads) {
  std::string_view shape = ShapeFault(trace, trace.data());
  if (shape.empty() && (trace.host().captured != 0 || !trace.captured().empty())) {
    shape = "captured calls";
  }
  if (shape.empty() && !HasRowsOf(trace, index)) {
    shape = "the length of an index";
  }
  if (!shape.empty()) {
    return std::string(shape);
  }
  // The most work first.
  const std::vector<Check> checks = {[&] { return CallTreeFault(trace, index); },
                                     [&] { return SpineFault(trace, trace.host()); },
                                     [&] { return HostDetailFault(trace); },
                                     [&] { return SpineFault(trace, trace.device()); },
                                     [&] { return CorrelationFault(trace, index); },
                                     [&] { return DeviceDetailFault(trace); },
                                     [&] { return DetailFault(trace); },
                                     [&] { return StackFault(trace); },
                                     [&] { return SampleFault(trace); },
                                     [&] { return StepsFault(trace, index); },
                                     [&] { return NamesFault(trace, index); },
                                     [&] { return MetaFault(trace); }};
  std::vector<std::string_view> faults(checks.size());
  ParallelFor(checks.size(), threads, [&](size_t i) { faults[i] = checks[i](); });
  const auto found = std::find_if(faults.begin(), faults.end(),
                                  [](std::string_view fault) { return !fault.empty(); });
  return found == faults.end() ? std::nullopt : std::optional(std::string(*found));
}

}  // namespace borescope::internal
