#include "borescope/convert/perfetto/perfetto_packets.h"

#include <protozero/pbf_writer.hpp>

#include "borescope/base/text/utf8.h"

namespace borescope::internal {
namespace {

using protozero::pbf_writer;

namespace trace {
constexpr uint32_t kPacket = 1;
}
namespace packet {
constexpr uint32_t kTimestamp = 8, kSequenceId = 10, kTrackEvent = 11, kInternedData = 12,
                   kSequenceFlags = 13, kTrackDescriptor = 60;
constexpr uint32_t kStateCleared = 1, kNeedsState = 2;
}  // namespace packet
namespace event {
constexpr uint32_t kDebugAnnotations = 4, kType = 9, kNameId = 10, kTrackUuid = 11,
                   kCategories = 22, kName = 23, kCounterValue = 30, kDoubleCounterValue = 44,
                   kFlowIds = 47, kTerminatingFlowIds = 48;
constexpr int32_t kSliceEnd = 2, kCounter = 4;
}  // namespace event
namespace annotation {
constexpr uint32_t kIntValue = 4, kStringValue = 6, kName = 10;
}
namespace interned {
constexpr uint32_t kEventNames = 2, kId = 1, kName = 2;
}
namespace descriptor {
constexpr uint32_t kUuid = 1, kName = 2, kProcess = 3, kThread = 4, kParentUuid = 5, kCounter = 8;
constexpr uint32_t kProcessPid = 1, kProcessName = 6;
constexpr uint32_t kThreadPid = 1, kThreadTid = 2, kThreadName = 5;
}  // namespace descriptor

// Ids of names start at 1.
uint64_t NameId(StringId name) { return uint64_t{name.valid() ? name.value : 0} + 1; }

void AddOwner(const PerfettoTrack& track, pbf_writer& out) {
  if (track.pid.has_value() && track.tid.has_value()) {
    pbf_writer thread(out, descriptor::kThread);
    thread.add_int32(descriptor::kThreadPid, *track.pid);
    thread.add_int32(descriptor::kThreadTid, *track.tid);
    thread.add_string(descriptor::kThreadName, track.name);
  } else if (track.pid.has_value()) {
    pbf_writer process(out, descriptor::kProcess);
    process.add_int32(descriptor::kProcessPid, *track.pid);
    process.add_string(descriptor::kProcessName, track.name);
  } else {
    out.add_string(descriptor::kName, track.name);
  }
}

void AddNote(const PerfettoNote& note, pbf_writer& out) {
  pbf_writer annotation(out, event::kDebugAnnotations);
  annotation.add_string(annotation::kName, note.key.data(), note.key.size());
  if (note.text.empty()) {
    annotation.add_int64(annotation::kIntValue, note.number);
  } else {
    annotation.add_string(annotation::kStringValue, ToValidUtf8(note.text));
  }
}

}  // namespace

PerfettoPackets::PerfettoPackets(Sink& sink, const StringPool& strings, int64_t shift_ns,
                                 uint32_t sequence)
    : out_(sink),
      strings_(strings),
      shift_ns_(shift_ns),
      sequence_(sequence),
      has_name_(strings.size(), 0) {
  pbf_writer first(packet_);
  first.add_uint32(packet::kSequenceId, sequence_);
  first.add_uint32(packet::kSequenceFlags, packet::kStateCleared);
  pbf_writer(out_.text()).add_message(trace::kPacket, packet_);
}

void PerfettoPackets::Describe(const PerfettoTrack& track) {
  packet_.clear();
  pbf_writer out(packet_);
  out.add_uint32(packet::kSequenceId, sequence_);
  {
    pbf_writer described(out, packet::kTrackDescriptor);
    described.add_uint64(descriptor::kUuid, track.uuid);
    if (track.parent != 0) {
      described.add_uint64(descriptor::kParentUuid, track.parent);
    }
    AddOwner(track, described);
    if (track.is_counter) {
      described.add_message(descriptor::kCounter, std::string());
    }
  }
  pbf_writer(out_.text()).add_message(trace::kPacket, packet_);
}

void PerfettoPackets::Put(const PerfettoSlice& slice, int32_t type) {
  event_.clear();
  pbf_writer out(event_);
  out.add_enum(event::kType, type);
  out.add_uint64(event::kTrackUuid, slice.track);
  if (slice.own_name.empty()) {
    PutNewName(slice.name);
    out.add_uint64(event::kNameId, NameId(slice.name));
  } else {
    out.add_string(event::kName, slice.own_name.data(), slice.own_name.size());
  }
  out.add_string(event::kCategories, slice.category.data(), slice.category.size());
  for (const PerfettoNote& note : slice.notes) {
    AddNote(note, out);
  }
  for (const uint64_t flow : slice.flows_out) {
    out.add_fixed64(event::kFlowIds, flow);
  }
  if (slice.flow_in != 0) {
    out.add_fixed64(event::kTerminatingFlowIds, slice.flow_in);
  }
  PutPacket(slice.ts_ns, true, event_);
}

void PerfettoPackets::End(uint64_t track, int64_t ts_ns) {
  event_.clear();
  pbf_writer out(event_);
  out.add_enum(event::kType, event::kSliceEnd);
  out.add_uint64(event::kTrackUuid, track);
  PutPacket(ts_ns, false, event_);
}

void PerfettoPackets::Count(uint64_t track, int64_t ts_ns, int64_t value) {
  event_.clear();
  pbf_writer out(event_);
  out.add_enum(event::kType, event::kCounter);
  out.add_uint64(event::kTrackUuid, track);
  out.add_int64(event::kCounterValue, value);
  PutPacket(ts_ns, false, event_);
}

void PerfettoPackets::Count(uint64_t track, int64_t ts_ns, double value) {
  event_.clear();
  pbf_writer out(event_);
  out.add_enum(event::kType, event::kCounter);
  out.add_uint64(event::kTrackUuid, track);
  out.add_double(event::kDoubleCounterValue, value);
  PutPacket(ts_ns, false, event_);
}

// The name, if it is new, is put into `interned_` for the next packet.
void PerfettoPackets::PutNewName(StringId name) {
  const uint32_t index = name.valid() ? name.value : 0;
  if (has_name_[index] != 0) {
    return;
  }
  has_name_[index] = 1;
  pbf_writer out(interned_);
  pbf_writer entry(out, interned::kEventNames);
  entry.add_uint64(interned::kId, NameId(name));
  entry.add_string(interned::kName, ToValidUtf8(strings_.Get(name)));
}

void PerfettoPackets::PutPacket(int64_t ts_ns, bool uses_names, const std::string& event) {
  packet_.clear();
  pbf_writer out(packet_);
  out.add_uint64(packet::kTimestamp,
                 static_cast<uint64_t>(ts_ns) + static_cast<uint64_t>(shift_ns_));
  out.add_uint32(packet::kSequenceId, sequence_);
  out.add_message(packet::kTrackEvent, event);
  if (!interned_.empty()) {
    out.add_message(packet::kInternedData, interned_);
    interned_.clear();
  }
  if (uses_names) {
    out.add_uint32(packet::kSequenceFlags, packet::kNeedsState);
  }
  pbf_writer(out_.text()).add_message(trace::kPacket, packet_);
  out_.EndRecord();
}

}  // namespace borescope::internal
