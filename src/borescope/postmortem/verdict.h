// One verdict from all that a job left: what its logs say explains, confirms or follows from what
// its dumps and snapshots show. docs/use/postmortem-logs.md has the rules.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "borescope/postmortem/findings.h"
#include "borescope/postmortem/logs/job_logs.h"

namespace borescope::internal {

// Adds the findings and the tables of `logs` to `sources`, which are those of all other files, and
// joins the two:
// - A rank that failed explains that others wait for it, that it issued no more and that its device
//   stopped: such a finding becomes evidence of the failure.
// - Out of memory in a log is evidence of what a snapshot says about that rank.
// - Errors of a GPU, timeouts of watchdogs and stacks are evidence of findings of the same rank.
// - A node that failed explains that its ranks left no dump. It, and nodes that another job took,
//   come before a hang that is only assumed.
// - A rank without a dump whose own watchdog reported that it waited had not died before.
// - A failure that came later than the hang, and of another rank, is none of its causes.
// - Of several failures the first is the cause; the others may follow from it where times, a
//   launcher or the order of one log show that they came later, and are said to be unordered
//   where none does.
void JoinLogs(LogPart logs, std::vector<SourceFindings>& sources);

}  // namespace borescope::internal
