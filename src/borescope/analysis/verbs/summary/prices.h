// What recording costs, and what following the advice of a finding would bring, by replay
// (docs/how-it-works/whatif.md).
// Internal to summary/.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/verbs/summary/summary_tables.h"

namespace borescope::internal {

// What the recording itself costs the devices of a run (measures/true_time): time in which they
// wait for a host that is slow as it is recorded. Pure.

// What part of the cost is time in which the host is late in long gaps, in short ones, and the
// latency of launches; together 1.
struct CostParts {
  double long_late = 1;
  double short_late = 0;
  double latency = 0;
};

struct RecordingCost {
  // How much shorter the steps of all devices with an estimate are without the profiler, as
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

// The share of `part_ns` in `whole_ns`. All of the cost is in the whole, and `cost_part` of it,
// from 0 to 1, in the part.
TrueShare ShareWithoutRecording(const RecordingCost& cost, int64_t part_ns, int64_t whole_ns,
                                double cost_part);

// ", about 38 % (32 to 46 %) without the profiler"; of a given step ", 38 % without the profiler";
// nothing where the cost is not known.
std::string WordsOfTrueShare(const RecordingCost& cost, const TrueShare& share);

// What a finding advises, as far as a replay can make the change.
enum class Lever : uint8_t {
  kNone,
  kHost,          // half of the host's time
  kWaits,         // no call waits for a device
  kData,          // data loaded in the background, ahead of its use
  kLaunches,      // launch calls in half their time
  kGraphs,        // what a step launches as graphs; without steps kLaunches
  kOptimizer,     // what the optimizer launches as graphs: as if all parameters were one
  kNoAllocation,  // calls that allocate or free memory take no time
  kComm,          // communication fully hidden
  kCopies,        // no copies, nor calls that copy
  kKernel,        // the kernel with most time in half of it
  kTensorCores,   // products of 32-bit numbers on tensor cores: a bound, no price
};

// A row for each lever that the rank has; none without --price.
Result<Table> PriceTable(const RankView& view, const Params& params);

// " By replay, ... would save 12.3 % of a step (11.9 to 12.7 %).", with what limits it; of several
// ranks the range. Empty where the lever has no row; of kKernel only rows of `kernel` count.
std::string PriceWords(const std::vector<PriceRow>& prices, Lever lever, std::string_view kernel);

}  // namespace borescope::internal
