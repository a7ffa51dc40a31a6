// stragglers: which ranks enter collectives late, so that the others wait. The map lists the calls
// of a rank (measures/matching); straggler_match.cc matches and scores them.
#include <cstddef>
#include <utility>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/measures/matching/match_calls.h"
#include "borescope/analysis/verbs/stragglers/straggler_match.h"
#include "borescope/analysis/verbs/verbs.h"

namespace borescope::internal {
namespace {

constexpr size_t kShownTables = 3;  // the verdict reads one more

Result<Tables> MapStragglers(const RankView& view, const Params& params) {
  BS_ASSIGN(RankCalls found, FindRankCalls(view, params.selection));
  return std::move(found.tables);
}

Result<void> CheckStragglerTables(const Tables& tables, const Params&) {
  return CheckRankCalls(tables);
}

Result<Tables> FinishStragglers(Tables findings, const Params&) {
  BS_ASSIGN(Tables tables, ScoreStragglers(std::move(findings)));
  tables.resize(kShownTables);
  return tables;
}

constexpr const ParamSpec* kHtaParams[] = {&kIncludeLastStepParam};
constexpr std::string_view kRank[] = {"rank"};
constexpr std::string_view kCausedWait[] = {"caused_wait_ns"};
constexpr ViewSpec kViews[] = {
    {"stragglers", ViewKind::kBars, "Waiting caused by each rank", kRank, kCausedWait}};

}  // namespace

const AnalysisSpec kStragglersVerb{
    .name = "stragglers",
    .summary = "ranks that enter collectives late, so that the others wait",
    .example = "borescope stragglers run/",
    .needs = Needs::kCollectiveKernels,
    .params = kHtaParams,
    .answer = {.map = MapOnce<MapStragglers>,
               .reduce = ConcatTables,
               .finish = FinishStragglers,
               .check_tables = CheckStragglerTables},
    .views = kViews};

}  // namespace borescope::internal
