// What `borescope summary` works with: the tables of the other analyses for all ranks, and the
// findings read from them. Every number of a finding stands in one of these tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/params.h"
#include "borescope/analysis/core/row.h"
#include "borescope/table/table.h"
#include "borescope/trace/tables.h"

namespace borescope::internal {

struct SummaryTables {
  Table overview;  // one row a rank: devices, events, steps, span, short kernels
  Table breakdown;
  Table spread;      // of the breakdown over the ranks; empty for one rank
  Table stragglers;  // empty where no collective of several ranks was found
  Table idle_causes;
  Table kernels;  // all kernels by time
  Table copies;   // memcpys and memsets by time
  Table ops;      // all operators by device time
  Table memory_bound;
  Table steps;
  Table step_spread;    // one row a rank: fastest, median, slowest step
  Table quality;        // of whole recordings, whatever was selected
  Table named_causes;   // see named_causes.h
  Table true_time;      // of ranks where recording costs time (measures/true_time)
  Table cost_of_gaps;   // see CostOfGapsTable (measures/true_time)
  Table prices;         // of --price, else empty
  Table idle_places;    // of each device and cause: when it was longest (idle_causes.h)
  Table work_places;    // when work was longest (evidence.h)
  Table few_events;     // which events make up sums (evidence.h)
  Table round_trips;    // copies to the device and back (evidence.h)
  Table phases;         // inference_phases; empty where no inference was found
  Table longest_waits;  // for ranks; empty without stragglers
  std::vector<RunFault> run_faults;
  bool selects = false;     // a part was asked for
  bool is_pytorch = false;  // PyTorch ran on some rank; else its options are no advice
  // Ranks whose whole processes were recorded, ascending: see IsOfWholeProcess.
  std::vector<int64_t> process_ranks;
  // Of what time of devices nothing is said, a row for each of idle_causes: see evidence.h.
  Table left_out = {};
};

// Column of the overview that only the verdict reads: when the recording of the rank begins.
inline constexpr std::string_view kRecordingBegin = "recording_begin_ns";

// The same: pieces of device work whose launch is known, and those of them that ran in graphs.
inline constexpr std::string_view kLaunchedWork = "launched_work";
inline constexpr std::string_view kGraphWork = "graph_work";

// Kernels shorter than this cost about as much to launch as to run.
inline constexpr int64_t kShortKernelNs = 10'000;

// How much of the time devices work at the speed of their memory, as a share of the observed span.
// Missing where too little of the kernel time is modelled (coverage.h), or it is hardly any.
std::optional<double> MemoryBoundShare(const SummaryTables& tables);

// Table verdict: finding, severity, evidence, value, unit, help, and where its strongest evidence
// is seen (evidence.h); most important first.
Table Verdict(const SummaryTables& tables);

// Cells of tables that may be missing. Internal to summary/.

// kMissing for a cell that is. REQUIRES: the column exists and holds integers.
inline int64_t CellOrMissing(const Table& table, std::string_view column, size_t row) {
  return table.Find(column)->IsMissing(row) ? kMissing : Ints(table, column)[row];
}

}  // namespace borescope::internal
