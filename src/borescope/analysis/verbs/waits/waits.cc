// waits: clocks of the ranks in line, every collective divided into waiting, transfer and tail, and
// who made whom wait, by how much, and why. docs/how-it-works/definitions.md has the method.
#include <utility>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/verbs/verbs.h"
#include "borescope/analysis/verbs/waits/map_waits.h"
#include "borescope/analysis/verbs/waits/waits_tables.h"

namespace borescope::internal {
namespace {

Error OneRank() {
  return {ErrorCode::kMissingData, "waits are found by comparing ranks, and this is one rank",
          "give the whole run, for example: borescope waits run/"};
}

bool AreOfOneJob(const Table& ranks) {
  const Column& world = *ranks.Find("world_size");
  for (size_t row = 1; row < ranks.rows(); ++row) {
    if (world.IsMissing(row) || world.IsMissing(0)) continue;
    if (Ints(ranks, "world_size")[row] != Ints(ranks, "world_size")[0]) return false;
  }
  return true;
}

Error DifferentJobs() {
  return {ErrorCode::kMissingData,
          "no collective of one rank was found on another one, and the files say that their jobs "
          "have different sizes: give ranks of one run, recorded at the same time"};
}

Error NothingMatched() {
  return {ErrorCode::kMissingData,
          "no collective of one rank was found on another one: give ranks of one run, recorded at "
          "the same time"};
}

Result<Tables> FinishWaits(Tables tables, const Params& params) {
  if (tables[0].rows() < 2) return OneRank();
  const CollectiveKeys keys(tables[1]);
  WaitRun run = MakeWaitRun(tables, keys, params.Number(kExitSkewParam));
  if (run.collectives.empty() && !AreOfOneJob(tables[0])) return DifferentJobs();
  // Without any collective the answer has no rows; where groups are crowded it says so by rank.
  if (run.collectives.empty() && !run.has_crowded_groups && tables[2].rows() > 0) {
    return NothingMatched();
  }
  DivideCollectives(tables, run);
  const std::vector<Lateness> lateness = ExplainLateness(tables, run);
  const BlameSums blame = SumBlame(lateness);
  const CommModels models = FitCommModels(run, keys);
  return Tables{ClockTable(run),
                CollectiveTimeTable(run, models),
                WaitsByRankTable(tables, run, blame),
                LatenessTable(run, blame),
                WaitTable(run, keys, lateness, blame),
                CommModelTable(models),
                CommSlowTable(run, keys, models)};
}

constexpr const ParamSpec* kParams[] = {&kExitSkewParam};
constexpr std::string_view kRank[] = {"rank"};
constexpr std::string_view kCaused[] = {"caused_ns"};
constexpr std::string_view kPart[] = {"part"};
constexpr std::string_view kTotal[] = {"total_ns"};
constexpr ViewSpec kViews[] = {
    {"collective_time", ViewKind::kBars, "Time inside of collectives", kPart, kTotal},
    {"waits_by_rank", ViewKind::kBars, "Waiting caused by each rank", kRank, kCaused}};

}  // namespace

const AnalysisSpec kWaitsVerb{.name = "waits",
                              .summary = "who made whom wait, by how much and why; clocks in line",
                              .example = "borescope waits run/",
                              .needs = Needs::kCollectiveKernels,
                              .params = kParams,
                              .answer = {.map = MapWaits,
                                         .reduce = ConcatTables,
                                         .finish = FinishWaits,
                                         .check_tables = CheckWaitTables},
                              .views = kViews};

}  // namespace borescope::internal
