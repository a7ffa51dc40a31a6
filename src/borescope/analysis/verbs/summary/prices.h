// What following the advice of a finding would bring, by replay (docs/how-it-works/whatif.md).
// Internal to summary/.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "borescope/analysis/core/analysis_spec.h"

namespace borescope::internal {

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
std::string PriceWords(const Table& prices, Lever lever, std::string_view kernel);

}  // namespace borescope::internal
