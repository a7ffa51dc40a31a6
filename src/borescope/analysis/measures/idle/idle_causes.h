// Why a GPU idles: every gap between device work and the time before the first is divided among
// causes (idle_division.h); the time after the last device work of the recording is tail. All add
// up to the idle time of the breakdown, exactly, in the same windows.
//
// Gaps are those of `gaps`: work without length ends one, too, and of several works that begin
// where a gap ends the one launched first decides.
#pragma once

#include <string_view>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/selection/selection.h"
#include "borescope/table/table.h"

namespace borescope::internal {

// What only the verdict reads: of the gap with the most time of the host, synchronised or not, that
// time, the part of it that is synchronisation, and what the host mostly did in it; what it mostly
// did before it launched the first work; and the time of the host in gaps in which it is short: as
// it takes to launch.
inline constexpr std::string_view kLongestGap = "longest_gap_ns";
inline constexpr std::string_view kLongestGapSync = "longest_gap_sync_ns";
inline constexpr std::string_view kLongestGapEvent = "longest_gap_event";
inline constexpr std::string_view kHeadEvent = "head_event";
inline constexpr std::string_view kShortHost = "short_host_ns";
// What it mostly did in all time of cause host.
inline constexpr std::string_view kHostEvent = "host_event";

// Table idle_causes: rank, gpu, idle_ns, gaps, the causes in ns, and the columns above.
Result<Table> IdleCauses(const RankView& view, const Selection& selection);

// The same, and table late_host: what the host did in the time of causes head and host.
Result<Tables> IdleCausesAndLateHost(const RankView& view, const Selection& selection);

// The same as people see it: without what only the verdict reads.
Table ShownCauses(Table causes);

}  // namespace borescope::internal
