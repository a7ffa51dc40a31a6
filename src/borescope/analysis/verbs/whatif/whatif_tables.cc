#include "borescope/analysis/verbs/whatif/whatif_tables.h"

#include <string>

#include "borescope/analysis/core/key_columns.h"
#include "borescope/analysis/core/row.h"

namespace borescope::internal {
namespace {

constexpr size_t kPreviewSteps = 8;

Table NewQualityTable() {
  Table table{"replay_quality", "How well the replay stands for the recording", {}, kPreviewSteps};
  AddRankKey(table);
  AddStepKeyOrNone(table);
  const auto ns = [&](std::string_view name, std::string_view doc) {
    AddInt(table, name, Unit::kNanoseconds, Role::kDerived, doc);
  };
  const auto share = [&](std::string_view name, std::string_view doc) {
    AddFloat(table, name, Unit::kShare, Role::kDerived, doc);
  };
  ns("measured_ns",
     "From the begin of the step to its completion, when all its device work and its host window "
     "have ended, less what the step before took of it; without a step, of all of them together.");
  ns("replayed_ns", "The same in the replay, in which dependencies have lags of their class.");
  share("identity_share", "(replayed - measured) / measured.");
  share("held_out_share",
        "The same of every other step, with lags measured in the steps between; with fewer than "
        "four steps, of all, with lags of every other tenth of the time.");
  share("null_share",
        "The same with all lags 0: where this is small, identity says nothing about devices.");
  share("unexplained_share",
        "Part of the time in which work on the path of the replay waited for what no dependency "
        "tells.");
  share("anchored_share",
        "Part of the device time that cannot move in a replay: its launch was not recorded, or its "
        "thread depends on nothing that was.");
  AddInt(table, "inferred_edges", Unit::kCount, Role::kDerived,
         "Dependencies that were not recorded, but follow from times and names.");
  AddInt(table, "edges", Unit::kCount, Role::kDerived, "All dependencies.");
  ns("exact_ns", "Error of a replay with every lag as measured: 0, or the program is wrong.");
  AddString(table, "verdict", Role::kDerived,
            "good, rough, untested (answers about devices cannot be tested on this recording) or "
            "refused.");
  AddString(table, "cause", Role::kDerived, "Why the verdict is not good; missing where it is.");
  return table;
}

void PushSteps(Table& table, const RankView& view, const ReplayModel& model) {
  const std::vector<int64_t> measured = StretchTimes(model.graph, MeasuredTimes(model.graph));
  const std::vector<int64_t> replayed = StretchTimes(model.graph, model.times);
  for (size_t i = 0; i < measured.size() && model.graph.stretches[i].step != kMissing; ++i) {
    Row row(table);
    row.Int(view.rank).Int(model.graph.stretches[i].step).Int(measured[i]).Int(replayed[i]);
    row.Share(replayed[i] - measured[i], measured[i]);
    while (row.left() > 0) {
      row.Missing();
    }
  }
}

}  // namespace

Table ReplayQualityTable(const RankView& view, const ReplayModel& model) {
  Table table = NewQualityTable();
  const ReplayQuality& quality = model.quality;
  Row row(table);
  row.Int(view.rank).Missing().Int(quality.measured_ns).Int(quality.replayed_ns);
  row.Float(quality.identity());
  quality.held_out ? row.Float(*quality.held_out) : row.Missing();
  row.Float(quality.null())
      .Float(quality.unexplained())
      .Float(quality.anchored())
      .Int(quality.inferred)
      .Count(model.graph.edges())
      .Int(quality.exact_ns)
      .Text(ReplayVerdictName(quality.verdict))
      .MaybeText(CauseOf(view.trace, quality));
  PushSteps(table, view, model);
  return table;
}

Table ReplayConstantsTable(const RankView& view, const ReplayModel& model) {
  Table table{"replay_constants", "Lags of the replay", {}, 12};
  AddRankKey(table);
  AddString(table, "what", Role::kKey,
            "Kind of dependency: launch, stream, graph, event, wait, queue, handover, call.");
  AddString(table, "class", Role::kKey, "Between what.");
  AddInt(table, "cases", Unit::kCount, Role::kDerived,
         "How often it decided when something happened.");
  AddInt(table, "lag_ns", Unit::kNanoseconds, Role::kDerived,
         "Mean of these, without the largest 2 %.");
  AddInt(table, "spread_ns", Unit::kNanoseconds, Role::kDerived,
         "From their 10th to their 90th percentile.");
  AddString(table, "source", Role::kDerived,
            "measured; similar: fewer than 8 cases, the mean of its kind; assumed: a usual value.");
  for (LagClassId id = 0; id < model.constants.size(); ++id) {
    const LagConstant& constant = model.constants[id];
    Row(table)
        .Int(view.rank)
        .Text(LagKindName(model.graph.classes.Key(id).kind))
        .Text(model.graph.classes.Describe(view.trace, id))
        .Int(constant.cases)
        .Int(constant.lag_ns)
        .Int(constant.spread_ns)
        .Text(LagSourceName(constant.source));
  }
  return table;
}

}  // namespace borescope::internal
