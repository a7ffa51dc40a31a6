// The tables of truth.json that say what devices, launches and ranks wait for.
#pragma once

#include <string>
#include <vector>

#include "tests/support/truth/scenario_truth.h"
#include "tests/support/truth/scenario_truth_table.h"

namespace borescope::scenario {

using Ranks = std::vector<RankTruth>;

std::string IdleTable(const Ranks& ranks);
std::string OverlapTable(const Ranks& ranks);
std::string QueueTable(const Ranks& ranks);
std::string BandwidthTable(const KernelCatalog& catalog, const Ranks& ranks);
std::string LaunchesTable(const Ranks& ranks);
std::string DelaysTable(const Ranks& ranks);
std::string AnnotationsTable(const Ranks& ranks);
std::string CollectivesTable(const ScenarioConfig& config, const Ranks& ranks);
std::string CriticalPathTable(const Ranks& ranks);
std::string StragglersTable(const ScenarioConfig& config, const WaitTruth& waits);

}  // namespace borescope::scenario
