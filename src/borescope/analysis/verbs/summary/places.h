// Where the strongest evidence of a finding is seen: the rank, and when. Internal to summary/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/verbs/summary/summary_tables.h"
#include "borescope/trace/tables.h"

namespace borescope::internal {

// kMissing: there is none, or it is about all.
struct FindingPlace {
  int64_t rank = kMissing;
  int64_t gpu = kMissing;
  int64_t step = kMissing;
  int64_t begin_ns = kMissing;  // on the clock of the file; both or none
  int64_t end_ns = kMissing;
};

// Table work_places of a rank: when the longest stretch of exposed communication and of exposed
// copies of each device was. O(rows of the devices).
Result<Table> WorkPlaces(const RankView& view, const Selected& selected);

// Of the cause in a column of idle_causes, the longest of all devices of which that time is not
// left out (left_out.h); of equal ones the first. `moved`: the rows of idle_causes whose longest
// gap is a cause of its own, and is passed over. REQUIRES: tables.left_out.
FindingPlace PlaceOfIdle(const SummaryTables& tables, std::string_view column,
                         std::span<const size_t> moved);
// The same of ranks whose whole processes were recorded, where head and tail are left out.
FindingPlace PlaceOfProcessEnd(const SummaryTables& tables, std::string_view column);
// On the device of a row of idle_causes.
FindingPlace PlaceOfIdleOn(const SummaryTables& tables, std::string_view column, size_t row);

// What tables work_places and few_events call their rows; of kernels there are only such of the
// latter.
inline constexpr std::string_view kExposedCommPlace = "exposed_comm";
inline constexpr std::string_view kExposedCopyPlace = "exposed_copy";
inline constexpr std::string_view kKernelPlace = "kernel";

// The longest of these.
FindingPlace PlaceOfWork(const SummaryTables& tables, std::string_view what);
// The longest launch of a kernel, on the devices where it takes a tenth of the kernel time or more.
FindingPlace PlaceOfKernel(const SummaryTables& tables, std::string_view name);

// The longest step of a rank.
FindingPlace PlaceOfStep(const SummaryTables& tables, int64_t rank, int64_t step);

// The wait for a rank that was longest, on the clock of that rank.
FindingPlace PlaceOfStraggler(const SummaryTables& tables, int64_t rank);

// "rank 0, GPU 1, +8.912ms to +9.443ms", with times as --begin and --end take them. Empty of no
// place.
std::string WordsOfPlace(const SummaryTables& tables, const FindingPlace& place);

}  // namespace borescope::internal
