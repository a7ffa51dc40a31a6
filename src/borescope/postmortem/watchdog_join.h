// What watchdogs of ranks without a dump say: whoever waited, as the others did, had not died
// before.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "borescope/postmortem/findings.h"
#include "borescope/postmortem/logs/job_logs.h"

namespace borescope::internal {

// Corrects findings in `sources` that others wait for a rank without a dump, and the rows about it
// in hang_culprits, where the rank's own watchdog reported that it waited:
// - in the same operation: it issued it. If that holds of all such ranks, and nobody finished the
//   operation, all issued it and none finished it, and nothing says who is at fault; else the
//   other such ranks are what is left.
// - in another one: it was alive then, and only its dump is missing.
// Pure of everything but its arguments; safe from any thread.
void JoinWatchdogs(std::span<const JobEvent> events, std::vector<SourceFindings>& sources);

// An operation as the tables have it.
struct KnownOperation {
  std::string name;
  std::string group;  // its description, or else its name; empty: not known
  std::optional<int64_t> seq;
};

// Whether a watchdog's report is about that operation. The group is compared if both name one: the
// watchdog writes "0(default_pg)".
bool NamesOperation(const TimeoutText& timeout, const KnownOperation& operation);

}  // namespace borescope::internal
