// The communication calls of one rank: operators that say what they communicate, the communication
// kernels they started, and communication kernels of which nothing more is known.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/measures/collective_kinds.h"

namespace borescope::internal {

struct CollectiveCall {
  CollectiveKind kind = CollectiveKind::kUnknown;
  uint32_t args = kNoDetail;  // row of Collectives, of the operator or else of the kernel
  HostId op;                  // the operator; invalid: the kernel's arguments, or none
  DeviceId kernel;            // the first of its communication kernels; invalid: none recorded
  int64_t kernels = 0;
  int64_t dur_ns = 0;  // of its kernels together, waiting for late ranks included

  bool timed() const { return kernel.valid(); }
};

// One call for each outermost operator with arguments, else for each communication kernel: those
// with kernels first, in the order of these rows, then the operators without. The kind is that of
// the arguments, else of the operators and annotations around the launch, else of the kernel's
// name. O(rows).
std::vector<CollectiveCall> CollectiveCalls(const RankView& view);

// What a communication kernel was given, as recorded by the operator that launched it, else by
// itself: a row of Collectives. kNoDetail of any other kernel, and where nothing was recorded.
uint32_t CollectiveArgsOf(const RankView& view, DeviceId kernel);

// The name of what asked for the call: the nearest operator or annotation around the launch that is
// no part of the communication layer and no step. Empty when there is none. Ranks that run one
// program have the same.
std::string_view CallSite(const RankView& view, DeviceId kernel);

}  // namespace borescope::internal
