// Dumps that are not of the attempt of the job of which most are, or not of the same moment: a rank
// that died without one, and left that of an earlier attempt or minute in the folder. Pure
// functions of a model of dumps.
#pragma once

#include <cstdint>
#include <span>

#include "borescope/postmortem/hang_model.h"

namespace borescope::internal {

// BuildHangModel of the dumps of one attempt. A rank is apart from the others if, by the times of
// its dump, it finished collectives more than ten minutes before most others issued them, or issued
// them so long after most others had finished. If what it is at contradicts the others as well
// (they finished what it did not, or the other way round, of an operation that nobody can finish
// before everybody began), its dump counts for nothing: `of_other_attempts`. Else it is more likely
// that the clock of its host is wrong: `has_odd_clock`.
//
// Nobody finishes a collective such as an all_reduce before all members issued it. If a member
// finished one that another has not issued, by the numbers of its dump, the dump of the other is
// older (or, where its newest record is later, that of the member: of an earlier attempt that came
// further). If it lacks more than eight of the group, it counts for nothing: `with_older_dumps`.
// Else, or where it issued them but has not seen them end, it is doubtful: `is_behind`.
HangModel BuildModelOfOneAttempt(std::span<const RankDump> dumps, int32_t world, int threads);

}  // namespace borescope::internal
