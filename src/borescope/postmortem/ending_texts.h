// Sentences about how ranks ended, and what to do about it: general for each kind, and special for
// the texts that say more.
#pragma once

#include <string>
#include <string_view>

#include "borescope/postmortem/failures.h"

namespace borescope::internal {

struct EndingTexts {
  std::string_view finding;
  std::string_view help;
};
EndingTexts TextsOf(Ending ending);

// Whether a request failed although the device had enough: the process may not have more.
bool IsOwnLimit(const JobEvent& event);
// "2.1 GB requested; 1.3 GB of 85 GB free on the device; ..."
std::string AmountsOf(const postmortem::OomMessage& said);
// What to do about this end.
std::string HelpOf(const Death& death);
// The same where all ranks of the job ended so.
std::string HelpForAll(const Death& death);
// Whether the text of an exception is that of a fault of the hardware, which CUDA reports.
bool IsHardwareText(std::string_view text);

// What the kernel reports of a machine.
struct MachineTexts {
  std::string_view finding;
  std::string_view help;
  bool is_error = false;
};
MachineTexts TextsOf(MachineFault fault);

}  // namespace borescope::internal
