// How long calls that communicate last beside the fastest call of the same size. A call lasts while
// it waits for other ranks, too: what it takes longer than the fastest of its kind and size is
// waiting, or a network that is disturbed. For collectives that several ranks recorded `stragglers`
// knows the waiting exactly; this is for point-to-point transfers and for ranks that are not here.
#pragma once

#include <cstdint>
#include <string_view>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/analysis/verbs/summary/summary_tables.h"
#include "borescope/table/table.h"

namespace borescope::internal {

// Table call_times of a rank: its selected calls that communicate, by what was asked for, group,
// kernel and size. O(rows).
Table CallTimesTable(const RankView& view, const Selected& selected);

// Sums over calls of all ranks.
struct CallSums {
  int64_t calls = 0;
  int64_t all_ns = 0;
  // What they would take if each were as fast as the fastest of its size on any rank; calls whose
  // size was not recorded count as they are.
  int64_t at_best_ns = 0;
  // Of the size whose calls take most of the time: the fastest and the slowest call.
  int64_t fastest_ns = 0;
  int64_t slowest_ns = 0;

  // What they take longer than at best.
  int64_t excess_ns() const;
  // Whether there are enough calls to say how long a transfer takes, and some that take much
  // longer.
  bool HasSlowCalls() const;
  // Whether most of their time is waiting, as far as lengths can show it: the fastest calls show
  // how long the transfer takes, and most of the time is beyond that.
  bool IsMostlyExcess() const;
};

enum class CallSort : uint8_t {
  kCollective,    // every rank of the group takes part
  kPointToPoint,  // sends and receives
};

// REQUIRES: tables.call_times.
CallSums SumCalls(const SummaryTables& tables, CallSort sort);

// How many ranks the job has, as recorded; 0: it was not.
int64_t WorldSize(const SummaryTables& tables);

// Whether most of the time in calls that communicate is in sends and receives.
bool IsMostlyPointToPoint(const SummaryTables& tables);

// What of the time inside of collectives is waiting for the last rank, by the lengths of calls that
// several ranks recorded.
struct CollectiveWaiting {
  int64_t all_ns = 0;      // inside of collectives, of all ranks
  int64_t waiting_ns = 0;  // of that
};

CollectiveWaiting WaitingInCollectives(const SummaryTables& tables);

}  // namespace borescope::internal
