// The launch calls of a rank with the device work each of them started: one work for most, none for
// a call whose work was not recorded, many for a graph launch. Whatever the vendor: the index ties
// work to calls by correlation number, not by name.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "borescope/analysis/core/analysis_spec.h"
#include "borescope/analysis/core/selection/selection.h"

namespace borescope::internal {

// Kernels, memcpys and memsets started by a runtime call, by start. Replaces what `works` holds.
void FindWorks(const RankView& view, HostId call, std::vector<DeviceId>& works);

// Runtime calls that started device work, in time order; calls at one time by thread.
std::vector<HostId> CallsWithWork(const RankView& view);

// Calls in the selected time whose name is that of a launch, but whose correlation number no device
// work carries. (A wrapper around another launch has that one's number, so it is not counted.)
int64_t CountCallsWithoutWork(const RankView& view, const Selected& selected);

// Calls that block until they have copied, but whose copy was not recorded: neither by their own
// number nor by that of a call inside them. None where copies were recorded without their calls, as
// these may be the ones. In row order. O(rows).
std::vector<HostId> CopiesWithoutRecord(const RankView& view);

// The calls of names of launches and asynchronous copies of which not one has work, of three calls
// or more: work of their kind was not recorded. None in recordings of graph captures, whose calls
// start nothing, and in those without device work. In row order. O(rows).
std::vector<HostId> CallsOfUntracedKinds(const RankView& view);

// End of the call to start of the work; 0 when the work starts earlier.
int64_t LaunchDelay(const RankView& view, HostId call, DeviceId work);

}  // namespace borescope::internal
