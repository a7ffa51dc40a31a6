// Overlay: what an analysis draws on top of its trace: counter tracks, events of its own on
// separate tracks, and arrows between recorded events. The recorded events themselves are
// unchanged, except that some are marked and some are left out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace borescope::internal {

// A line of numbers over time.
struct OverlayCounter {
  struct Point {
    int64_t ts_ns = 0;
    double value = 0;  // finite; holds until the next point
  };

  int64_t pid = 0;     // the recorded process the track is shown under; for a stream, its device
  std::string name;    // "Queue length, stream 7"; distinct within a pid
  std::string series;  // what the value is called: "launches", "GB/s"
  std::vector<Point> points;  // by time
};

// A span on a track of its own.
struct OverlaySpan {
  int64_t ts_ns = 0;
  int64_t dur_ns = 0;
  uint32_t name = 0;  // index into OverlayTrack::names
};

struct OverlayTrack {
  int64_t pid = 0;
  std::string name;                // of the track: "Pattern 1 of aten::linear"
  std::vector<std::string> names;  // of the spans
  std::vector<OverlaySpan> spans;  // by time, not overlapping unless nested
};

// An arrow from one recorded event to another: a pair of flow events, which viewers attach to the
// events around their times.
struct OverlayArrow {
  struct End {
    int64_t pid = 0;  // of the recorded thread or stream
    int64_t tid = 0;
    int64_t ts_ns = 0;
  };

  End from;
  End to;
  uint32_t type = 0;     // index into OverlayArrows::types
  double weight_us = 0;  // time that the arrow represents; finite
  bool critical = false;
};

struct OverlayArrows {
  std::string name;                // of all of them, and their category: "critical_path"
  std::vector<std::string> types;  // the kinds of arrows
  std::vector<OverlayArrow> arrows;
};

// Recorded events to mark, by their positions (kNoPosition).
struct OverlayMarks {
  std::vector<uint32_t> critical;  // get the argument "critical": 1; ascending, distinct
  // Leaves out the complete events (ph X) that are neither critical nor of these categories. Other
  // events always stay.
  bool only_critical = false;
  std::vector<std::string> kept_categories;

  bool empty() const { return critical.empty() && !only_critical; }
};

struct Overlay {
  std::vector<OverlayCounter> counters;
  std::vector<OverlayTrack> tracks;
  OverlayArrows arrows;
  OverlayMarks marks;
};

}  // namespace borescope::internal
