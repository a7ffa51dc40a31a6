// What the watchdogs of NCCL in several ranks say together: each names the operation that did not
// end, and from where these differ follows who held up the others.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/postmortem/findings.h"
#include "borescope/postmortem/logs/job_logs.h"

namespace borescope::internal {

// Ranks of one process group that are at fault by what their watchdogs say.
struct WatchdogCulprits {
  std::string_view finding;  // the sentence of the hang analysis of dumps
  std::vector<int32_t> ranks;
  std::string evidence;
  std::string_view help;
  Certainty certainty = Certainty::kLikely;
};

// Compares events of kTimeout and kProgress of each process group. In this order:
// - ranks of which the timed-out operation has a lower number than that of others: these completed
//   it, so that its device did not. Only of operations that no member leaves before all came.
// - ranks that issued fewer operations than others wait in, and completed all of them
// - of one number, the ranks that called another operation, or one of another size where sizes have
//   to be equal; the majority is right.
// Then what other texts of PyTorch say: exceptions of TORCH_DISTRIBUTED_DEBUG=DETAIL, which name
// what two ranks called (of only two that differ either may be wrong: kCannotTell), and the report
// of TORCH_NCCL_DESYNC_DEBUG=1. Nothing where all say the same, where there is no majority, or
// where the group is not known. Pure; O(events x log).
std::optional<WatchdogCulprits> CompareWatchdogs(std::span<const JobEvent> events);

}  // namespace borescope::internal
