// Whether one to three of many events make up most of a sum: then these are what happened, and no
// pattern of the program. Internal to summary/.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/measures/time/covered_time.h"
#include "borescope/analysis/verbs/summary/places.h"
#include "borescope/analysis/verbs/summary/summary_tables.h"

namespace borescope::internal {

// Table few_events of a rank: for each device and sum that the verdict speaks of its largest events
// beside all of them, and where the largest is. O(rows of the devices).
Result<Table> FewEventsTable(const RankView& view, const Selected& selected,
                             const Selection& selection);

// What the table calls its sums: kExposedCommPlace, kExposedCopyPlace and kKernelPlace (places.h),
// or the column of idle_causes.

// Of all devices on which few events make up most of a sum.
struct FewOfMany {
  int64_t events = 0;     // on each of these devices, the most of any
  int64_t of_events = 0;  // on the device with the largest event
  int64_t devices = 0;
  int64_t ns = 0;      // of few events, on these devices
  int64_t all_ns = 0;  // on all devices
  int64_t largest_ns = 0;
  // Of the largest event.
  std::string name;  // empty: it has none
  int64_t stream = kMissing;
  bool is_first = false;  // of the events of its sum, by time
  FindingPlace place = {};

  // "1 of 64 collectives takes 17.5 s, rank 0, GPU 0, +1.000ms to +17501.000ms, stream 7:
  // all_reduce". `what`: the events.
  std::string Words(const SummaryTables& tables, std::string_view what) const;
};

// Missing unless few events make up more than half of the sum over all devices. `name`: of a
// kernel.
std::optional<FewOfMany> FindFewOfMany(const SummaryTables& tables, std::string_view what,
                                       std::string_view name = {});

// Steps that are much longer than the others of their rank.
struct LongSteps {
  size_t steps = 0;
  size_t of_steps = 0;
  double share = 0;  // of the time that all steps take beyond the median
};
std::optional<LongSteps> FindLongSteps(const SummaryTables& tables, int64_t rank);

}  // namespace borescope::internal
