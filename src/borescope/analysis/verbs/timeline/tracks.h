// The tracks of one rank with their events: which rows of which columns, by depth and time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/verbs/timeline/timeline_data.h"

namespace borescope::internal {

// Rows of a track: events that overlap are drawn below each other, those inside of others deeper.

// Finds the depth of one event after the other. No two of one depth overlap, and an event is deeper
// than those that cover it; where it only overlaps others, it takes the first depth that is free.
class DepthFinder {
 public:
  // REQUIRES: events come by begin, longer ones first; begin_ns <= end_ns. O(1), but for a bounded
  // search where events are not nested.
  uint32_t Place(int64_t begin_ns, int64_t end_ns) {
    while (open_ > 0 && ends_[open_ - 1] <= begin_ns) {
      --open_;
    }
    const bool is_nested = open_ == 0 || ends_[open_ - 1] >= end_ns;
    const size_t depth = is_nested ? open_ : FirstFree(begin_ns, end_ns);
    if (depth == ends_.size()) {
      ends_.push_back(end_ns);
    } else {
      ends_[depth] = end_ns;
    }
    open_ = depth < open_ ? open_ : depth + 1;
    return static_cast<uint32_t>(depth);
  }

  size_t depths() const { return ends_.size(); }

 private:
  // How far it searches outward: of deeper tangles events take a depth of their own.
  static constexpr size_t kMostSearched = 256;

  // The first depth that is free inside of the innermost event that covers this one.
  size_t FirstFree(int64_t begin_ns, int64_t end_ns) const {
    size_t free = open_;
    const size_t last = open_ < kMostSearched ? 0 : open_ - kMostSearched;
    for (size_t depth = open_; depth-- > last;) {
      if (ends_[depth] <= begin_ns) {
        free = depth;
      } else if (ends_[depth] >= end_ns) {
        break;
      }
    }
    return free;
  }

  std::vector<int64_t> ends_;  // per depth, of the last event
  size_t open_ = 0;            // depths from here on are free
};

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

// The parts of a recording that are drawn as they were recorded.

// All of a short recording. Else first the places that findings may name: where each kind of idle
// time, exposed communication, exposed copies and the kernels with the most time are longest; and
// the slowest step, which is not the first of three or more, or else the stretch with the most
// device work, or where there is none with the most work of threads; each with a tenth more on both
// sides, the shortest first, but before them those of DrawFirst; then all. Times count
// from the begin of the recording. O(events), and what idle time takes.
Result<std::vector<DrawnWindow>> ChooseWindows(const RankView& view, const Selected& selected,
                                               const Params& params, const RankTracks& tracks);

// Asks for places, on the clock of the file, that are drawn exactly before all others: where
// findings about several ranks lead, which no rank can know while it is mapped.
void DrawFirst(std::span<const Interval> places, Params& params);

}  // namespace borescope::internal
