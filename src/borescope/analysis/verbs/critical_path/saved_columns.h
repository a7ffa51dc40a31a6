// The file of a saved graph: a magic word, a version, and columns one after another, all numbers
// little-endian. A column is the number of its cells (8 bytes), the cells, and a checksum of both
// (8 bytes). Internal to critical_path/.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "borescope/analysis/measures/event_graph/event_graph.h"
#include "borescope/trace/trace.h"

namespace borescope::internal {

static_assert(std::endian::native == std::endian::little, "saved graphs are little-endian");

inline constexpr std::string_view kSavedMagic = "borescope graph\n";
// To be raised whenever the columns, or what they mean, change.
inline constexpr uint32_t kSavedVersion = 3;

// Numbers that there is one of; kMissing where it is not known.
enum class SavedNumber : uint8_t {
  kRank,
  kWorldSize,
  kBaseNs,
  kBeginNs,
  kEndNs,
  kVendor,
  kHasRecords,
  kBackward,
  kUnresolved,
  kCount
};

inline constexpr size_t kClockNumbers = 8;

// What is not held in columns of its own in memory.
struct SavedExtras {
  std::vector<int64_t> numbers;  // by SavedNumber
  std::vector<char> format;      // Meta::format
  // The members of DeviceClocks::clocks, kClockNumbers for each, in the order of their declaration.
  std::vector<int64_t> clocks;
  // Names of events, which are numbered from 1 on here; 0 is the empty name.
  std::vector<char> texts;
  std::vector<uint32_t> text_sizes;
  std::vector<StringId> host_names;
  std::vector<StringId> device_names;
  std::vector<uint32_t> track_rows;  // how many events
  // The columns of HostFacts::threads and SyncEdges::edges.
  std::vector<TrackId> thread_tracks;
  std::vector<char> thread_is_main;
  std::vector<SyncKind> sync_kinds;
  std::vector<char> sync_inferred;
  std::vector<DeviceId> sync_sources;
  std::vector<HostId> sync_calls;
  std::vector<DeviceId> sync_targets;
};

// Calls visit(what, column) for every column of a file, in order; `what` names its cells.
template <class Visit, class Extras, class Trace, class Launches, class Recording>
void ForEachSavedColumn(Extras& extras, Trace& trace, Launches& launch_of, Recording& recording,
                        const Visit& visit) {
  visit("number", extras.numbers);
  visit("format", extras.format);
  visit("clock", extras.clocks);
  visit("text", extras.texts);
  visit("text size", extras.text_sizes);
  visit("track kind", trace.tracks.kind);
  visit("track process", trace.tracks.pid);
  visit("track number", trace.tracks.tid);
  visit("track rows", extras.track_rows);
  visit("host time", trace.host.ts_ns);
  visit("host duration", trace.host.dur_ns);
  visit("host name", extras.host_names);
  visit("host kind", trace.host.kind);
  visit("host position", trace.host.position);
  visit("host mark", recording.facts.marks);
  visit("device time", trace.device.ts_ns);
  visit("device duration", trace.device.dur_ns);
  visit("device name", extras.device_names);
  visit("device kind", trace.device.kind);
  visit("device position", trace.device.position);
  visit("launch", launch_of);
  visit("thread track", extras.thread_tracks);
  visit("thread kind", extras.thread_is_main);
  visit("first node", recording.first_node);
  visit("end node", recording.end_node);
  visit("start of work", recording.start_of_work);
  visit("node time", recording.graph.ts_ns);
  visit("node event", recording.graph.event);
  visit("node side", recording.graph.side);
  visit("first edge", recording.graph.first_edge);
  visit("edge target", recording.graph.target);
  visit("edge weight", recording.graph.weight_ns);
  visit("edge kind", recording.graph.kind);
  visit("wait kind", extras.sync_kinds);
  visit("wait certainty", extras.sync_inferred);
  visit("wait source", extras.sync_sources);
  visit("wait call", extras.sync_calls);
  visit("wait target", extras.sync_targets);
  visit("wait weight", recording.sync_weight_ns);
  visit("inherited work", recording.inherited);
}

// A checksum of the cells of a column. It finds damage, not forgery.
inline uint64_t SavedChecksum(const char* bytes, size_t size) {
  constexpr uint64_t kFactor = 0x9e3779b97f4a7c15ULL;
  constexpr unsigned kShift = 29;
  uint64_t sum = size * kFactor;
  for (size_t at = 0; at < size; at += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, bytes + at, std::min(sizeof word, size - at));
    sum = (sum ^ word) * kFactor;
    sum ^= sum >> kShift;
  }
  return sum;
}

}  // namespace borescope::internal
