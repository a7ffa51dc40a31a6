#include "borescope/analysis/verbs/summary/prices.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "borescope/analysis/core/keyed_rows.h"
#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/core/reduce.h"
#include "borescope/analysis/core/row.h"
#include "borescope/analysis/measures/replay/run_scenario.h"
#include "borescope/analysis/measures/true_time/true_time.h"
#include "borescope/analysis/verbs/summary/named_causes.h"
#include "borescope/base/each_row.h"
#include "borescope/base/saturating.h"

namespace borescope::internal {

namespace {

// Gaps that are longer without the cost are no part of it.
CostParts PartsOf(const Table& gaps, std::string_view level) {
  const auto sum = [&](std::string_view part) {
    return std::max<int64_t>(0, SumOf(gaps, fmt::format("{}{}", level, part)));
  };
  const int64_t long_ns = sum("long_late_ns");
  const int64_t short_ns = sum("short_late_ns");
  const int64_t latency_ns = sum("latency_ns");
  const int64_t all_ns = AddSaturating(AddSaturating(long_ns, short_ns), latency_ns);
  return all_ns == 0 ? CostParts()
                     : CostParts{ShareOf(long_ns, all_ns), ShareOf(short_ns, all_ns),
                                 ShareOf(latency_ns, all_ns)};
}

}  // namespace

RecordingCost FindRecordingCost(const SummaryTables& tables) {
  const Table& times = tables.true_time;
  RecordingCost cost;
  for (size_t row = 0; row < times.rows(); ++row) {
    cost.is_given = Texts(times, "cost_source")[row] == "plain-step";
  }
  cost.estimate_ns = SumOf(tables.cost_of_gaps, "estimate_ns");
  cost.least_ns = SumOf(tables.cost_of_gaps, "least_ns");
  cost.most_ns = SumOf(tables.cost_of_gaps, "most_ns");
  cost.estimate_parts = PartsOf(tables.cost_of_gaps, "");
  cost.most_parts = PartsOf(tables.cost_of_gaps, "most_");
  return cost;
}

TrueShare ShareWithoutRecording(const RecordingCost& cost, int64_t part_ns, int64_t whole_ns,
                                double cost_part) {
  const auto share = [&](int64_t cost_ns) {
    const double part =
        std::max(0.0, static_cast<double>(part_ns) - cost_part * static_cast<double>(cost_ns));
    // As doubles: a partial result that was damaged can hold any number.
    const double whole = static_cast<double>(whole_ns) - static_cast<double>(cost_ns);
    return whole <= 0 ? 1.0 : std::min(1.0, part / whole);
  };
  const double least = share(cost.least_ns);
  const double most = share(cost.most_ns);
  return {share(0), share(cost.estimate_ns), std::min(least, most), std::max(least, most)};
}

std::string WordsOfTrueShare(const RecordingCost& cost, const TrueShare& share) {
  if (!cost.is_known()) {
    return "";
  }
  if (cost.is_given && cost.least_ns == cost.most_ns) {
    return fmt::format(", {:.0f} % without the profiler", 100 * share.estimate);
  }
  return fmt::format(", about {:.0f} % ({:.0f} to {:.0f} %) without the profiler",
                     100 * share.estimate, 100 * share.low, 100 * share.high);
}

namespace {

struct LeverRow {
  Lever lever;
  std::string_view words;
};
constexpr LeverRow kLeverRows[] = {
    {Lever::kHost, "all of the host's time halved"},
    {Lever::kWaits, "no wait of the host for a device"},
    {Lever::kData, "data loaded in the background"},
    {Lever::kLaunches, "launch calls in half their time"},
    {Lever::kGraphs, "a step launched as graphs"},
    {Lever::kOptimizer, "the optimizer launched as graphs"},
    {Lever::kNoAllocation, "no time in calls that allocate or free memory"},
    {Lever::kComm, "no time in communication"},
    {Lever::kCopies, "no time in copies"},
    {Lever::kKernel, "this kernel in half its time"},
    {Lever::kTensorCores, "products on tensor cores"},
};

std::string_view WordsOf(Lever lever) {
  for (const LeverRow& row : kLeverRows) {
    if (row.lever == lever) {
      return row.words;
    }
  }
  return "";
}

// The kernel with most time of all; of equal ones the first by name. Empty without kernels.
std::string LongestKernel(const Trace& trace) {
  std::vector<int64_t> ns_of(trace.strings().size());
  const DeviceEvents& device = trace.device();
  for (uint32_t row = 0; row < device.size(); ++row) {
    if (device.kind[row] == DeviceKind::kKernel) {
      int64_t& sum_ns = ns_of[device.name[row].value];
      sum_ns = AddSaturating(sum_ns, device.dur_ns[row]);
    }
  }
  std::string_view longest;
  int64_t longest_ns = 0;
  for (uint32_t name = 0; name < ns_of.size(); ++name) {
    const std::string_view text = trace.Text({name});
    if (ns_of[name] > longest_ns ||
        (ns_of[name] == longest_ns && ns_of[name] > 0 && text < longest)) {
      longest = text;
      longest_ns = ns_of[name];
    }
  }
  return std::string(longest);
}

// What the names of all steps begin with: "ProfilerStep#". Empty without steps.
std::string StepName(const RankView& view) {
  const std::vector<Step>& steps = view.steps().steps;
  if (steps.empty()) {
    return "";
  }
  const std::string_view name = view.trace.Name(steps.front().annotation);
  return std::string(name.substr(0, name.find_first_of("0123456789")));
}

std::vector<Change> Graphs(std::string text) {
  return text.empty() ? std::vector<Change>()
                      : std::vector<Change>{{.kind = ChangeKind::kGraph, .text = std::move(text)}};
}

// Each call of such a name that was recorded.
std::vector<Change> NoAllocation(const Trace& trace) {
  std::set<std::string_view> names;
  for (const uint32_t row : EachRow(trace.host().size())) {
    if (trace.host().kind[row] == HostKind::kRuntime && IsAllocationCall(trace.Name(HostId{row}))) {
      names.insert(trace.Name(HostId{row}));
    }
  }
  std::vector<Change> changes;
  changes.reserve(names.size());
  for (const std::string_view name : names) {
    changes.push_back({.target = TargetKind::kHost,
                       .text = std::string(name),
                       .factor = 0,
                       .is_whole_name = true});
  }
  return changes;
}

// None where the rank has nothing that it could be about.
std::vector<Change> ChangesOf(Lever lever, const RankView& view) {
  constexpr double kHalf = 0.5;
  switch (lever) {
    case Lever::kWaits:
      return {{.kind = ChangeKind::kNoSync}};
    case Lever::kData:
      return {{.kind = ChangeKind::kNoDataWait}};
    case Lever::kLaunches:
      return {{.kind = ChangeKind::kLaunch, .factor = kHalf}};
    case Lever::kGraphs:
      return Graphs(StepName(view));
    case Lever::kOptimizer:
      return Graphs(std::string(kOptimizerMark));
    case Lever::kNoAllocation:
      return NoAllocation(view.trace);
    case Lever::kComm:
      return {{.target = TargetKind::kComm, .factor = 0}};
    case Lever::kCopies:
      return {{.kind = ChangeKind::kRemove, .target = TargetKind::kCopy, .factor = 0}};
    case Lever::kKernel:
      return {{.target = TargetKind::kKernel,
               .text = LongestKernel(view.trace),
               .factor = kHalf,
               .is_whole_name = true}};
    case Lever::kTensorCores:
      return {{.kind = ChangeKind::kTensorCores}};
    case Lever::kHost:
      return {{.target = TargetKind::kHost, .factor = kHalf}};
    case Lever::kNone:
      break;
  }
  return {};
}

PriceRow PriceOf(int64_t rank, const Change& change, std::string_view words, ReplayVerdict verdict,
                 const std::optional<ScenarioAnswer>& answer, std::string_view note) {
  PriceRow row{.rank = rank, .change = words, .verdict = ReplayVerdictName(verdict)};
  if (change.target == TargetKind::kKernel && !change.text.empty()) row.kernel = change.text;
  if (!note.empty()) row.note = note;
  if (answer) {
    row.step_ns = answer->step_ns;
    row.low_ns = answer->low_ns;
  }
  if (answer && change.kind == ChangeKind::kTensorCores) {
    row.high_ns = answer->step_ns;  // bounds only
  } else if (answer) {
    row.new_ns = answer->new_ns;
    row.high_ns = answer->high_ns;
    row.saved_share = ShareOf(answer->saved_ns(), answer->step_ns);
  }
  return row;
}

std::string Percent(double share) { return fmt::format("{:.1f}", 100 * share); }

}  // namespace

Result<Table> PriceTable(const RankView& view, const Params& params) {
  if (!params.Flag(kPriceParam) || view.trace.device().size() == 0) {
    return NewTable<PriceRow>();
  }
  // Where the cost of recording is not known, prices are of what was recorded.
  std::shared_ptr<const Result<ReplayModel>> shared = SharedScenarioModel(view, params);
  if (!shared->ok() && shared->error().code == ErrorCode::kMissingData) {
    shared = SharedReplayModel(view, params);
  }
  if (!shared->ok()) {
    return shared->error();
  }
  const ReplayModel& model = **shared;
  const ScenarioRunner runner(view, model, params);
  std::vector<PriceRow> prices;
  for (const LeverRow& row : kLeverRows) {
    const Scenario scenario{"", ChangesOf(row.lever, view)};
    if (scenario.changes.empty()) {
      continue;
    }
    const Result<ScenarioRun> run = runner.Run(scenario);
    if (run.ok()) {
      const std::optional<ScenarioAnswer> answer = AnswerScenario(model, scenario, *run);
      prices.push_back(PriceOf(view.rank, scenario.changes.front(), row.words,
                               model.quality.verdict, answer, NoteOf(answer, *run)));
      prices.back().is_of_collectives = run->has_collectives ? 1 : 0;
      prices.back().without_comm_ns = Recorded(answer ? answer->without_comm_ns : kMissing);
    } else if (run.error().code != ErrorCode::kMissingData) {
      return run.error();
    }
  }
  return MakeTable(prices);
}

namespace {

// The rows of a lever, those with an answer.
struct PriceRows {
  bool is_asked = false;
  std::vector<PriceRow> answered;
};

PriceRows RowsOf(const std::vector<PriceRow>& prices, Lever lever, std::string_view kernel) {
  PriceRows rows;
  for (const PriceRow& row : prices) {
    const bool is_other = lever == Lever::kKernel && row.kernel.value_or("") != kernel;
    if (row.change != WordsOf(lever) || is_other) {
      continue;
    }
    rows.is_asked = true;
    if (row.low_ns) {
      rows.answered.push_back(row);
    }
  }
  return rows;
}

// "3.6 % of a step (3.4 to 3.8 %)"; of several ranks "2.0 to 5.4 % of a step, by rank".
std::string SavingWords(const std::vector<PriceRow>& rows) {
  const auto saved = [](const PriceRow& row) { return row.saved_share.value_or(0); };
  const auto saved_at = [](const PriceRow& row, std::optional<int64_t> new_ns) {
    return Percent(1 - ShareOf(new_ns.value_or(0), row.step_ns.value_or(0)));
  };
  if (rows.size() == 1) {
    const PriceRow& only = rows.front();
    return fmt::format("{} % of a step ({} to {} %)", Percent(saved(only)),
                       saved_at(only, only.high_ns), saved_at(only, only.low_ns));
  }
  const auto [least, most] = std::minmax_element(
      rows.begin(), rows.end(),
      [&](const PriceRow& a, const PriceRow& b) { return saved(a) < saved(b); });
  return fmt::format("{} to {} % of a step, by rank", Percent(saved(*least)),
                     Percent(saved(*most)));
}

// The largest of all ranks.
std::string BoundWords(const std::vector<PriceRow>& rows) {
  double most = 0;
  for (const PriceRow& row : rows) {
    most = std::max(most, 1 - ShareOf(row.low_ns.value_or(0), row.step_ns.value_or(0)));
  }
  return fmt::format(
      " By replay, products on tensor cores would save between nothing and {} % of a step: that if "
      "all of them ran at the peak for TF32, or at the speed of the memory. What libraries reach "
      "of it is not known from a recording.",
      Percent(most));
}

}  // namespace

std::string PriceWords(const std::vector<PriceRow>& prices, Lever lever, std::string_view kernel) {
  PriceRows rows = RowsOf(prices, lever, kernel);
  if (lever == Lever::kGraphs && !rows.is_asked) {
    lever = Lever::kLaunches;
    rows = RowsOf(prices, lever, kernel);
  }
  if (!rows.is_asked) {
    return "";
  }
  if (rows.answered.empty()) {
    return " This recording cannot say what it would bring: see `borescope whatif`.";
  }
  const std::string note = rows.answered.front().note.value_or("");
  if (lever == Lever::kTensorCores) {
    return BoundWords(rows.answered) + (note.empty() ? "" : " Note: " + note + ".");
  }
  return fmt::format(" By replay, {} would save {}{}{}.", WordsOf(lever),
                     SavingWords(rows.answered), note.empty() ? "" : "; ", note);
}

}  // namespace borescope::internal
