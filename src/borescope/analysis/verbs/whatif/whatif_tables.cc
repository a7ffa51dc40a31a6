#include "borescope/analysis/verbs/whatif/whatif_tables.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "borescope/analysis/core/key_columns.h"
#include "borescope/analysis/core/row.h"

namespace borescope::internal {
namespace {

constexpr size_t kPreviewSteps = 20;

Table NewAnswerTable(std::string name, std::string title) {
  Table table{std::move(name), std::move(title), {}};
  AddRankKey(table);
  AddString(table, "scenario", Role::kKey, "What is changed.");
  const auto ns = [&](std::string_view name_of, std::string_view doc) {
    AddInt(table, name_of, Unit::kNanoseconds, Role::kDerived, doc);
  };
  ns("step_ns",
     "A step as measured, on average from completion to completion; without steps, the recording. "
     "With --without-recording or --plain-step as it is without the profiler.");
  ns("new_ns",
     "The same in the scenario: as measured, less what the replay is shorter with the change than "
     "without. Missing where the replay does not represent the recording.");
  ns("low_ns",
     "The interval of new_ns: the error of the replay, how much steps differ in what they save, a "
     "twentieth of what is saved, and half of what launches of graphs are assumed to take.");
  ns("high_ns", "Its upper end.");
  AddFloat(table, "saved_share", Unit::kShare, Role::kDerived, "(step - new) / step.");
  AddFloat(table, "speedup", Unit::kNone, Role::kDerived, "step / new.");
  AddString(table, "bound_by", Role::kDerived,
            "What most of the path of the replay then consists of, as in critical-path.");
  AddInt(table, "works", Unit::kCount, Role::kDerived, "Pieces of device work that are changed.");
  AddInt(table, "host_events", Unit::kCount, Role::kDerived,
         "Events and calls of the host that are changed.");
  AddString(table, "note", Role::kDerived, "What limits the answer; missing for nothing.");
  return table;
}

constexpr std::string_view kHoldsCost =
    "host times hold the cost of recording, which --without-recording takes off";

bool ChangesHost(const Scenario& scenario) {
  return std::any_of(scenario.changes.begin(), scenario.changes.end(), [](const Change& change) {
    return change.target == TargetKind::kHost || change.kind == ChangeKind::kLaunch ||
           change.kind == ChangeKind::kNoDataWait || change.kind == ChangeKind::kNoSync ||
           change.kind == ChangeKind::kGraph;
  });
}

// Of the steps that were asked about.
int64_t MeanStep(const ReplayModel& model) {
  const std::vector<int64_t> measured =
      StretchTimes(model.graph, model.doubt_ns ? model.times : MeasuredTimes(model.graph));
  int64_t sum_ns = 0;
  int64_t steps = 0;
  for (size_t i = 0; i < measured.size(); ++i) {
    sum_ns += model.graph.stretches[i].is_asked ? measured[i] : 0;
    steps += model.graph.stretches[i].is_asked ? 1 : 0;
  }
  return sum_ns / std::max<int64_t>(steps, 1);
}

void PushAnswer(Table& table, const RankView& view, const ReplayModel& model, bool holds_cost,
                const AskedScenario& asked) {
  const std::optional<ScenarioAnswer> answer =
      asked.absent.empty() ? AnswerScenario(model, asked.scenario, asked.run) : std::nullopt;
  Row row(table);
  row.Int(view.rank).Text(asked.scenario.name);
  if (answer) {
    row.Int(answer->step_ns).Int(answer->new_ns).Int(answer->low_ns).Int(answer->high_ns);
    row.Share(answer->saved_ns(), answer->step_ns);
    answer->new_ns > 0 ? row.Float(ShareOf(answer->step_ns, answer->new_ns)) : row.Missing();
    row.Text(asked.run.bound_by);
  } else {
    row.Int(MeanStep(model)).Missing().Missing().Missing().Missing().Missing().Missing();
  }
  row.Int(asked.run.works).Int(asked.run.host_events);
  const std::string_view note = asked.absent.empty() ? NoteOf(answer, asked.run) : asked.absent;
  const bool is_of_host = holds_cost && answer && note.empty() && ChangesHost(asked.scenario);
  row.MaybeText(is_of_host ? kHoldsCost : note);
}

// What says how far the replay is from the recording where it has no counterpart in it.
void AddDoubts(Table& table) {
  const auto share = [&](std::string_view name, std::string_view doc) {
    AddFloat(table, name, Unit::kShare, Role::kDerived, doc);
  };
  share("unexplained_share",
        "Part of the time in which work on the path of the replay waited for what no dependency "
        "explains.");
  share("path_device_share", "Part of the path of the replay that is device work.");
  share("anchored_share",
        "Part of the device time whose launch was not recorded, or was on a thread that depends on "
        "nothing recorded: it moves by inference alone, or not at all.");
  share("impossible_share",
        "Part of the waits for device work that end before that work does: lost or wrong records.");
}

Table NewQualityTable() {
  Table table{"replay_quality", "How well the replay represents the recording", {}, kPreviewSteps};
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
        "four steps, of all, with lags of every other hundredth of the time.");
  share("null_share",
        "The same with all lags 0: where this is small, identity says nothing about devices.");
  AddDoubts(table);
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
    if (!model.graph.stretches[i].is_asked) {
      continue;
    }
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
      .Float(quality.path_device())
      .Float(quality.anchored())
      .Float(quality.impossible_share())
      .Int(quality.inferred)
      .Count(model.graph.edges())
      .Int(quality.exact_ns)
      .Text(ReplayVerdictName(quality.verdict))
      .MaybeText(CauseOf(view.trace, quality));
  PushSteps(table, view, model);
  return table;
}

Table AnswerTable(AnswerKind kind, const RankView& view, const ReplayModel& model, bool holds_cost,
                  const std::vector<AskedScenario>& asked) {
  struct Names {
    const char* name;
    const char* title;
  };
  constexpr Names kNames[] = {{"whatif", "What if"},
                              {"sweep", "Where gains stop"},
                              {"ranking", "What would help most, each alone"}};
  const Names& names = kNames[static_cast<size_t>(kind)];
  Table table = NewAnswerTable(names.name, names.title);
  for (const AskedScenario& one : asked) {
    PushAnswer(table, view, model, holds_cost, one);
  }
  return table;
}

Table ReplayConstantsTable(const RankView& view, const ReplayModel& model) {
  Table table{"replay_constants", "Lags of the replay", {}, 12};
  AddRankKey(table);
  AddString(table, "what", Role::kKey,
            "Kind of dependency: launch, stream, graph, event, wait, queue, call.");
  AddString(table, "class", Role::kKey, "Between what.");
  AddInt(table, "cases", Unit::kCount, Role::kDerived,
         "How often it decided when something happened.");
  AddInt(table, "lag_ns", Unit::kNanoseconds, Role::kDerived,
         "Mean of these, without the largest 2 %.");
  AddInt(table, "spread_ns", Unit::kNanoseconds, Role::kDerived,
         "From their 10th to their 90th percentile.");
  AddString(table, "source", Role::kDerived,
            "measured; similar: fewer than 8 cases, the mean of its kind; assumed: a usual value.");
  for (size_t i = 0; i < model.constants.size(); ++i) {
    const auto id = static_cast<LagClassId>(i);
    const LagConstant& constant = model.constants[i];
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
