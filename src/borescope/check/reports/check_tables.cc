#include "borescope/check/reports/check_tables.h"

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <utility>

#include "borescope/table/display/unit_and_role_names.h"

namespace borescope::internal {
namespace {

Table ResultTable(const JudgedRuns& runs, const JudgedCheck& outcome) {
  Table table{"check", "Result", {}};
  Column& result = AddString(table, "result", Role::kKey,
                             "kept, broken, cannot tell, or void where the recordings are not good "
                             "enough.");
  Push(result, BudgetStatusName(outcome.status));
  Push(AddString(table, "why", Role::kDerived, "What decided, in a sentence."),
       std::string_view(outcome.why));
  Column& tested = AddBool(table, "tested", Role::kDerived,
                           "Whether anything that was compared with the baseline could tell a "
                           "change; missing without a baseline.");
  runs.base.empty() ? PushMissing(tested) : Push(tested, !outcome.is_untested);
  return table;
}

void PushRun(Table& table, std::string_view side, const RunValues& run) {
  size_t next = 0;
  const auto cell = [&](auto value) { Push(table.columns[next++], value); };
  cell(side);
  cell(std::string_view(run.name));
  run.steps == 0 ? PushMissing(table.columns[next++]) : cell(run.steps);
  cell(run.ranks);
  run.world_size == 0 ? PushMissing(table.columns[next++]) : cell(run.world_size);
  PushOptional(table.columns[next++], run.step_flops);
  run.devices.empty() ? PushMissing(table.columns[next])
                      : Push(table.columns[next], std::string_view(run.devices));
}

Table RunsTable(const JudgedRuns& runs) {
  Table table{"check_runs", "Runs: windows and ranks of one process are one", {}};
  AddString(table, "side", Role::kKey, "base, test or history.");
  AddString(table, "run", Role::kKey, "The run as it was named.");
  AddInt(table, "steps", Unit::kCount, Role::kSum,
         "Steps that were compared: all but the first of a recording; missing where none were.");
  AddInt(table, "ranks", Unit::kCount, Role::kSum, "Ranks that were recorded.");
  AddInt(table, "world_size", Unit::kCount, Role::kMax,
         "Ranks of the job; missing where it was not recorded.");
  AddFloat(table, "step_flops", Unit::kFlops, Role::kDerived,
           "Work of a step by shapes of its operators; missing where they were not recorded.");
  AddString(table, "devices", Role::kDerived,
            "Devices that its first rank could see, used or not.");
  for (const RunValues& run : runs.base) {
    PushRun(table, "base", run);
  }
  for (const RunValues& run : runs.test) {
    PushRun(table, "test", run);
  }
  for (const std::vector<RunValues>& group : runs.history) {
    for (const RunValues& run : group) {
      PushRun(table, "history", run);
    }
  }
  return table;
}

Table ChecksShape() {
  Table table{"checks", "Budgets", {}};
  AddString(table, "budget", Role::kKey, "Its name in the budget file.");
  AddString(table, "rule", Role::kKey, "max, min, or baseline for worse_than_baseline.");
  AddString(table, "status", Role::kDerived, "kept, broken, cannot tell or void.").hints.palette =
      Palette::kVerdict;
  AddFloat(table, "value", Unit::kOfRow, Role::kDerived, "Of the run; the median of several.");
  AddFloat(table, "limit", Unit::kOfRow, Role::kDerived, "The max or min of the budget.");
  AddFloat(table, "base", Unit::kOfRow, Role::kDerived, "The median of the baseline.");
  AddFloat(table, "shift", Unit::kShare, Role::kDerived,
           "Hodges-Lehmann estimate of the change against the baseline, as a part of it.");
  AddFloat(table, "low", Unit::kShare, Role::kDerived,
           "Lower end of its interval; one end excludes the confidence of the budget.");
  AddFloat(table, "high", Unit::kShare, Role::kDerived, "Upper end of its interval.");
  AddString(table, "unit", Role::kDerived, "Of value, limit and base.");
  AddInt(table, "samples", Unit::kCount, Role::kSum, "Rows that the value of the first run is of.");
  AddString(table, "evidence", Role::kDerived, "The command that shows the number.");
  return table;
}

Table ChecksTable(const JudgedCheck& outcome) {
  Table table = ChecksShape();
  for (const BudgetCheck& check : outcome.budgets) {
    size_t next = 0;
    const auto cell = [&](auto value) { Push(table.columns[next++], value); };
    const auto maybe = [&](const std::optional<double>& value) {
      PushOptional(table.columns[next++], value);
    };
    cell(std::string_view(check.budget));
    cell(std::string_view(check.rule));
    cell(BudgetStatusName(check.status));
    cell(check.value);
    maybe(check.limit);
    maybe(check.base);
    maybe(check.change);
    maybe(check.low);
    maybe(check.high);
    cell(UnitName(check.unit));
    cell(check.samples);
    cell(std::string_view(check.evidence));
  }
  return table;
}

Table GateShape(const JudgedRuns& runs) {
  Table table{
      "gate",
      fmt::format("{} v {} runs: changes from the baseline", runs.base.size(), runs.test.size()),
      {}};
  AddString(
      table, "metric", Role::kKey,
      "step: its time, from completion to completion; host: that of its window; device: parts "
      "of its device's time; class and kernel: device time in a step.");
  AddString(table, "name", Role::kKey, "Of the class or kernel; empty for the step.").hints.names =
      true;
  AddInt(table, "base_ns", Unit::kNanoseconds, Role::kDerived,
         "Median of the runs of the baseline; the value of a run is the mean of its steps without "
         "the longest.");
  AddInt(table, "test_ns", Unit::kNanoseconds, Role::kDerived, "Median of the runs tested.");
  AddFloat(table, "change", Unit::kShare, Role::kDerived,
           "Hodges-Lehmann estimate, as a part of the baseline.");
  AddFloat(table, "low", Unit::kShare, Role::kDerived,
           "Lower end of the 90 % interval; of one run a side that of steps within the runs, from "
           "which nothing follows.");
  AddFloat(table, "high", Unit::kShare, Role::kDerived, "Upper end of the interval.");
  AddFloat(table, "p", Unit::kNone, Role::kDerived,
           "Probability of at least such a rank sum if nothing changed, one-sided; missing where "
           "there are too few runs.");
  AddFloat(table, "q", Unit::kNone, Role::kDerived,
           "p of the step; of others the false discovery rate among them.");
  AddFloat(table, "detectable", Unit::kShare, Role::kDerived,
           "The smallest change that would be called slower in 4 of 5 cases.");
  AddString(table, "verdict", Role::kDerived,
            "slower, faster, same (any change is below the limit), cannot tell, new or gone.")
      .hints.palette = Palette::kVerdict;
  AddString(
      table, "by", Role::kDerived,
      "ranks or t: the test; runs or steps: no test, but the change is larger than any noise of "
      "these that was seen; missing where nothing can tell.");
  return table;
}

// What the verdict of a row rests on.
std::string_view TestOf(const GateRow& row) {
  constexpr std::string_view kNoises[] = {"", "steps", "runs"};
  return row.rests_on_noise ? kNoises[static_cast<size_t>(row.comparison.beyond)]
                            : ChangeTestName(row.comparison.by);
}

Table GateTable(const JudgedRuns& runs, const JudgedCheck& outcome) {
  Table table = GateShape(runs);
  for (const GateRow& row : outcome.gate) {
    if (row.key.first == kCallsMetric) {
      continue;
    }
    const MetricComparison& compared = row.comparison;
    size_t next = 0;
    const auto cell = [&](auto value) { Push(table.columns[next++], value); };
    const auto maybe = [&](const std::optional<double>& value) {
      PushOptional(table.columns[next++], value);
    };
    cell(std::string_view(row.key.first));
    cell(std::string_view(row.key.second));
    cell(static_cast<int64_t>(std::llround(compared.base)));
    cell(static_cast<int64_t>(std::llround(compared.test)));
    maybe(compared.change);
    maybe(compared.low);
    maybe(compared.high);
    maybe(compared.worse_p);
    maybe(row.q);
    maybe(compared.detectable);
    cell(VerdictName(row.verdict));
    const std::string_view by = TestOf(row);
    by.empty() ? PushMissing(table.columns[next]) : Push(table.columns[next], by);
  }
  return table;
}

Table CallsTable(const JudgedCheck& outcome) {
  Table table{"gate_calls", "Device work of a step, counted", {}};
  AddString(table, "name", Role::kKey, "kernels, or copies and memsets, of the mean rank.");
  AddFloat(table, "base", Unit::kNone, Role::kDerived, "Median of the runs of the baseline.");
  AddFloat(table, "test", Unit::kNone, Role::kDerived, "Median of the runs tested.");
  AddFloat(table, "change", Unit::kShare, Role::kDerived, "As a part of the baseline.");
  AddString(table, "verdict", Role::kDerived,
            "same, more or fewer: counts are compared as they are, and decide nothing.")
      .hints.palette = Palette::kVerdict;
  for (const GateRow& row : outcome.gate) {
    if (row.key.first == kCallsMetric) {
      Push(table.columns[0], std::string_view(row.key.second));
      Push(table.columns[1], row.comparison.base);
      Push(table.columns[2], row.comparison.test);
      PushOptional(table.columns[3], row.comparison.change);
      Push(table.columns[4], VerdictName(row.verdict));
    }
  }
  return table;
}

}  // namespace

std::vector<Table> CheckTables(const JudgedRuns& runs, const JudgedCheck& outcome) {
  const bool is_shape = runs.test.empty();
  std::vector<Table> tables = {ResultTable(runs, outcome), RunsTable(runs)};
  if (is_shape || !outcome.budgets.empty()) {
    tables.push_back(ChecksTable(outcome));
  }
  if (is_shape || !outcome.gate.empty()) {
    tables.push_back(GateTable(runs, outcome));
  }
  if (Table calls = CallsTable(outcome); is_shape || calls.rows() > 0) {
    tables.push_back(std::move(calls));
  }
  return tables;
}

}  // namespace borescope::internal
