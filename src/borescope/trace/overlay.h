// Overlay: what an analysis draws on top of the trace it was made from: counter tracks, and events
// of its own on tracks beside the recorded ones. The recorded events themselves stay as they are.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace borescope {

// A line of numbers over time.
struct OverlayCounter {
  struct Point {
    int64_t ts_ns = 0;
    double value = 0;  // finite; holds until the next point
  };

  int64_t pid = 0;     // the recorded process the track is shown under: of a stream, its device
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

struct Overlay {
  std::vector<OverlayCounter> counters;
  std::vector<OverlayTrack> tracks;
};

}  // namespace borescope
