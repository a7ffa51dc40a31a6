// The result of a run's rules, in words: why nothing was recorded, or why it did not stop.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "borescope/recorder/run_rules.h"

namespace borescope::internal {

// What the programs of a run said on its page.
struct RuleFacts {
  bool has_started = false;            // whoever started
  bool is_recording = false;           // now, which is at the program's end
  std::vector<std::string> seen = {};  // names of other ranges and marks, each once
  bool has_more = false;               // there were more of them
  std::optional<uint64_t> last_step = {};
};

// Why recording never started; empty where it did. `is_by_clock`: it was to start after a time.
std::string WhyNeverStarted(const RunRules& rules, const RuleFacts& facts, bool is_by_clock);

// Why a rule that was to stop it did not; empty where it did, or where there is none.
std::string WhyNeverStopped(const RunRules& rules, const RuleFacts& facts);

}  // namespace borescope::internal
