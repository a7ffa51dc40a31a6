#include "borescope/query/relations/relation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>
#include <variant>

#include "borescope/base/check.h"
#include "borescope/query/database.h"
#include "borescope/query/functions.h"
#include "borescope/query/relations/cells.h"

namespace borescope::internal::query {
namespace {

using Rows = const RankRows&;

std::vector<uint32_t> RangesOfMetrics(const Trace& trace) {
  std::vector<uint32_t> ranges(trace.metrics().size(), kNoDetail);
  const DeviceEvents& device = trace.device();
  for (uint32_t row = 0; row < device.size(); ++row) {
    const uint32_t detail = device.detail[row];
    if (device.kind[row] != DeviceKind::kRange || detail == kNoDetail) {
      continue;
    }
    for (uint32_t metric = trace.ranges().first_metric[detail];
         metric < trace.ranges().end_metric[detail]; ++metric) {
      ranges[metric] = row;
    }
  }
  return ranges;
}

std::vector<Relation> AllRelations() {
  std::vector<Relation> all;
  for (const auto part : {HostRelations(), DeviceRelations(), EventRelations(), DetailRelations(),
                          ThreadRelations(), RunRelations(), JobRelations()}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

}  // namespace

RankRows::RankRows(const RankData& rank)
    : data(rank), trace(rank.trace), index(rank.index), range_of_metric(RangesOfMetrics(trace)) {}

std::string_view TypeName(RelationType type) {
  constexpr std::string_view kNames[] = {"INTEGER", "REAL", "TEXT"};
  return kNames[static_cast<size_t>(type)];
}

std::span<const Relation> Relations() {
  static const std::vector<Relation> all = AllRelations();
  return all;
}

bool KernelCounters::Add(const Kernel& kernel) {
  const uint64_t end = uint64_t{size()} + kernel.values.size();
  if (end >= kNoDetail) {
    return false;
  }
  kernels.push_back(kernel);
  ends.push_back(static_cast<uint32_t>(end));
  return true;
}

// Tables of analyses.
namespace {

Cell CellOf(const Column& column, uint32_t row) {
  if (column.IsMissing(row)) {
    return Null();
  }
  return std::visit(
      [row](const auto& values) {
        using Values = std::decay_t<decltype(values)>;
        if constexpr (std::is_same_v<Values, FloatValues>) {
          return Real(values[row]);
        } else if constexpr (std::is_same_v<Values, StringValues>) {
          return Text(values[row]);
        } else {
          return Int(values[row]);
        }
      },
      column.values);
}

RelationType TypeOf(const Column& column) {
  return std::holds_alternative<FloatValues>(column.values)    ? kReal
         : std::holds_alternative<StringValues>(column.values) ? kText
                                                               : kInteger;
}

// Functions of relations know no more than a row: each place has its own.
template <size_t kTable>
size_t RowsOfTable(Rows rank) {
  return kTable < rank.data.tables.size() ? rank.data.tables[kTable].rows() : 0;
}
template <size_t kTable, size_t kColumn>
Cell CellAt(Rows rank, uint32_t row) {
  return CellOf(rank.data.tables[kTable].columns[kColumn], row);
}

using SizeFunction = size_t (*)(Rows);
using CellFunction = Cell (*)(Rows, uint32_t);

template <size_t kTable, size_t... kColumns>
constexpr std::array<CellFunction, sizeof...(kColumns)> CellsOf(
    std::index_sequence<kColumns...> /*columns*/) {
  return {CellAt<kTable, kColumns>...};
}
template <size_t... kTables>
constexpr auto AllCells(std::index_sequence<kTables...> /*tables*/) {
  return std::array{CellsOf<kTables>(std::make_index_sequence<kMostTableColumns>())...};
}
template <size_t... kTables>
constexpr auto AllSizes(std::index_sequence<kTables...> /*tables*/) {
  return std::array<SizeFunction, sizeof...(kTables)>{RowsOfTable<kTables>...};
}
constexpr auto kCells = AllCells(std::make_index_sequence<kMostTables>());
constexpr auto kSizes = AllSizes(std::make_index_sequence<kMostTables>());

}  // namespace

RelationList::RelationList(std::span<const Table> tables)
    : all_(Relations().begin(), Relations().end()) {
  BS_CHECK(tables.size() <= kMostTables);
  columns_.reserve(tables.size());  // relations refer to them
  for (size_t i = 0; i < tables.size(); ++i) {
    const std::vector<Column>& made = tables[i].columns;
    BS_CHECK(!made.empty() && made.size() <= kMostTableColumns);
    std::vector<ColumnSpec>& columns = columns_.emplace_back();
    for (size_t column = 0; column < made.size(); ++column) {
      columns.push_back({made[column].name, TypeOf(made[column]),
                         column == kRankColumn ? kFew : kMany, made[column].doc,
                         kCells[i][column]});
    }
    all_.push_back({tables[i].name, tables[i].title, kSizes[i], nullptr, columns,
                    /*has_ids=*/false});
  }
}

// What a run consists of: ranks, tracks, strings, devices, and diagnostics of its files.
namespace {

Cell Optional(const std::optional<int64_t>& value) {
  return value.has_value() ? Int(*value) : Null();
}

// ---- tracks ----

bool IsHostTrack(Rows r, uint32_t row) { return r.trace.tracks().kind[row] == TrackKind::kHost; }

// A number of a track that only host tracks, or only device tracks, have.
template <auto kMember, bool kOfHost>
Cell TrackInt(Rows r, uint32_t row) {
  return IsHostTrack(r, row) == kOfHost ? Int((r.trace.tracks().*kMember)[row]) : Null();
}

constexpr ColumnSpec kTracks[] = {
    kRank,
    IdSpec("Named by track_id of the events."),
    {"kind", kText, kFew, "host or device.",
     [](Rows r, uint32_t row) { return Text(IsHostTrack(r, row) ? "host" : "device"); }},
    {"pid", kInteger, kFew, "Process of a thread.", TrackInt<&Tracks::pid, true>},
    {"tid", kInteger, kFew, "Thread.", TrackInt<&Tracks::tid, true>},
    {"gpu", kInteger, kFew, "Device of a stream.", TrackInt<&Tracks::pid, false>},
    {"stream", kInteger, kFew, "Stream.", TrackInt<&Tracks::tid, false>},
    {"process", kInteger, kFew, "Process of a stream, in files of several processes.",
     TrackInt<&Tracks::process, false>},
    {"is_async", kInteger, kFew,
     "1: ranges of a thread that start and end anywhere, beside its other events.",
     [](Rows r, uint32_t row) { return Int(r.trace.tracks().is_async[row]); }},
    {"name", kText, kMany, "Name of the thread or stream, where recorded.",
     [](Rows r, uint32_t row) { return PooledOrNull(r.trace.tracks().name[row]); }},
    {"events", kInteger, kMany, "Number of its events.", [](Rows r, uint32_t row) {
       return Int(r.trace.tracks().end_row[row] - r.trace.tracks().first_row[row]);
     }}};

// ---- strings ----

constexpr ColumnSpec kStrings[] = {
    kRank,
    IdSpec("Named by name_id of the events; of this rank only."),
    {"text", kText, kMany, "The text.", [](Rows, uint32_t row) { return Pooled(StringId{row}); }}};

// ---- devices ----

const DeviceInfo& DeviceAt(Rows r, uint32_t row) { return r.trace.meta().devices[row]; }

template <auto kMember>
Cell DeviceInt(Rows r, uint32_t row) {
  return Int(DeviceAt(r, row).*kMember);
}

constexpr ColumnSpec kDevices[] = {
    kRank,
    IdSpec("Row number: as recorded."),
    {"device", kInteger, kFew, "Device number as recorded.", DeviceInt<&DeviceInfo::id>},
    {"name", kText, kFew, "Name of the device.",
     [](Rows r, uint32_t row) { return TextOrNull(DeviceAt(r, row).name); }},
    {"total_bytes", kInteger, kFew, "Its memory.", DeviceInt<&DeviceInfo::total_bytes>},
    {"multiprocessors", kInteger, kFew, "SMs or compute units.",
     DeviceInt<&DeviceInfo::multiprocessors>},
    {"compute_major", kInteger, kFew, "Compute capability, major.",
     DeviceInt<&DeviceInfo::compute_major>},
    {"compute_minor", kInteger, kFew, "Compute capability, minor.",
     DeviceInt<&DeviceInfo::compute_minor>},
    {"warp_size", kInteger, kFew, "Threads of a warp or wavefront.",
     DeviceInt<&DeviceInfo::warp_size>},
    {"max_threads_per_multiprocessor", kInteger, kFew, "Resident threads at most.",
     DeviceInt<&DeviceInfo::max_threads_per_multiprocessor>}};

// ---- diagnostics ----

const DiagRow& DiagAt(uint32_t row) { return GetDiagRow(static_cast<Diag>(row)); }

const Diagnostics::Entry& EntryAt(Rows r, uint32_t row) {
  return r.data.diagnostics.Get(static_cast<Diag>(row));
}

constexpr ColumnSpec kDiagnostics[] = {
    kRank,
    IdSpec("Number of the kind."),
    {"code", kText, kFew, "Kind of oddity.",
     [](Rows, uint32_t row) { return Text(DiagAt(row).code); }},
    {"severity", kText, kFew, "info, warning or error.",
     [](Rows, uint32_t row) { return Text(SeverityName(DiagAt(row).severity)); }},
    {"count", kInteger, kMany, "How many cases.",
     [](Rows r, uint32_t row) { return Int(static_cast<int64_t>(EntryAt(r, row).count)); }},
    {"first_byte", kInteger, kMany, "Place of the first case in the inflated text.",
     [](Rows r, uint32_t row) {
       const uint64_t byte = EntryAt(r, row).first_byte;
       return byte == Diagnostics::kNoByte ? Null() : Int(static_cast<int64_t>(byte));
     }},
    {"first", kText, kMany, "Description of the first case.",
     [](Rows r, uint32_t row) { return TextOrNull(EntryAt(r, row).first); }},
    {"help", kText, kFew, "What it means.",
     [](Rows, uint32_t row) { return Text(DiagAt(row).help); }}};

// ---- ranks ----

constexpr ColumnSpec kRanks[] = {
    kRank,
    IdSpec("Always 0."),
    {"file", kText, kKey, "File as named.", [](Rows r, uint32_t) { return Text(r.data.file); }},
    {"format", kText, kFew, "Its format; NULL for ranks of which there is no profile.",
     [](Rows r, uint32_t) {
       return r.data.has_trace ? TextOrNull(FormatName(r.trace.meta().format)) : Null();
     }},
    {"producer", kText, kFew, "What wrote it.",
     [](Rows r, uint32_t) { return TextOrNull(r.trace.meta().producer); }},
    {"world_size", kInteger, kFew, "Ranks of the job, where recorded.",
     [](Rows r, uint32_t) { return Optional(r.trace.meta().world_size); }},
    {"base_ns", kInteger, kMany, "Unix time of ts_ns = 0, where recorded.",
     [](Rows r, uint32_t) { return Optional(r.trace.meta().base_ns); }},
    {"begin_ns", kInteger, kMany, "First start of an event.",
     [](Rows r, uint32_t) { return r.data.has_trace ? Int(r.trace.begin_ns()) : Null(); }},
    {"end_ns", kInteger, kMany, "Last end of an event.",
     [](Rows r, uint32_t) { return r.data.has_trace ? Int(r.trace.end_ns()) : Null(); }}};

constexpr Relation kRunRelations[] = {
    {"tracks", "Threads and device streams.", [](Rows r) { return r.trace.tracks().size(); },
     nullptr, kTracks},
    {"strings", "Every distinct text.",
     [](Rows r) { return r.data.has_trace ? r.trace.strings().size() : 0; }, nullptr, kStrings},
    {"devices", "Devices the process could see.",
     [](Rows r) { return r.trace.meta().devices.size(); }, nullptr, kDevices},
    {"diagnostics", "What was odd, repaired or dropped.",
     [](Rows) { return static_cast<size_t>(Diag::kCount); },
     [](Rows r, uint32_t row) { return EntryAt(r, row).count != 0; }, kDiagnostics},
    {"ranks", "The loaded ranks and their files.",
     [](Rows r) { return r.data.has_trace || r.data.rank != kMissing ? size_t{1} : size_t{0}; },
     nullptr, kRanks},
};

}  // namespace

std::span<const Relation> RunRelations() { return kRunRelations; }

// What profilers of whole processes record about threads besides their calls: when they had no
// processor, and the stacks in which they were sampled or made calls.
namespace {

// The columns that identify the thread of a row.
template <auto kTable, auto kMember>
constexpr ColumnSpec kPidOf = {"pid", kInteger, kFew, "Process.", [](Rows r, uint32_t row) {
                                 const TrackId track = ((r.trace.*kTable)().*kMember)[row];
                                 return Int(r.trace.tracks().pid[track.value]);
                               }};
template <auto kTable, auto kMember>
constexpr ColumnSpec kTidOf = {"tid", kInteger, kFew, "Thread.", [](Rows r, uint32_t row) {
                                 const TrackId track = ((r.trace.*kTable)().*kMember)[row];
                                 return Int(r.trace.tracks().tid[track.value]);
                               }};
template <auto kTable, auto kMember>
constexpr ColumnSpec kTrackOf = {
    "track_id", kInteger, kFew, "Its line in tracks.",
    [](Rows r, uint32_t row) { return RowId(((r.trace.*kTable)().*kMember)[row].value); }};

constexpr ColumnSpec kPauses[] = {
    kRank,
    IdSpec("Row number: by thread, then by start."),
    {"ts_ns", kInteger, kMany, "The thread loses its processor.",
     Get<&Trace::pauses, &Pauses::ts_ns, Int>},
    {"end_ns", kInteger, kMany, "It gets one.", Get<&Trace::pauses, &Pauses::end_ns, Int>},
    kPidOf<&Trace::pauses, &Pauses::track>,
    kTidOf<&Trace::pauses, &Pauses::track>,
    kTrackOf<&Trace::pauses, &Pauses::track>};

constexpr ColumnSpec kStackSamples[] = {
    kRank,
    IdSpec("Row number: by thread, then by time."),
    {"ts_ns", kInteger, kMany, "When the thread was sampled.",
     Get<&Trace::stack_samples, &StackSamples::ts_ns, Int>},
    kPidOf<&Trace::stack_samples, &StackSamples::track>,
    kTidOf<&Trace::stack_samples, &StackSamples::track>,
    kTrackOf<&Trace::stack_samples, &StackSamples::track>,
    {"frame_id", kInteger, kKey, "The innermost frame, in stack_frames.",
     Get<&Trace::stack_samples, &StackSamples::frame, RowId>}};

constexpr ColumnSpec kStackFrames[] = {
    kRank,
    IdSpec("What frame_id refers to: a path of functions, of which this is the innermost."),
    {"name", kText, kMany, "The function; its file in brackets where its name is not known.",
     Get<&Trace::stack_frames, &StackFrames::name, Pooled>},
    {"parent_id", kInteger, kKey, "The frame that called it, a smaller id.",
     Get<&Trace::stack_frames, &StackFrames::parent, RowId>}};

constexpr Relation kThreadRelations[] = {
    {"pauses", "Time in which threads had no processor.", SizeOf<&Trace::pauses>, nullptr, kPauses},
    {"stack_samples", "Where threads were when they were sampled.", SizeOf<&Trace::stack_samples>,
     nullptr, kStackSamples},
    {"stack_frames", "The stacks of samples and calls, as a tree.", SizeOf<&Trace::stack_frames>,
     nullptr, kStackFrames},
};

}  // namespace

std::span<const Relation> ThreadRelations() { return kThreadRelations; }

// What is recorded besides events: collectives, allocations, counters, samples; and what is
// derived: steps, forward-backward links.
namespace {

// ---- collectives ----

template <auto kMember>
constexpr auto kCollectiveText = Get<&Trace::collectives, kMember, PooledOrNull>;
template <auto kMember>
constexpr auto kCollectiveInt = Get<&Trace::collectives, kMember, Int>;

constexpr ColumnSpec kCollectives[] = {
    kRank,
    IdSpec("Named by collective_id of ops and kernels."),
    {"collective", kText, kFew, "Operation: allreduce, ….",
     kCollectiveText<&Collectives::collective>},
    {"dtype", kText, kFew, "Element type.", kCollectiveText<&Collectives::dtype>},
    {"group_name", kText, kFew, "Process group.", kCollectiveText<&Collectives::group>},
    {"group_desc", kText, kFew, "Its description.", kCollectiveText<&Collectives::group_desc>},
    {"ranks", kText, kFew, "Its ranks as recorded.", kCollectiveText<&Collectives::ranks>},
    {"in_elems", kInteger, kMany, "Elements in.", kCollectiveInt<&Collectives::in_elems>},
    {"out_elems", kInteger, kMany, "Elements out.", kCollectiveInt<&Collectives::out_elems>},
    {"group_size", kInteger, kFew, "Ranks of the group.", kCollectiveInt<&Collectives::group_size>},
    {"sequence", kInteger, kKey, "Sequence number within the group.",
     kCollectiveInt<&Collectives::sequence>}};

// ---- memory_events ----

int64_t TrackNumber(const ColumnData<int64_t>& numbers, TrackId track) {
  return track.valid() ? numbers[track.value] : kMissing;
}

Cell CategoryOf(Rows r, uint32_t row) {
  constexpr std::string_view kNames[] = {"parameter",       "optimizer state", "input",
                                         "temporary",       "activation",      "gradient",
                                         "autograd detail", "unknown",         ""};
  return TextOrNull(kNames[static_cast<size_t>(r.trace.memory().category[row])]);
}

template <auto kMember>
constexpr auto kMemoryInt = Get<&Trace::memory, kMember, Int>;

constexpr ColumnSpec kMemory[] = {
    kRank,
    IdSpec("Row number: by time."),
    {"ts_ns", kInteger, kMany, "Time; NULL: allocated before the recording began.",
     kMemoryInt<&MemoryEvents::ts_ns>},
    {"pid", kInteger, kFew, "Process.",
     [](Rows r, uint32_t row) {
       return Int(TrackNumber(r.trace.tracks().pid, r.trace.memory().track[row]));
     }},
    {"tid", kInteger, kFew, "Thread.",
     [](Rows r, uint32_t row) {
       return Int(TrackNumber(r.trace.tracks().tid, r.trace.memory().track[row]));
     }},
    {"device_type", kInteger, kFew, "0 CPU, 1 CUDA, 6 HIP, ….",
     Get<&Trace::memory, &MemoryEvents::device_type, Positive>},
    {"device", kInteger, kFew, "Device number.",
     Get<&Trace::memory, &MemoryEvents::device, Positive>},
    {"address", kInteger, kKey, "Address, as a signed number; printf('%x', address) shows it.",
     [](Rows r, uint32_t row) { return Int(static_cast<int64_t>(r.trace.memory().address[row])); }},
    {"bytes", kInteger, kMany, "Bytes allocated; negative: freed.",
     kMemoryInt<&MemoryEvents::bytes>},
    {"category", kText, kFew, "What the memory holds, where recorded.", CategoryOf},
    {"total_allocated_bytes", kInteger, kMany, "Allocated on the device afterwards.",
     kMemoryInt<&MemoryEvents::total_allocated>},
    {"total_reserved_bytes", kInteger, kMany, "Reserved by the allocator afterwards.",
     kMemoryInt<&MemoryEvents::total_reserved>}};

// ---- counters ----

// Those that the trace itself has, then those of reports; a trace that has some uses no report.
size_t SizeOfCounters(Rows r) {
  return r.trace.metrics().size() + (r.data.counters == nullptr ? 0 : r.data.counters->size());
}

// A row beyond those of the trace.
struct CounterOfReport {
  const KernelCounters::Kernel& kernel;
  const KernelCounters::Value& value;
};
CounterOfReport OfReport(Rows r, uint32_t row) {
  const auto at = static_cast<uint32_t>(row - r.trace.metrics().size());
  const std::vector<uint32_t>& ends = r.data.counters->ends;
  const auto end = std::upper_bound(ends.begin(), ends.end(), at);
  const KernelCounters::Kernel& kernel =
      r.data.counters->kernels[static_cast<size_t>(end - ends.begin())];
  return {kernel, kernel.values[kernel.values.size() - (*end - at)]};
}
bool IsRecorded(Rows r, uint32_t row) { return row < r.trace.metrics().size(); }

Cell RangeId(Rows r, uint32_t row) {
  return IsRecorded(r, row) ? RowId(r.range_of_metric[row]) : Null();
}

Cell RangeName(Rows r, uint32_t row) {
  const uint32_t range = IsRecorded(r, row) ? r.range_of_metric[row] : OfReport(r, row).kernel.row;
  return range == kNoDetail ? Null() : Pooled(r.trace.device().name[range]);
}

Cell ValueOfCounter(Rows r, uint32_t row) {
  if (IsRecorded(r, row)) {
    return Real(r.trace.metrics().value[row]);
  }
  const KernelCounters::Value& value = OfReport(r, row).value;
  return value.exact.has_value() ? Int(*value.exact) : Real(value.value);
}

constexpr ColumnSpec kCounters[] = {
    kRank,
    IdSpec("Row number: as recorded."),
    {"range_id", kInteger, kKey, "The profiler range it was measured in, in device_events.",
     RangeId},
    {"range_name", kText, kMany, "Name of that range, or of the kernel.", RangeName},
    {"metric", kText, kFew, "Name of the counter as recorded.",
     [](Rows r, uint32_t row) {
       return IsRecorded(r, row) ? Pooled(r.trace.metrics().name[row])
                                 : Text(OfReport(r, row).value.metric);
     }},
    {"value", kReal, kMany, "Its value; of a report an integer where only that is exact.",
     ValueOfCounter},
    {"kernel_id", kInteger, kKey,
     "The kernel, in kernels, of counters that a report (--counters) measured in another run.",
     [](Rows r, uint32_t row) {
       return IsRecorded(r, row) ? Null() : RowId(OfReport(r, row).kernel.row);
     }},
    {"unit", kText, kFew, "Of counters of a report: byte, ns, %, ….",
     [](Rows r, uint32_t row) {
       return IsRecorded(r, row) ? Null() : TextOrNull(OfReport(r, row).value.unit);
     }},
    {"source", kText, kFew,
     "recorded, or how the report's kernel was found: range, order, broadcast.",
     [](Rows r, uint32_t row) {
       return Text(IsRecorded(r, row) ? "recorded" : OfReport(r, row).kernel.source);
     }}};

// ---- samples ----

constexpr ColumnSpec kSamples[] = {
    kRank,
    IdSpec("Row number."),
    {"ts_ns", kInteger, kMany, "From here the value holds.",
     Get<&Trace::samples, &Samples::ts_ns, Int>},
    {"end_ns", kInteger, kMany, "To here; as ts_ns: until the next.",
     Get<&Trace::samples, &Samples::end_ns, Int>},
    {"device_type", kText, kFew, "gpu, ….",
     Get<&Trace::samples, &Samples::device_type, PooledOrNull>},
    {"device", kInteger, kFew, "The monitor's own number of the device.",
     Get<&Trace::samples, &Samples::device, Int>},
    {"name", kText, kFew, "What was read: sclk, ….", Get<&Trace::samples, &Samples::name, Pooled>},
    {"value", kReal, kMany, "The value.", Get<&Trace::samples, &Samples::value, Real>}};

// ---- steps ----

const Step& StepAt(Rows r, uint32_t row) { return r.index.steps.steps[row]; }

constexpr ColumnSpec kSteps[] = {
    kRank,
    IdSpec("Row number: by start."),
    {"number", kInteger, kFew, "N of ProfilerStep#N.",
     [](Rows r, uint32_t row) { return Int(StepAt(r, row).number); }},
    {"ts_ns", kInteger, kMany, "Start of its window on the host.",
     [](Rows r, uint32_t row) { return Int(StepAt(r, row).begin_ns); }},
    {"end_ns", kInteger, kMany, "End of its window.",
     [](Rows r, uint32_t row) { return Int(StepAt(r, row).end_ns); }},
    {"annotation_id", kInteger, kKey, "The annotation that marks it, in host_events.",
     [](Rows r, uint32_t row) { return RowId(StepAt(r, row).annotation.value); }}};

// ---- links_fwdbwd ----

constexpr ColumnSpec kFwdbwd[] = {
    kRank,
    IdSpec("Row number: by backward operator."),
    {"backward_id", kInteger, kKey, "The backward operator, in ops.",
     [](Rows r, uint32_t row) { return RowId(r.index.forward_backward[row].backward.value); }},
    {"forward_id", kInteger, kKey, "The forward operator it belongs to, in ops.",
     [](Rows r, uint32_t row) { return RowId(r.index.forward_backward[row].forward.value); }}};

constexpr Relation kDetailRelations[] = {
    {"collectives", "Collectives, from the arguments of operators and kernels.",
     SizeOf<&Trace::collectives>, nullptr, kCollectives},
    {"memory_events", "Allocations and frees.", SizeOf<&Trace::memory>, nullptr, kMemory},
    {"counters", "Hardware counters: one row per profiler range, or kernel, and metric.",
     SizeOfCounters, nullptr, kCounters},
    {"samples", "What monitors measured on devices.", SizeOf<&Trace::samples>, nullptr, kSamples},
    {"steps", "Steps: ProfilerStep#N, or what an inference server marks.",
     [](Rows r) { return r.index.steps.steps.size(); }, nullptr, kSteps},
    {"links_fwdbwd", "Backward operators and the forward operators they belong to.",
     [](Rows r) { return r.index.forward_backward.size(); }, nullptr, kFwdbwd},
};

}  // namespace

std::span<const Relation> DetailRelations() { return kDetailRelations; }

// Views made from other tables. Those marked rpd are the views of rocmProfileData's .rpd files
// (schema version 3), with `rank` as one more column where rows belong to a rank.
namespace {

constexpr ViewSpec kViews[] = {
    {"annotations", "Annotations of the host and their shadows on the device; side says which.",
     "SELECT rank, 'host' AS side, id, ts_ns, dur_ns, end_ns, name, pid, tid, "
     "NULL AS gpu, NULL AS stream, step FROM host_events WHERE kind = 'annotation' UNION ALL "
     "SELECT rank, 'device', id, ts_ns, dur_ns, end_ns, name, NULL, NULL, gpu, stream, step "
     "FROM device_events WHERE kind = 'annotation'"},
    {"top", "rpd: device time by name. Identical operations all count, unlike in rpd itself.",
     "SELECT name AS Name, count(*) AS TotalCalls, sum(dur_ns) / 1000 AS TotalDuration_us, "
     "(sum(dur_ns) / count(*)) / 1000.0 AS Ave_us, sum(dur_ns) * 100.0 / "
     "(SELECT sum(dur_ns) FROM device_events WHERE is_work = 1) AS Percentage "
     "FROM device_events WHERE is_work = 1 GROUP BY name ORDER BY sum(dur_ns) DESC, name"},
    {"busy",
     "rpd: summed device time (overlaps count twice) over the span of all devices of the rank.",
     "SELECT d.gpu AS gpuId, sum(d.dur_ns) AS GpuTime, w.wall AS WallTime, "
     "sum(d.dur_ns) * 1.0 / w.wall AS Busy, d.rank AS rank "
     "FROM device_events d JOIN (SELECT rank, max(end_ns) - min(ts_ns) AS wall "
     "FROM device_events WHERE is_work = 1 GROUP BY rank) w ON w.rank = d.rank "
     "WHERE d.is_work = 1 GROUP BY d.rank, d.gpu"},
    {"ktop",
     "rpd: host time of the launching calls by kernel name. Launches of whole graphs have none.",
     "WITH calls AS (SELECT k.name AS name, l.dur_ns AS dur_ns FROM kernels k JOIN launches l "
     "ON l.rank = k.rank AND l.id = k.launch_id WHERE l.device_events = 1) "
     "SELECT name AS Name, count(*) AS TotalCalls, sum(dur_ns) / 1000 AS TotalDuration, "
     "(sum(dur_ns) / count(*)) / 1000 AS Ave, sum(dur_ns) * 100.0 / "
     "(SELECT sum(dur_ns) FROM calls) AS Percentage "
     "FROM calls GROUP BY name ORDER BY sum(dur_ns) DESC, name"},
    {"api",
     "rpd: runtime calls, annotations as UserMarker with their text in args, and what the profiler "
     "itself did.",
     "SELECT id, pid, tid, ts_ns AS start, end_ns AS \"end\", ifnull(domain, '') AS domain, "
     "'' AS category, name AS apiName, ifnull(args, '') AS args, rank FROM launches UNION ALL "
     "SELECT id, pid, tid, ts_ns, end_ns, '', '', 'UserMarker', name, rank FROM host_events "
     "WHERE kind = 'annotation' UNION ALL "
     "SELECT id, pid, tid, ts_ns, end_ns, '', '', name, '', rank FROM host_events "
     "WHERE kind = 'other'"},
    {"op", "rpd: kernels, copies and memsets; only kernels have a description.",
     "SELECT id, gpu AS gpuId, stream AS queueId, 0 AS sequenceId, ts_ns AS start, "
     "end_ns AS \"end\", CASE kind WHEN 'kernel' THEN name ELSE '' END AS description, "
     "CASE kind WHEN 'kernel' THEN 'KernelExecution' ELSE name END AS opType, rank "
     "FROM device_events WHERE is_work = 1"},
    {"rpd_kernel", "rpd: its view kernel: kernels with the size of their launch.",
     "SELECT id, gpu AS gpuId, stream AS queueId, 0 AS sequenceId, ts_ns AS start, "
     "end_ns AS \"end\", dur_ns AS duration, ifnull(stream_handle, '') AS stream, "
     "grid_x AS gridX, grid_y AS gridY, grid_z AS gridZ, block_x AS workgroupX, "
     "block_y AS workgroupY, block_z AS workgroupZ, shared_bytes AS groupSegmentSize, "
     "private_bytes AS privateSegmentSize, name AS kernelName, rank FROM kernels"},
    {"rpd_copy", "rpd: its view copy: the calls of copies, with host times.",
     "SELECT l.id AS id, l.pid AS pid, l.tid AS tid, l.ts_ns AS start, l.end_ns AS \"end\", "
     "l.name AS apiName, ifnull(c.stream_handle, '') AS stream, c.bytes AS size, "
     "c.width AS width, c.height AS height, c.call_kind AS kind, ifnull(c.target, '') AS dst, "
     "ifnull(c.source, '') AS src, c.target_device AS dstDevice, c.source_device AS srcDevice, "
     "c.is_sync AS sync, c.is_pinned AS pinned, c.rank AS rank "
     "FROM copies c JOIN launches l ON l.rank = c.rank AND l.id = c.launch_id "
     "WHERE c.kind = 'memcpy'"},
    {"copyop", "rpd: copies on the device, with the details of their calls.",
     "SELECT c.id AS id, c.gpu AS gpuId, c.stream AS queueId, 0 AS sequenceId, "
     "c.ts_ns AS start, c.end_ns AS \"end\", c.dur_ns AS duration, "
     "ifnull(c.stream_handle, '') AS stream, c.bytes AS size, c.width AS width, "
     "c.height AS height, c.call_kind AS kind, ifnull(c.target, '') AS dst, "
     "ifnull(c.source, '') AS src, c.target_device AS dstDevice, c.source_device AS srcDevice, "
     "c.is_sync AS sync, c.is_pinned AS pinned, l.name AS apiName, c.rank AS rank "
     "FROM copies c JOIN launches l ON l.rank = c.rank AND l.id = c.launch_id "
     "WHERE c.kind = 'memcpy'"},
};

}  // namespace

std::span<const ViewSpec> Views() { return kViews; }

// The schema as tables, for --schema and docs/use/sql.md.
namespace {

Table TablesTable(std::span<const Relation> relations) {
  Table table{"tables", "Tables and views", {}};
  table.columns.reserve(3);  // keeps the references below valid
  Column& name = AddString(table, "table", Role::kKey, "Name of the table.");
  Column& kind = AddString(table, "kind", Role::kKey, "table, or view: made of others.");
  Column& doc = AddString(table, "meaning", Role::kDerived, "What a row is.");
  const auto add = [&](std::string_view what, const auto& row) {
    Push(name, row.name);
    Push(kind, what);
    Push(doc, row.doc);
  };
  for (const Relation& relation : relations) {
    add("table", relation);
  }
  for (const ViewSpec& view : Views()) {
    add("view", view);
  }
  return table;
}

// The names of the columns of a view, from its SELECT.
Result<std::vector<std::string>> ColumnsOf(Database& database, const ViewSpec& view) {
  BS_ASSIGN(const std::vector<QueryResult> answers,
            database.Run(fmt::format("SELECT * FROM \"{}\" LIMIT 0", view.name), {}, {}));
  std::vector<std::string> names;
  names.reserve(answers[0].table.columns.size());
  for (const Column& column : answers[0].table.columns) {
    names.push_back(column.name);
  }
  return names;
}

Result<Table> ColumnsTable(std::span<const Relation> relations) {
  Table table{"columns", "Columns", {}};
  table.columns.reserve(4);
  Column& owner = AddString(table, "table", Role::kKey, "Table or view.");
  Column& name = AddString(table, "column", Role::kKey, "Name of the column.");
  Column& type = AddString(table, "type", Role::kDerived, "Type; of views, that of the source.");
  Column& doc = AddString(table, "meaning", Role::kDerived, "What it holds; NULL where unknown.");
  for (const Relation& relation : relations) {
    for (const ColumnSpec& column : relation.columns) {
      Push(owner, relation.name);
      Push(name, column.name);
      Push(type, TypeName(column.type));
      Push(doc, column.doc);
    }
  }
  BS_ASSIGN(Database database, Database::Open({}));
  for (const ViewSpec& view : Views()) {
    BS_ASSIGN(const std::vector<std::string> columns, ColumnsOf(database, view));
    for (const std::string& column : columns) {
      Push(owner, view.name);
      Push(name, column);
      PushMissing(type);
      PushMissing(doc);
    }
  }
  return table;
}

Table FunctionsTable() {
  Table table{"functions", "Functions beside those of SQLite", {}};
  table.columns.reserve(2);
  Column& name = AddString(table, "function", Role::kKey, "How it is called.");
  Column& doc = AddString(table, "meaning", Role::kDerived, "What it gives.");
  for (const FunctionRow& function : Functions()) {
    Push(name, function.signature);
    Push(doc, function.doc);
  }
  return table;
}

}  // namespace

Result<std::vector<Table>> SchemaTables(std::span<const Table> tables) {
  const RelationList relations(tables);
  BS_ASSIGN(Table columns, ColumnsTable(relations.all()));
  return std::vector<Table>{TablesTable(relations.all()), std::move(columns), FunctionsTable()};
}

}  // namespace borescope::internal::query
