// The tracks of one rank with their events: which rows of which columns, by depth and time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/verbs/timeline/timeline_data.h"

namespace borescope::internal {

enum class EventSide : uint8_t { kHost, kDevice, kPath };

// The columns that events of one side are in: not copied.
struct EventColumns {
  const int64_t* begin_ns = nullptr;  // on the clock of the file
  const int64_t* dur_ns = nullptr;
  const StringId* name = nullptr;  // of the trace, or kBetweenEvents
};

// The critical path as columns of events: its steps of some length.
struct PathEvents {
  std::vector<int64_t> begin_ns;
  std::vector<int64_t> dur_ns;
  std::vector<StringId> name;
  std::vector<Tone> tone;
  std::vector<std::string_view> bound_by;
  std::vector<uint32_t> event;  // row on its side; kNoEvent: of none
  std::vector<char> is_host;
};

struct EventTrack {
  DrawnTrack drawn;
  EventSide side = EventSide::kHost;
  TrackId source = {};                     // of threads and streams
  std::vector<uint32_t> rows = {};         // by depth, then time
  std::vector<uint32_t> depth_begin = {};  // depths + 1
};

// Points of a counter, by time.
struct CounterTrack {
  DrawnTrack drawn;
  std::vector<int64_t> ts_ns;
  std::vector<double> value;
};

struct RankTracks {
  std::vector<EventTrack> events;  // in the order of drawing; counters follow
  std::vector<CounterTrack> counters;
  PathEvents path;
  std::vector<int64_t> track_of_source;  // per track of the trace: its number here, or kMissing

  EventColumns ColumnsOf(const Trace& trace, EventSide side) const;
};

// The name of a stretch of the path without an event; its StringId is the one after the last text
// of the trace.
inline constexpr std::string_view kBetweenEvents = "(between events)";
inline StringId BetweenEvents(const Trace& trace) {
  return StringId{static_cast<uint32_t>(trace.strings().size())};
}

// O(rows log rows).
RankTracks FindTracks(const RankView& view, const Selected& selected, const Params& params);

// The steps of the critical path in the selected time.
PathEvents FindPath(const RankView& view, const Selected& selected, const Params& params);

// Memory, queues and what a monitor of the device sampled, as far as recorded.
std::vector<CounterTrack> FindCounters(const RankView& view, const Selected& selected);

// What an event is drawn as.
Tone ToneOf(const RankView& view, const PathEvents& path, EventSide side, uint32_t row);

}  // namespace borescope::internal
