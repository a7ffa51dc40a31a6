// Where in its programs a run starts and stops recording.
#pragma once

#include <cstdint>
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

}  // namespace borescope::internal
