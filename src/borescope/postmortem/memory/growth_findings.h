// What grows, in sentences: as a finding of its own, and as the cause of a request that failed.
// Pure functions: safe from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "borescope/postmortem/findings.h"
#include "borescope/postmortem/memory/fixes.h"
#include "borescope/postmortem/memory/growth.h"
#include "borescope/postmortem/memory/live.h"

namespace borescope::internal::postmortem {

// The lines that grow in one way, together.
struct GrowthSum {
  std::vector<MemoryGrowth> lines;  // one of each line, most bytes a step first
  uint64_t bytes_per_step = 0;
  uint64_t last_bytes = 0;  // in the last step
  uint64_t bytes = 0;       // in all of their steps
  // Of that, what is there. Of a recording that lost its beginning what these lines hold in blocks
  // as large as those that came in its steps.
  uint64_t held_bytes = 0;
  bool has_backward = false;  // a backward pass was recorded

  const MemoryGrowth& first() const { return lines.front(); }
  bool is_of_peaks() const { return first().kind == GrowthKind::kPeak; }
  bool IsAllForward() const;
};

// What is a hundredth of the peak or more; nothing where there is none. Lines that hold more and
// more come before those of which steps need more. `live`: what there is at the end, or as a
// request failed.
std::vector<GrowthSum> SumGrowth(const DeviceMemory& device, const Replay& replay,
                                 const MemorySites& sites, std::span<const MemoryGrowth> growth,
                                 std::span<const LiveMemory> live);

// The finding where no request failed of it. Ranks are the caller's to fill in.
JobFinding GrowthFinding(const GrowthSum& sum, const MemorySites& sites);

// Whether growth is why a request failed: it is a tenth or more of what the process could have, not
// the model itself, and the request would have been served without it, as far as that was tried.
bool IsCauseOf(const GrowthSum& sum, uint64_t could_have, const MemoryFixes& fixes);
// The sentences of that. `could_have`: what the process could have in all.
std::string_view FailureSentence(const GrowthSum& sum);
std::string FailureEvidence(const GrowthSum& sum, const MemorySites& sites, uint64_t could_have);
std::string FailureHelp(const GrowthSum& sum, const MemoryFixes& fixes);

}  // namespace borescope::internal::postmortem
