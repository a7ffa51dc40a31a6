// Where in its programs a run starts and stops recording.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "borescope/base/result.h"
#include "borescope/record.h"

namespace borescope::internal {

struct RunRules {
  RecordRule start = {};
  RecordRule stop = {};
  // How often ranges and steps start, in each process; 0: whenever they come.
  uint32_t repeat = 1;

  bool starts() const { return start.point != RecordPoint::kNone; }
};

// The rules with what is meant where nothing is said: a range is recorded until its end, and calls
// that start come with calls that stop. `is_timed`: recording stops after a time. kInvalidArgument
// for rules that contradict each other.
Result<RunRules> CompleteRules(const RunRules& rules, bool is_timed);

// For the library, which knows these words; one for each part of the rules.
std::vector<std::string> WordsOf(const RunRules& rules);

// kInvalidArgument, naming `option`, for a name that is empty or longer than the library takes.
Result<void> CheckName(const std::string& option, const std::string& name);

// A name as the library's options hold it, whatever is in it.
std::string EncodedName(const std::string& name);

// The result of a run's rules, in words: why nothing was recorded, or why it did not stop.

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
