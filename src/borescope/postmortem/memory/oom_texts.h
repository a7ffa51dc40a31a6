// The sentences about a request that failed for want of memory. Pure functions: safe from any
// thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "borescope/postmortem/memory/address_map.h"
#include "borescope/postmortem/memory/fixes.h"
#include "borescope/postmortem/memory/oom.h"

namespace borescope::internal::postmortem {

// What the first of its causes is, in one of a fixed list of sentences.
std::string_view OomSentence(const OomReport& report);
// The amounts. `line`: of the program, that asked; may be empty.
std::string OomEvidence(const OomReport& report, const std::string& line, int64_t device);
// Whose blocks keep segments in which free memory is too small for the request: the line with most
// of it, which becomes `line`. `rows` are those of the segments at the failure. Empty, and `line`
// as it was, where there is none.
std::string KeptBy(std::span<const MemorySegmentRow> rows, std::string& line);
// The first changes with which the request is served; what there is to do where none is.
std::string OomHelp(const MemoryFixes& fixes);

}  // namespace borescope::internal::postmortem
