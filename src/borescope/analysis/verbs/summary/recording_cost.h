// What the recording itself costs the devices of a run (measures/true_time): time in which they
// wait for a host that is slow as it is recorded. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "borescope/analysis/verbs/summary/summary_tables.h"

namespace borescope::internal {

// What part of the cost is time in which the host is late in long gaps, in short ones, and the
// latency of launches; together 1.
struct CostParts {
  double long_late = 1;
  double short_late = 0;
  double latency = 0;
};

struct RecordingCost {
  // Of all devices with an estimate: how much shorter their steps are without the profiler, as
  // estimated, at least and at most. All 0: recording costs little, or how much is not known.
  int64_t estimate_ns = 0;
  int64_t least_ns = 0;
  int64_t most_ns = 0;
  CostParts estimate_parts;
  CostParts most_parts;
  bool is_given = false;  // follows from steps that the user measured

  bool is_known() const { return most_ns > 0; }
};

RecordingCost FindRecordingCost(const SummaryTables& tables);

// A share of time as recorded, and without the profiler.
struct TrueShare {
  double recorded = 0;
  double estimate = 0;
  double low = 0;
  double high = 0;
};

// Of `part_ns` of `whole_ns`, which has all of the cost; `cost_part` of it, from 0 to 1, is in the
// part.
TrueShare ShareWithoutRecording(const RecordingCost& cost, int64_t part_ns, int64_t whole_ns,
                                double cost_part);

// ", about 38 % (32 to 46 %) without the profiler"; of a given step ", 38 % without the profiler";
// nothing where the cost is not known.
std::string WordsOfTrueShare(const RecordingCost& cost, const TrueShare& share);

}  // namespace borescope::internal
