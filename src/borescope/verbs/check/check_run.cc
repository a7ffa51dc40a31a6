#include "borescope/verbs/check/check_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/analysis/measures/true_time/true_time.h"
#include "borescope/base/row_limit.h"
#include "borescope/base/stop.h"
#include "borescope/check/check_reports.h"
#include "borescope/check/saved_runs.h"
#include "borescope/engine/targets/targets.h"
#include "borescope/output/writer.h"
#include "borescope/verbs/check/check_side.h"
#include "borescope/verbs/check/measure_budgets.h"
#include "borescope/verbs/check/measure_run.h"

namespace borescope::internal {

namespace {

constexpr std::string_view kBudgetAndRule[] = {"budget", "rule"};
constexpr std::string_view kMetricAndName[] = {"metric", "name"};
constexpr std::string_view kValue[] = {"value"};
constexpr std::string_view kShift[] = {"shift", "low", "high"};
constexpr std::string_view kChange[] = {"change", "low", "high"};
constexpr ViewSpec kLimits{"checks",
                           ViewKind::kIntervals,
                           "Budgets: values, as parts of their limits",
                           kBudgetAndRule,
                           kValue,
                           "limit"};
constexpr ViewSpec kBudgetChanges{"checks", ViewKind::kIntervals,
                                  "Budgets: changes from the baseline", kBudgetAndRule, kShift};
constexpr ViewSpec kChanges{"gate",
                            ViewKind::kIntervals,
                            "Changes from the baseline, and the smallest detectable ones",
                            kMetricAndName,
                            kChange,
                            "detectable"};

// Its tables have the whole path; a title is about what, not where.
std::string ShortName(const std::string& run) {
  std::string name = std::filesystem::path(run).lexically_normal().filename().string();
  if (name.empty()) {  // it ended in a slash
    name = std::filesystem::path(run).lexically_normal().parent_path().filename().string();
  }
  return name.empty() ? run : name;
}

}  // namespace

std::vector<ViewSpec> CheckViews(const JudgedCheck& outcome) {
  const std::vector<BudgetCheck>& budgets = outcome.budgets;
  const auto any_budget = [&](const auto& has) {
    return std::any_of(budgets.begin(), budgets.end(), has);
  };
  std::vector<ViewSpec> views;
  if (any_budget([](const BudgetCheck& check) { return check.limit.value_or(0) != 0; })) {
    views.push_back(kLimits);
  }
  if (any_budget([](const BudgetCheck& check) { return check.change.has_value(); })) {
    views.push_back(kBudgetChanges);
  }
  if (std::any_of(outcome.gate.begin(), outcome.gate.end(),
                  [](const GateRow& row) { return row.comparison.change.has_value(); })) {
    views.push_back(kChanges);
  }
  return views;
}

ReportPage PageOfCheck(const std::vector<std::string>& runs, const JudgedCheck& outcome,
                       const Document& document) {
  ReportPage page;
  page.title = runs.size() == 1 ? fmt::format("Check of {}", ShortName(runs.front()))
                                : fmt::format("Check of {} and {} more", ShortName(runs.front()),
                                              runs.size() - 1);
  page.document = document;
  for (const Table& table : document.tables) {
    page.all_rows.push_back(table.rows());
    page.comparisons.push_back(Comparison::kNone);
  }
  page.sections.push_back(
      {.name = "check",
       .summary = fmt::format("{}: {}", BudgetStatusName(outcome.status), outcome.why),
       .table_count = document.tables.size(),
       .lack = "",
       .views = document.views,
       .pane = "check"});
  page.panes = {{"check", "Check"}, {"quality", "Data quality"}};
  return page;
}

namespace {

Result<void> CheckUsage(const CheckRequest& options, const BudgetFile& file) {
  const bool asks =
      !file.path.empty() || !options.baseline.empty() || !options.save_baseline.empty();
  if (!asks) {
    return UsageError(
        "check needs `budget` FILE, `baseline` RUN or `save_baseline` FILE: nothing is asked yet",
        {}, "budget");
  }
  const auto compared = std::find_if(file.budgets.begin(), file.budgets.end(),
                                     [](const Budget& budget) { return budget.worse.has_value(); });
  if (compared != file.budgets.end() && options.baseline.empty() && options.save_baseline.empty()) {
    return UsageError(fmt::format("{}:{}: budget '{}' compares with a baseline: name it with "
                                  "`baseline`, or keep this run as one with `save_baseline`",
                                  file.path, compared->line, compared->name),
                      {}, "baseline");
  }
  if (!options.history.empty() && options.baseline.empty()) {
    return UsageError("`history` says how much runs differ", "name the `baseline` to compare with",
                      "history");
  }
  return {};
}

// The given time is of INPUT, and decides about tables of verbs that take it.
Result<void> CheckPlainStep(const CheckRequest& options,
                            std::span<const AnalysisSpec* const> verbs) {
  if (options.run.params.Text(kPlainStepParam).empty()) {
    return {};
  }
  if (!options.baseline.empty() || !options.save_baseline.empty()) {
    return UsageError(
        "check: `plain_step` is what a step of INPUT takes, not one of other runs: give it with "
        "`budget`, without `baseline` and `save_baseline`",
        {}, "plain_step");
  }
  const bool is_used = std::any_of(verbs.begin(), verbs.end(), [](const AnalysisSpec* verb) {
    return verb != nullptr && std::find(verb->params.begin(), verb->params.end(),
                                        &kPlainStepParam) != verb->params.end();
  });
  return is_used ? CheckTrueTimeParams("check", options.run.params)
                 : UsageError(
                       "check: `plain_step` decides about tables of summary, whatif and steps "
                       "(true_time, verdict, ...), and no budget is about one",
                       {}, "plain_step");
}

// No output is an input, or another output.
Result<void> CheckOutputs(const CheckRequest& options) {
  std::vector<std::string> inputs = options.runs;
  inputs.insert(inputs.end(), options.baseline.begin(), options.baseline.end());
  inputs.insert(inputs.end(), options.history.begin(), options.history.end());
  BS_ASSIGN(inputs, PathsBehind(inputs));
  if (!options.budget.empty()) {
    inputs.push_back(options.budget);
  }
  const std::pair<std::string_view, const std::string*> outputs[] = {
      {"`save_baseline`", &options.save_baseline},
      {"`junit`", &options.junit},
      {"`sarif`", &options.sarif},
      {"`markdown`", &options.markdown},
      {"`html`", &options.html}};
  std::vector<std::string> others;
  for (const auto& [option, path] : outputs) {
    if (!path->empty() && !IsWrittenDirectly(*path)) {
      BS_TRY(CheckNoInput(inputs, *path, option));
      BS_ASSIGN(const FileLookup known, FileLookup::Of(others));
      BS_ASSIGN(const std::optional<size_t> found, known.Find(*path));
      if (found.has_value()) {
        return UsageError(fmt::format("{}: {} is another output as well", option, *path));
      }
      others.push_back(*path);
    }
  }
  return {};
}

Result<void> CheckComparable(const JudgedRuns& runs, bool force) {
  constexpr size_t kMostRuns = 200;
  if (std::max(runs.base.size(), runs.test.size()) > kMostRuns) {
    return UsageError(fmt::format("{} v {} runs: more than {} a side tell nothing more",
                                  runs.base.size(), runs.test.size(), kMostRuns));
  }
  const std::string why = WhyNotComparable(runs.base, runs.test);
  return why.empty() || force
             ? Result<void>()
             : UsageError(fmt::format("not comparable: {}", why), "`force` compares all the same");
}

bool IsTooBad(const Diagnostic& row, FailOn fail_on) {
  return (fail_on == FailOn::kError && row.severity == Severity::kError) ||
         (fail_on == FailOn::kWarning && row.severity >= Severity::kWarning);
}

// Why nothing that was measured can be trusted; empty where nothing says so.
std::string WhyVoid(const MeasuredRun& run, const QualityRules& rules) {
  uint64_t unlinked = 0;
  for (const Diagnostic& row : run.diagnostics) {
    if (IsTooBad(row, rules.fail_on)) {
      return fmt::format("{}: {} ({})", run.values.name, row.code, row.count);
    }
    unlinked += row.code == "unlinked-device-event" ? row.count : 0;
  }
  const double share = run.device_events == 0
                           ? 0
                           : static_cast<double>(unlinked) / static_cast<double>(run.device_events);
  if (rules.max_unlinked_share.has_value() && share > *rules.max_unlinked_share) {
    return fmt::format("{}: {:.2f} % of the device work has no launch, more than {:.2f} %",
                       run.values.name, 100 * share, 100 * *rules.max_unlinked_share);
  }
  return "";
}

// Who counts recordings shall know that they are fewer runs.
void SayWhatWasJoined(const JudgedRuns& runs, JudgedCheck& outcome) {
  int64_t windows = 0;
  size_t joined = 0;
  for (const std::vector<RunValues>* const side : {&runs.base, &runs.test}) {
    for (const RunValues& run : *side) {
      if (run.windows > 1) {
        windows += run.windows;
        ++joined;
      }
    }
  }
  if (joined > 0) {
    outcome.why += fmt::format("; {} recordings are windows of {} and count as {}", windows,
                               joined == 1 ? "one process" : fmt::format("{} processes", joined),
                               joined == 1 ? "one run" : fmt::format("{} runs", joined));
  }
}

void SetVoid(std::string why, JudgedCheck& outcome) {
  outcome.status = BudgetStatus::kVoid;
  outcome.why = std::move(why);
  for (BudgetCheck& check : outcome.budgets) {
    check.status = BudgetStatus::kVoid;
  }
}

// Checks every side that was measured, as a bad baseline makes bad verdicts.
void CheckQuality(std::initializer_list<const Side*> sides, const QualityRules& rules,
                  JudgedCheck& outcome) {
  for (const Side* const side : sides) {
    for (const MeasuredRun& run : side->measured) {
      if (std::string why = WhyVoid(run, rules); !why.empty()) {
        SetVoid(std::move(why), outcome);
        return;
      }
    }
  }
}

// The names of the runs; of parts, the names that their recordings had.
std::vector<std::string> NamesOf(const Side& side) {
  std::vector<std::string> names;
  names.reserve(side.measured.size());
  for (const MeasuredRun& run : side.measured) {
    names.push_back(run.values.name);
  }
  return names;
}

Result<void> WriteReports(const CheckRequest& options, const Side& test, const JudgedCheck& outcome,
                          const Document& document) {
  const CiReport report = ReportOfCheck(outcome, options.budget, test.first_run, options.strict);
  const auto write = [](const std::string& path, auto writer) {
    return path.empty() ? Result<void>() : WriteFile(path, writer);
  };
  BS_TRY(write(options.junit, [&](Sink& sink) { return WriteJunit(report, sink); }));
  BS_TRY(write(options.sarif, [&](Sink& sink) { return WriteSarif(report, sink); }));
  BS_TRY(write(options.markdown, [&](Sink& sink) { return WriteCheckMarkdown(report, sink); }));
  BS_TRY(write(options.html, [&](Sink& sink) {
    return WriteHtml(PageOfCheck(NamesOf(test), outcome, document), ReportTemplate(), sink);
  }));
  // What cannot be trusted is nothing to compare with later.
  return write(outcome.status == BudgetStatus::kVoid ? "" : options.save_baseline, [&](Sink& sink) {
    return WriteJson(SavedRuns(test.AllValues()), WriteOptions(), sink);
  });
}

void TakeFiles(Side& side, CheckedRuns& checked) {
  for (MeasuredRun& run : side.measured) {
    std::move(run.files.begin(), run.files.end(), std::back_inserter(checked.files));
    std::move(run.diagnostics.begin(), run.diagnostics.end(),
              std::back_inserter(checked.document.diagnostics));
  }
}

Result<CheckedRuns> Check(const CheckRequest& options) {
  BS_ASSIGN(const BudgetFile file, ReadBudgetAt(options.budget));
  BS_TRY(CheckUsage(options, file));
  BS_TRY(CheckOutputs(options));
  MeasureOptions measure;
  measure.file = &file;
  BS_ASSIGN(measure.verbs, VerbsOfBudgets(file));
  BS_TRY(CheckPlainStep(options, measure.verbs));
  const bool compares_budgets =
      std::any_of(file.budgets.begin(), file.budgets.end(),
                  [](const Budget& one) { return one.worse.has_value(); });
  measure.for_comparison = !options.baseline.empty() || !options.save_baseline.empty();
  measure.needs_steps = !compares_budgets && (!options.baseline.empty() || file.budgets.empty());
  BS_ASSIGN(Side test, ReadSide(options.runs, "", options, measure));
  BS_ASSIGN(Side base, ReadSide(options.baseline, "baseline", options, measure));
  BS_ASSIGN(Side history, ReadSide(options.history, "history", options, measure));
  if (test.measured.empty() || !test.saved.empty()) {
    return UsageError("INPUT is a recording to check, no saved baseline");
  }
  const JudgedRuns runs{base.AllValues(), test.AllValues(), history.Groups()};
  BS_TRY(CheckComparable(runs, options.force));
  CheckedRuns checked;
  checked.outcome = Judge(runs, file, {options.fail, options.all});
  SayWhatWasJoined(runs, checked.outcome);
  CheckQuality({&test, &base, &history}, file.quality, checked.outcome);
  checked.document.tables = CheckTables(runs, checked.outcome);
  checked.document.views = CheckViews(checked.outcome);
  TakeFiles(test, checked);
  TakeFiles(base, checked);
  TakeFiles(history, checked);
  BS_TRY(WriteReports(options, test, checked.outcome, checked.document));
  return checked;
}

}  // namespace

Result<CheckedRuns> RunCheck(const CheckRequest& options) {
  return WithNumberedRows(
      [&] { return Stoppable(options.run.stop, [&] { return Check(options); }); });
}

std::vector<Table> CheckShape() {
  std::vector<Table> tables = CheckTables({}, {});
  // The result always has a row.
  for (Table& table : tables) {
    for (Column& column : table.columns) {
      column = EmptyLike(column);
    }
  }
  return tables;
}

}  // namespace borescope::internal
