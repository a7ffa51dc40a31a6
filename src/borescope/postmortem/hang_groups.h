// Which groups of processes the dumps of a job mean. Every process numbers its groups by itself,
// and lists the members of some; several groups may have one name, as those of each row of a grid.
#pragma once

#include <cstdint>
#include <span>

#include "borescope/postmortem/hang_model.h"

namespace borescope::internal {

// Sets of `model` the job's number of ranks, the ranks with the dump of each, in the order of their
// numbers, and the groups, sorted by name and members, with `group_of` of each rank. `world`: how
// many ranks the user says there are; 0: nothing. REQUIRES: one dump a rank. Thread-safe.
void PlaceRanks(std::span<const RankDump> dumps, int32_t world, HangModel& model);

}  // namespace borescope::internal
