// The relations of what a dead job left: dumps of PyTorch's flight recorder, memory snapshots, and
// findings in logs.
#include <algorithm>
#include <string_view>

#include "borescope/postmortem/hang_model.h"
#include "borescope/query/job_data.h"
#include "borescope/query/relations/cells.h"

namespace borescope::internal::query {
namespace job {
namespace {

using Rows = const RankRows&;
using postmortem::MemoryAction;
using postmortem::MemoryBlock;
using postmortem::MemoryBlockState;
using postmortem::MemoryEvent;
using postmortem::MemoryLane;
using postmortem::MemorySegment;

template <auto kParts>
size_t RowsOf(Rows r) {
  return r.data.job == nullptr ? 0 : (r.data.job->*kParts)().size();
}

template <class T>
Cell Optional(const std::optional<T>& value) {
  return value.has_value() ? Int(static_cast<int64_t>(*value)) : Null();
}

Cell Unsigned(uint64_t value) { return Int(static_cast<int64_t>(value)); }

// 0 means "not recorded".
Cell TimeOrNull(int64_t unix_ns) { return unix_ns == 0 ? Null() : Int(unix_ns); }

// ---- postmortem_files ----

const JobFileRow& FileAt(Rows r, uint32_t row) { return r.data.job->sources()[row].file; }

constexpr ColumnSpec kFiles[] = {
    kRank,
    IdSpec("Row number: by name."),
    {"file", kText, kKey, "File as named, or as found in a folder.",
     [](Rows r, uint32_t row) { return Text(FileAt(r, row).file); }},
    {"kind", kText, kFew, "flight-recorder or memory-snapshot.",
     [](Rows r, uint32_t row) { return Text(FileAt(r, row).kind); }},
    {"version", kText, kFew, "Version of its format, where recorded.",
     [](Rows r, uint32_t row) {
       return FileAt(r, row).version.has_value() ? TextOrNull(*FileAt(r, row).version) : Null();
     }},
    {"records", kInteger, kMany, "Entries of a ring, or events of a trace.",
     [](Rows r, uint32_t row) { return Optional(FileAt(r, row).records); }},
    {"bytes", kInteger, kMany, "Size as stored.",
     [](Rows r, uint32_t row) { return Int(FileAt(r, row).bytes); }},
    {"status", kText, kFew, "read, truncated, or refused.",
     [](Rows r, uint32_t row) { return Text(FileAt(r, row).status); }}};

// ---- fr_entries ----

struct EntryAt {
  const JobData::DumpPart& part;
  const FlightEntry& entry;
};

EntryAt Entry(Rows r, uint32_t row) {
  const auto [part, at] = r.data.job->entries().At(row);
  return {part, part.dump->entries[at]};
}

template <auto kMember>
Cell EntryNumber(Rows r, uint32_t row) {
  return Positive(Entry(r, row).entry.*kMember);
}

template <auto kMember>
Cell EntryTime(Rows r, uint32_t row) {
  return TimeOrNull(Entry(r, row).entry.*kMember);
}

template <auto kMember>
Cell EntryText(Rows r, uint32_t row) {
  const auto [part, entry] = Entry(r, row);
  return TextOrNull(part.dump->Text(entry.*kMember));
}

template <auto kMember, auto kWrite>
Cell EntryList(Rows r, uint32_t row) {
  const auto [part, entry] = Entry(r, row);
  const uint32_t list = entry.*kMember;
  return list == FlightEntry::kNothing ? Null() : Text((r.data.job->*kWrite)(part, list));
}

template <auto kMember>
Cell EntryGroup(Rows r, uint32_t row) {
  const auto [part, entry] = Entry(r, row);
  return entry.group == FlightEntry::kNothing
             ? Null()
             : TextOrNull(part.dump->named_groups[entry.group].*kMember);
}

constexpr ColumnSpec kEntries[] = {
    kRank,
    IdSpec("Row number: by file, then as the ring had them."),
    {"record_id", kInteger, kKey, "Number of the record in its process.",
     EntryNumber<&FlightEntry::record_id>},
    {"pg_id", kInteger, kFew, "Number of the group in its process: fr_status has it, too.",
     EntryNumber<&FlightEntry::pg_id>},
    {"group_name", kText, kFew, "Name of the group, in fr_groups.",
     EntryGroup<&FlightGroupName::name>},
    {"group_desc", kText, kFew, "Its description.", EntryGroup<&FlightGroupName::description>},
    {"collective_seq_id", kInteger, kMany, "Number of the collective in its group.",
     EntryNumber<&FlightEntry::collective_seq>},
    {"p2p_seq_id", kInteger, kMany, "Number of the point-to-point launch in its group.",
     EntryNumber<&FlightEntry::p2p_seq>},
    {"op_id", kInteger, kMany, "Number of the logical operation in its group.",
     EntryNumber<&FlightEntry::op_id>},
    {"name", kText, kFew, "The operation: nccl:all_reduce.", EntryText<&FlightEntry::name>},
    {"is_p2p", kInteger, kFew, "1: send or recv.",
     [](Rows r, uint32_t row) { return Bool(Entry(r, row).entry.is_p2p); }},
    {"state", kText, kFew,
     "scheduled, started or completed; in a coalesced launch only the last entry has one of its "
     "own.",
     [](Rows r, uint32_t row) { return TextOrNull(FlightStateName(Entry(r, row).entry.state)); }},
    {"outstanding", kInteger, kFew,
     "1: by its state the work has not ended, or only because its communicator was aborted.",
     [](Rows r, uint32_t row) {
       const auto [part, entry] = Entry(r, row);
       return Bool(IsOutstanding(*part.dump, entry));
     }},
    {"retired", kInteger, kFew, "1: its watchdog watches it no more.",
     [](Rows r, uint32_t row) { return Bool(Entry(r, row).entry.is_retired); }},
    {"created_unix_ns", kInteger, kMany, "When the host issued it, since 1970.",
     EntryTime<&FlightEntry::created_ns>},
    {"started_unix_ns", kInteger, kMany, "When the watchdog saw that it had started.",
     EntryTime<&FlightEntry::discovered_started_ns>},
    {"completed_unix_ns", kInteger, kMany, "When the watchdog saw that it had ended.",
     EntryTime<&FlightEntry::discovered_finished_ns>},
    {"duration_ms", kReal, kMany, "How long it took on the device, where that is timed.",
     [](Rows r, uint32_t row) {
       const float duration = Entry(r, row).entry.duration_ms;
       return duration >= 0 ? Real(duration) : Null();
     }},
    {"timeout_ms", kInteger, kFew, "After which its watchdog gives up.",
     [](Rows r, uint32_t row) { return TimeOrNull(Entry(r, row).entry.timeout_ms); }},
    {"input_sizes", kText, kFew, "[[4, 16]]; long lists end in ….",
     EntryList<&FlightEntry::input_sizes, &JobData::SizesText>},
    {"output_sizes", kText, kFew, "Likewise.",
     EntryList<&FlightEntry::output_sizes, &JobData::SizesText>},
    {"input_dtypes", kText, kFew, "Types of the inputs.",
     EntryList<&FlightEntry::input_types, &JobData::TypesText>},
    {"output_dtypes", kText, kFew, "Types of the outputs.",
     EntryList<&FlightEntry::output_types, &JobData::TypesText>},
    {"thread_name", kText, kFew, "The thread that issued it.",
     EntryText<&FlightEntry::thread_name>},
    {"stack_id", kInteger, kMany, "Its stack, in frames.", [](Rows r, uint32_t row) {
       const auto [part, entry] = Entry(r, row);
       return Optional(r.data.job->StackOf(part, entry));
     }}};

// ---- fr_groups, fr_status ----

const FlightGroup& GroupAt(Rows r, uint32_t row) {
  const auto [part, at] = r.data.job->groups().At(row);
  return part.dump->groups[at];
}

constexpr ColumnSpec kGroups[] = {
    kRank,
    IdSpec("Row number: by file, then by name."),
    {"group_name", kText, kFew, "Name of the group: another one may have other members on others.",
     [](Rows r, uint32_t row) { return Text(GroupAt(r, row).name); }},
    {"group_desc", kText, kFew, "Its description.",
     [](Rows r, uint32_t row) { return TextOrNull(GroupAt(r, row).description); }},
    {"members", kInteger, kFew, "How many ranks it has.",
     [](Rows r, uint32_t row) { return Int(static_cast<int64_t>(GroupAt(r, row).ranks.size())); }},
    {"ranks", kText, kFew, "Its ranks: 0..7,9.", [](Rows r, uint32_t row) {
       const auto [part, at] = r.data.job->groups().At(row);
       return Text(r.data.job->RanksText(part, at));
     }}};

const FlightStatus& StatusAt(Rows r, uint32_t row) {
  const auto [part, at] = r.data.job->status().At(row);
  return part.dump->status[at];
}

template <auto kMember>
Cell StatusNumber(Rows r, uint32_t row) {
  return Positive(StatusAt(r, row).*kMember);
}

constexpr ColumnSpec kStatus[] = {
    kRank,
    IdSpec("Row number: by file, then by pg_id."),
    {"pg_id", kInteger, kFew, "Number of the group in its process.",
     [](Rows r, uint32_t row) { return Int(StatusAt(r, row).pg_id); }},
    {"last_enqueued", kInteger, kMany, "Number of the last work that was issued; NULL for none.",
     StatusNumber<&FlightStatus::enqueued>},
    {"last_started", kInteger, kMany, "Of the last that was seen to start.",
     StatusNumber<&FlightStatus::started>},
    {"last_completed", kInteger, kMany, "Of the last that was seen to end.",
     StatusNumber<&FlightStatus::completed>}};

// ---- mem_segments, mem_blocks ----

template <class Row>
struct OfDevice {
  const JobData::DevicePart& part;
  const Row& row;
  const MemoryLane& lane(uint16_t number) const { return part.snapshot->lanes[number]; }
};

OfDevice<MemorySegment> Segment(Rows r, uint32_t row) {
  const auto [part, at] = r.data.job->segments().At(row);
  return {part, part.device->segments[at]};
}

OfDevice<MemoryBlock> Block(Rows r, uint32_t row) {
  const auto [part, at] = r.data.job->blocks().At(row);
  return {part, part.device->blocks[at]};
}

constexpr std::string_view kAddressDoc = "Where it begins; negative from 2^63 on.";
constexpr std::string_view kPoolDoc =
    "Id of the private pool of a graph or of torch.cuda.MemPool: 1.0; NULL for the default pool.";

Cell StreamOf(const MemoryLane& lane) { return Unsigned(lane.stream); }

// The first number of a pool's pair; the second is in pool_id_2.
Cell PoolOf(const MemoryLane& lane, bool is_first) {
  return lane.is_private() ? Int(is_first ? lane.pool_first : lane.pool_second) : Null();
}

Cell StackNumber(const JobData::DevicePart& part, uint32_t stack) {
  return stack == 0 ? Null() : Int(part.first_stack + stack);
}

constexpr ColumnSpec kSegments[] = {
    kRank,
    IdSpec("Row number: by file, device and address."),
    {"device", kInteger, kFew, "Number of the device.",
     [](Rows r, uint32_t row) { return Int(Segment(r, row).part.device->device); }},
    {"address", kInteger, kKey, kAddressDoc,
     [](Rows r, uint32_t row) { return Unsigned(Segment(r, row).row.address); }},
    {"size_bytes", kInteger, kMany, "Its size.",
     [](Rows r, uint32_t row) { return Unsigned(Segment(r, row).row.size); }},
    {"allocated_bytes", kInteger, kMany, "Of it in use, as the allocator counted.",
     [](Rows r, uint32_t row) { return Unsigned(Segment(r, row).row.allocated); }},
    {"blocks", kInteger, kMany, "How many blocks it has.",
     [](Rows r, uint32_t row) { return Int(Segment(r, row).row.blocks); }},
    {"pool", kText, kFew, "small or large: which requests it serves.",
     [](Rows r, uint32_t row) { return Text(Segment(r, row).row.is_small ? "small" : "large"); }},
    {"stream", kInteger, kFew, "Stream it is of.",
     [](Rows r, uint32_t row) {
       const auto segment = Segment(r, row);
       return StreamOf(segment.lane(segment.row.lane));
     }},
    {"pool_id_1", kInteger, kFew, kPoolDoc,
     [](Rows r, uint32_t row) {
       const auto segment = Segment(r, row);
       return PoolOf(segment.lane(segment.row.lane), true);
     }},
    {"pool_id_2", kInteger, kFew, "Its second number.",
     [](Rows r, uint32_t row) {
       const auto segment = Segment(r, row);
       return PoolOf(segment.lane(segment.row.lane), false);
     }},
    {"is_expandable", kInteger, kFew, "1: of expandable_segments.",
     [](Rows r, uint32_t row) { return Bool(Segment(r, row).row.is_expandable); }},
    {"stack_id", kInteger, kMany, "Stack of the request that made it, in frames.",
     [](Rows r, uint32_t row) {
       const auto segment = Segment(r, row);
       return StackNumber(segment.part, segment.row.stack);
     }}};

std::string_view StateName(MemoryBlockState state) {
  return state == MemoryBlockState::kAllocated ? "allocated"
         : state == MemoryBlockState::kPending ? "pending"
                                               : "free";
}

// The segment that a block is of: blocks are in the order of segments.
Cell SegmentOf(Rows r, uint32_t row) {
  const auto [part, at] = r.data.job->blocks().At(row);
  const std::vector<MemorySegment>& segments = part.device->segments;
  const auto after = std::upper_bound(
      segments.begin(), segments.end(), at,
      [](uint32_t block, const MemorySegment& segment) { return block < segment.first_block; });
  return after == segments.begin()
             ? Null()
             : Int(part.first_segment + static_cast<int64_t>(after - segments.begin()) - 1);
}

constexpr ColumnSpec kBlocks[] = {
    kRank,
    IdSpec("Row number: by file, device and address."),
    {"device", kInteger, kFew, "Number of the device.",
     [](Rows r, uint32_t row) { return Int(Block(r, row).part.device->device); }},
    {"segment_id", kInteger, kMany, "Its segment, in mem_segments.", SegmentOf},
    {"address", kInteger, kKey, kAddressDoc,
     [](Rows r, uint32_t row) { return Unsigned(Block(r, row).row.address); }},
    {"size_bytes", kInteger, kMany, "Its size.",
     [](Rows r, uint32_t row) { return Unsigned(Block(r, row).row.size); }},
    {"requested_bytes", kInteger, kMany, "What the program requested.",
     [](Rows r, uint32_t row) { return Unsigned(Block(r, row).row.requested); }},
    {"state", kText, kFew, "allocated; pending: freed, but a stream may still use it; free.",
     [](Rows r, uint32_t row) { return Text(StateName(Block(r, row).row.state)); }},
    {"stack_id", kInteger, kMany, "Stack of its allocation, in frames.", [](Rows r, uint32_t row) {
       const auto block = Block(r, row);
       return StackNumber(block.part, block.row.stack);
     }}};

// ---- mem_events ----

struct EventAt : OfDevice<MemoryEvent> {
  uint32_t number;
};

EventAt Event(Rows r, uint32_t row) {
  const auto [part, at] = r.data.job->events().At(row);
  return {{part, part.device->events[at]}, at};
}

bool HasBlock(MemoryAction action) {
  return action == MemoryAction::kAlloc || action == MemoryAction::kFreeRequested ||
         action == MemoryAction::kFreeCompleted;
}

// What the replay holds after an event; NULL without one.
template <auto kMember>
Cell HeldAfter(Rows r, uint32_t row) {
  const EventAt event = Event(r, row);
  const JobData::Replayed& replayed = r.data.job->ReplayOf(event.part);
  return replayed.is_possible ? Int((replayed.held.*kMember)[event.number + 1]) : Null();
}

Cell BlockBytesOf(Rows r, uint32_t row) {
  const EventAt event = Event(r, row);
  const JobData::Replayed& replayed = r.data.job->ReplayOf(event.part);
  const uint64_t bytes = replayed.is_possible && HasBlock(event.row.action)
                             ? replayed.replay.BlockBytes(event.number)
                             : 0;
  return bytes == 0 ? Null() : Unsigned(bytes);
}

Cell ForcedOf(Rows r, uint32_t row) {
  const EventAt event = Event(r, row);
  const JobData::Replayed& replayed = r.data.job->ReplayOf(event.part);
  const std::vector<uint32_t>& forced = replayed.replay.forced_events;
  return replayed.is_possible ? Bool(std::binary_search(forced.begin(), forced.end(), event.number))
                              : Null();
}

constexpr ColumnSpec kEvents[] = {
    kRank,
    IdSpec("Row number: by file and device, then oldest first."),
    {"device", kInteger, kFew, "Number of the device.",
     [](Rows r, uint32_t row) { return Int(Event(r, row).part.device->device); }},
    {"ts_unix_ns", kInteger, kMany, "When, since 1970, where recorded.",
     [](Rows r, uint32_t row) {
       const int64_t time_us = Event(r, row).row.time_us;
       constexpr int64_t kLatestUs = std::numeric_limits<int64_t>::max() / 1000;
       return time_us == postmortem::kNoTime || time_us > kLatestUs || time_us < 0
                  ? Null()
                  : Int(time_us * 1000);
     }},
    {"action", kText, kFew,
     "alloc, free_requested, free_completed, segment_alloc, segment_free, segment_map, "
     "segment_unmap, snapshot or oom.",
     [](Rows r, uint32_t row) { return TextOrNull(postmortem::Name(Event(r, row).row.action)); }},
    {"address", kInteger, kKey, "Where; of oom NULL.",
     [](Rows r, uint32_t row) {
       const EventAt event = Event(r, row);
       return event.row.action == MemoryAction::kOom ? Null() : Unsigned(event.row.address);
     }},
    {"size_bytes", kInteger, kMany,
     "Bytes: of alloc and frees as requested, of oom rounded, of segments whole.",
     [](Rows r, uint32_t row) { return Unsigned(Event(r, row).row.size); }},
    {"device_free_bytes", kInteger, kMany, "Of oom: free on the device.",
     [](Rows r, uint32_t row) {
       const EventAt event = Event(r, row);
       return event.row.action == MemoryAction::kOom ? Unsigned(event.row.address) : Null();
     }},
    {"stream", kInteger, kFew, "Stream.",
     [](Rows r, uint32_t row) {
       const EventAt event = Event(r, row);
       return StreamOf(event.lane(event.row.lane));
     }},
    {"pool_id_1", kInteger, kFew, kPoolDoc,
     [](Rows r, uint32_t row) {
       const EventAt event = Event(r, row);
       return PoolOf(event.lane(event.row.lane), true);
     }},
    {"pool_id_2", kInteger, kFew, "Its second number.",
     [](Rows r, uint32_t row) {
       const EventAt event = Event(r, row);
       return PoolOf(event.lane(event.row.lane), false);
     }},
    {"block_bytes", kInteger, kMany,
     "Size of its block, by the replay: of alloc, and of the event that ended its use.",
     BlockBytesOf},
    {"allocated_bytes", kInteger, kMany, "Blocks in use after it, by the replay.",
     HeldAfter<&postmortem::HeldMemory::allocated>},
    {"reserved_bytes", kInteger, kMany, "Segments after it, by the replay.",
     HeldAfter<&postmortem::HeldMemory::reserved>},
    {"forced", kInteger, kFew,
     "1: its place was taken from the recording, as the allocator's model says another; of the "
     "first 1,000 of these.",
     ForcedOf},
    {"stack_id", kInteger, kMany, "Its stack, in frames.", [](Rows r, uint32_t row) {
       const EventAt event = Event(r, row);
       return StackNumber(event.part, event.row.stack);
     }}};

// ---- mem_annotations ----

OfDevice<postmortem::MemoryAnnotation> Annotation(Rows r, uint32_t row) {
  const auto [part, at] = r.data.job->annotations().At(row);
  return {part, part.device->annotations[at]};
}

constexpr ColumnSpec kAnnotations[] = {
    kRank,
    IdSpec("Row number: by file and device, then as recorded."),
    {"device", kInteger, kFew, "Number of the device.",
     [](Rows r, uint32_t row) { return Int(Annotation(r, row).part.device->device); }},
    {"ts_unix_ns", kInteger, kMany, "When, since 1970.",
     [](Rows r, uint32_t row) {
       const int64_t time_us = Annotation(r, row).row.time_us;
       constexpr int64_t kLatestUs = std::numeric_limits<int64_t>::max() / 1000;
       return time_us < 0 || time_us > kLatestUs ? Null() : Int(time_us * 1000);
     }},
    {"stage", kText, kFew, "START or END.",
     [](Rows r, uint32_t row) { return Text(Annotation(r, row).row.is_start ? "START" : "END"); }},
    {"name", kText, kFew, "The part of the program: Optimizer.step#AdamW.step.",
     [](Rows r, uint32_t row) {
       const auto annotation = Annotation(r, row);
       return TextOrNull(annotation.part.snapshot->stacks.Text(annotation.row.name));
     }}};

// ---- frames ----

JobFrame FrameOf(Rows r, uint32_t row) { return r.data.job->FrameAt(row); }

constexpr ColumnSpec kFrames[] = {
    kRank,
    IdSpec("Row number: by stack, innermost frames first."),
    {"stack_id", kInteger, kMany, "Named by stack_id of other tables; of this rank only.",
     [](Rows r, uint32_t row) { return Int(FrameOf(r, row).stack); }},
    {"depth", kInteger, kFew, "0 is the innermost frame.",
     [](Rows r, uint32_t row) { return Int(FrameOf(r, row).depth); }},
    {"file", kText, kMany, "File of the function.",
     [](Rows r, uint32_t row) { return TextOrNull(FrameOf(r, row).file); }},
    {"line", kInteger, kMany, "Line in it.",
     [](Rows r, uint32_t row) { return Int(FrameOf(r, row).line); }},
    {"name", kText, kMany, "The function.",
     [](Rows r, uint32_t row) { return TextOrNull(FrameOf(r, row).name); }}};

// ---- log_findings ----

const LogFindingRow& Finding(Rows r, uint32_t row) { return r.data.job->logs()[row]; }

constexpr ColumnSpec kLogs[] = {
    {"rank", kInteger, kFew, "Of whom it speaks; NULL if that is not known.",
     [](Rows r, uint32_t row) { return Optional(Finding(r, row).rank); }},
    IdSpec("Row number: by file and line."),
    {"file", kText, kFew, "The log or the error file.",
     [](Rows r, uint32_t row) { return Text(Finding(r, row).file); }},
    {"line", kInteger, kMany, "Line in it, from 1.",
     [](Rows r, uint32_t row) { return Optional(Finding(r, row).line); }},
    {"kind", kText, kFew,
     "exception, out of memory, fatal error, exit, timeout, progress, nccl warning, stack, xid, "
     "machine, no start, host memory, cancelled or task failed.",
     [](Rows r, uint32_t row) { return Text(Finding(r, row).kind); }},
    {"text", kText, kMany, "What matched, in one line, without secrets.",
     [](Rows r, uint32_t row) { return Text(Finding(r, row).text); }},
    {"program_line", kText, kMany, "The innermost line of the user's program in its stack.",
     [](Rows r, uint32_t row) {
       const LogFindingRow& finding = Finding(r, row);
       return finding.program_line.has_value() ? Text(*finding.program_line) : Null();
     }},
    {"pid", kInteger, kMany, "The process.",
     [](Rows r, uint32_t row) { return Optional(Finding(r, row).pid); }},
    {"consequence", kInteger, kFew, "1: it only reports another rank, or follows from it.",
     [](Rows r, uint32_t row) { return Bool(Finding(r, row).consequence); }},
    {"count", kInteger, kMany, "Of equal ones in the file.",
     [](Rows r, uint32_t row) { return Int(Finding(r, row).count); }},
    {"unix_ns", kInteger, kMany, "When, since 1970, where the log has times with a zone.",
     [](Rows r, uint32_t row) { return Optional(Finding(r, row).unix_ns); }}};

constexpr Relation kJobRelations[] = {
    {"postmortem_files", "Dumps and memory snapshots of a dead job.", RowsOf<&JobData::sources>,
     nullptr, kFiles},
    {"fr_entries", "Dumps of PyTorch's flight recorder: latest communication of each rank.",
     RowsOf<&JobData::entries>, nullptr, kEntries},
    {"fr_groups", "Process groups, as the dumps list them.", RowsOf<&JobData::groups>, nullptr,
     kGroups},
    {"fr_status", "How far each group of a process is.", RowsOf<&JobData::status>, nullptr,
     kStatus},
    {"mem_segments", "Memory snapshots: what the allocator had of the device at the end.",
     RowsOf<&JobData::segments>, nullptr, kSegments},
    {"mem_blocks", "The blocks of these segments.", RowsOf<&JobData::blocks>, nullptr, kBlocks},
    {"mem_events", "What led there: allocations, frees, segments, failures.",
     RowsOf<&JobData::events>, nullptr, kEvents},
    {"mem_annotations", "Named parts of the program, as snapshots have them.",
     RowsOf<&JobData::annotations>, nullptr, kAnnotations},
    {"frames", "Stacks of dumps and snapshots.",
     [](Rows r) { return r.data.job == nullptr ? size_t{0} : r.data.job->frames(); }, nullptr,
     kFrames},
    {"log_findings", "What logs and error files of a dead job say.", RowsOf<&JobData::logs>,
     nullptr, kLogs, true, true},
};

}  // namespace
}  // namespace job

std::span<const Relation> JobRelations() { return job::kJobRelations; }

}  // namespace borescope::internal::query
