// Diagnostic: what was irregular in an input, counted by kind.
#pragma once

#include <cstdint>
#include <string>

namespace borescope {

enum class Severity : uint8_t { kInfo, kWarning, kError };

// One kind of irregularity of one input: what was repaired, dropped or could not be linked.
struct Diagnostic {
  Severity severity = Severity::kInfo;
  std::string code;  // "unlinked-device-event"
  uint64_t count = 0;
  std::string file;   // as it was named
  std::string first;  // place and description of the first case; may be empty
  std::string help;   // what it means and what to do
};

}  // namespace borescope
