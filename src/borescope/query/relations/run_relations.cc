// What a run consists of: ranks, tracks, strings, devices, and what was odd in the files.
#include "borescope/query/relations/cells.h"

namespace borescope::internal::query {
namespace {

using Rows = const RankRows&;

Cell Optional(const std::optional<int64_t>& value) {
  return value.has_value() ? Int(*value) : Null();
}

// ---- tracks ----

bool IsHostTrack(Rows r, uint32_t row) { return r.trace.tracks().kind[row] == TrackKind::kHost; }

// A number of the track, which host and device tracks use for different things.
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
    {"format", kText, kFew, "Its format.",
     [](Rows r, uint32_t) { return TextOrNull(FormatName(r.trace.meta().format)); }},
    {"producer", kText, kFew, "What wrote it.",
     [](Rows r, uint32_t) { return TextOrNull(r.trace.meta().producer); }},
    {"world_size", kInteger, kFew, "Ranks of the job, where recorded.",
     [](Rows r, uint32_t) { return Optional(r.trace.meta().world_size); }},
    {"base_ns", kInteger, kMany, "Unix time of ts_ns = 0, where recorded.",
     [](Rows r, uint32_t) { return Optional(r.trace.meta().base_ns); }},
    {"begin_ns", kInteger, kMany, "First start of an event.",
     [](Rows r, uint32_t) { return Int(r.trace.begin_ns()); }},
    {"end_ns", kInteger, kMany, "Last end of an event.",
     [](Rows r, uint32_t) { return Int(r.trace.end_ns()); }}};

constexpr Relation kRunRelations[] = {
    {"tracks", "Threads and device streams.", [](Rows r) { return r.trace.tracks().size(); },
     nullptr, kTracks},
    {"strings", "Every distinct text.", [](Rows r) { return r.trace.strings().size(); }, nullptr,
     kStrings},
    {"devices", "Devices the process could see.",
     [](Rows r) { return r.trace.meta().devices.size(); }, nullptr, kDevices},
    {"diagnostics", "What was odd, repaired or dropped.",
     [](Rows) { return static_cast<size_t>(Diag::kCount); },
     [](Rows r, uint32_t row) { return EntryAt(r, row).count != 0; }, kDiagnostics},
    {"ranks", "The loaded ranks and their files.", [](Rows) { return size_t{1}; }, nullptr, kRanks},
};

}  // namespace

std::span<const Relation> RunRelations() { return kRunRelations; }

}  // namespace borescope::internal::query
