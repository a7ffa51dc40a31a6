// The ranges of CUPTI_ACTIVITY_KIND_MARKER: a row where one starts and a row where it ends, tied by
// a number, in any order.
#pragma once

#include <unordered_map>

#include "borescope/ingest/cupti_trace.h"

namespace borescope {

class NvprofMarkers {
 public:
  NvprofMarkers(const DatabaseStrings& strings, CuptiTrace& trace)
      : strings_(strings), trace_(trace) {}

  // Adds all rows of the table.
  Result<void> Read(const DatabaseInput& input);

 private:
  struct Start {
    int64_t ts_ns = kMissing;
    int64_t name = kMissing;
    int64_t domain = kMissing;
    TrackId track;
  };
  struct Range {
    Start start;
    int64_t end_ns = kMissing;
  };

  void Add(TableRows& row);
  TrackId TrackOf(TableRows& row);
  void AddRange(const Start& start, int64_t end_ns);
  void AddOpenRanges();

  const DatabaseStrings& strings_;
  CuptiTrace& trace_;
  std::unordered_map<int64_t, Range> open_;  // by number; one half is known
};

}  // namespace borescope
