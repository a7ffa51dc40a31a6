// The tables of `waits`, from what is known about all ranks.
#pragma once

#include <vector>

#include "borescope/analysis/measures/matching/match_calls.h"
#include "borescope/analysis/verbs/waits/blame.h"
#include "borescope/analysis/verbs/waits/comm_model.h"
#include "borescope/analysis/verbs/waits/wait_run.h"
#include "borescope/table/table.h"

namespace borescope::internal {

// clocks: what has to be added to the times of each rank.
Table ClockTable(const WaitRun& run);

// collective_time: where the time inside of collectives went.
Table CollectiveTimeTable(const WaitRun& run, const CommModels& models);

// waits_by_rank: who made others wait; a row without a rank has what nobody can be blamed for.
Table WaitsByRankTable(const Tables& tables, const WaitRun& run, const BlameSums& blame);

// lateness: the causes of what each rank made others wait.
Table LatenessTable(const WaitRun& run, const BlameSums& blame);

// waits: every collective.
Table WaitTable(const WaitRun& run, const CollectiveKeys& keys,
                const std::vector<Lateness>& lateness, const BlameSums& blame);

}  // namespace borescope::internal
