// Device work whose correlation number is that of a launch that cannot have started all of it.
#pragma once

#include "borescope/base/diagnostics.h"
#include "borescope/index/launches/correlation.h"

namespace borescope::internal {

// Whether a call of this name starts exactly one kernel. Launches of graphs start many, and
// cooperative ones of AMD a second kernel that prepares the first.
bool IsLaunchOfOneKernel(std::string_view name);

// Profilers give kernels of concurrent launches the number of one of them, and count again from 1.
// A number is contested if it is that of several calls none of which is in another, or of a call
// that starts one kernel but has several, while other launches near it have none or the kernels
// are on several streams. Each kernel of a contested number then gets a launch of its own:
//
//  - one that begins before the kernel does, and names this kernel, if it names one;
//  - of calls that follow each other, the earlier one for the earlier kernel of a stream;
//  - by what the rest of the recording shows: of which thread the work of a stream is, and which
//    kernels an operator of that name starts, or is named like.
//
// Where that leaves several answers the work has neither a launch nor an operator
// (LinkRule::kAmbiguous), unless all answers have the same operator: then calls and kernels are
// paired in their order. Changes `launch_of`, `op_of` and `rule`. Counts numbers that
// only device work repeats (kDuplicateCorrelation); MapLaunches counted the others. O(rows) if
// nothing is contested.
void SettleContestedLaunches(const Trace& trace, const CallLinks& calls, Correlation& result,
                             Diagnostics& diagnostics);

}  // namespace borescope::internal
