// Arrays that go to the device and back again and again, around kernels: they could stay there.
// Internal to summary/.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/verbs/summary/summary_tables.h"

namespace borescope::internal {

// Table round_trips of a rank: for each device and size of copies how often copies to the device
// are followed, after a kernel, by copies of the same size back to the host. Addresses are seldom
// recorded, so that equal sizes are taken for the same array. O(rows of the devices).
Table RoundTripsTable(const RankView& view, const Selected& selected);

// Of all devices.
struct RoundTrips {
  int64_t rounds = 0;     // of the size that makes most of them
  int64_t bytes = 0;      // this size
  int64_t all_bytes = 0;  // moved by such copies
  int64_t ns = 0;         // that these take

  // "2.05 GB to the device and back in 50 rounds, 102.40 GB in all"
  std::string Words() const;
};

// Missing unless such copies take most of the time of all copies.
std::optional<RoundTrips> FindRoundTrips(const SummaryTables& tables);

}  // namespace borescope::internal
