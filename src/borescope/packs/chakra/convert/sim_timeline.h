// Logs of a simulator (ASTRA-sim) as a timeline: lines that issue a node, and lines that call back
// when it is done.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "borescope/base/result.h"
#include "borescope/output/sink/sink.h"

namespace borescope::internal {

struct TimelineOptions {
  uint64_t npus = 0;
  uint64_t frequency_mhz = 0;  // of the clock whose cycles the log counts; above 0
  // Times in milliseconds, as chakra_timeline_visualizer writes them, although viewers read
  // microseconds.
  bool as_reference = false;
};

struct TimelineCounts {
  uint64_t spans = 0;
  uint64_t unfinished = 0;  // nodes that were issued and never done: not drawn
  uint64_t unissued = 0;    // nodes that were done and never issued: not drawn
};

// Writes a Chrome trace: a process for every device, a thread for every class of node. kCorrupt
// names the line that cannot be read.
Result<TimelineCounts> WriteSimTimeline(std::string_view log, const TimelineOptions& options,
                                        Sink& sink);

}  // namespace borescope::internal
