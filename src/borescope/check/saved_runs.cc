#include "borescope/check/saved_runs.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "borescope/check/budget.h"
#include "borescope/output/read_json.h"
#include "borescope/table/display/view.h"

namespace borescope::internal {

namespace {

// Fits into 64 bits.
constexpr double kLargest = 9e18;

constexpr std::string_view kRunsTable = "baseline_runs";
constexpr std::string_view kValuesTable = "baseline_values";

Table RunsShape() {
  Table table{std::string(kRunsTable), "Runs of borescope check", {}};
  AddString(table, "run", Role::kKey, "As it was named.");
  AddString(table, "devices", Role::kDerived, "Of its first rank.");
  AddInt(table, "world_size", Unit::kCount, Role::kMax, "Ranks of the job.");
  AddInt(table, "ranks", Unit::kCount, Role::kSum, "Ranks that were recorded.");
  AddInt(table, "steps", Unit::kCount, Role::kSum, "Steps that the values are of.");
  AddFloat(table, "step_flops", Unit::kFlops, Role::kDerived, "Work of a step by shapes.");
  return table;
}

Table ValuesShape() {
  Table table{std::string(kValuesTable), "Their values", {}};
  AddInt(table, "number", Unit::kNone, Role::kKey, "Of the run in the other table, from 0 on.");
  AddString(table, "metric", Role::kKey, "step, host, device, class, kernel, calls or budget.");
  AddString(table, "name", Role::kKey, "What of it.");
  AddFloat(table, "value", Unit::kOfRow, Role::kDerived, "The usual value of the steps.");
  AddString(table, "unit", Role::kDerived, "Of the value.");
  AddInt(table, "samples", Unit::kCount, Role::kSum, "Steps, or rows of a budget.");
  AddString(table, "definition", Role::kDerived, "What a budget is about; else empty.");
  AddFloat(table, "least", Unit::kOfRow, Role::kDerived, "The smallest of the steps or rows.");
  AddFloat(table, "most", Unit::kOfRow, Role::kDerived, "The largest.");
  return table;
}

void PushSavedRun(const RunValues& run, int64_t number, Table& runs, Table& values) {
  Push(runs.columns[0], std::string_view(run.name));
  Push(runs.columns[1], std::string_view(run.devices));
  Push(runs.columns[2], run.world_size);
  Push(runs.columns[3], run.ranks);
  Push(runs.columns[4], run.steps);
  PushOptional(runs.columns[5], run.step_flops);
  for (const auto& [key, metric] : run.metrics) {
    Push(values.columns[0], number);
    Push(values.columns[1], std::string_view(key.first));
    Push(values.columns[2], std::string_view(key.second));
    Push(values.columns[3], metric.value);
    Push(values.columns[4], UnitName(metric.unit));
    Push(values.columns[5], metric.samples);
    Push(values.columns[6], std::string_view(metric.definition));
    PushOptional(values.columns[7], metric.least);
    PushOptional(values.columns[8], metric.most);
  }
}

Error NoBaseline(std::string_view why, std::string remedy = {}) {
  return {ErrorCode::kUnsupportedFormat,
          "no baseline that borescope check saved: " + std::string(why), std::move(remedy)};
}

bool MayBeMissing(const Column& column) {
  return column.name == "step_flops" || column.name == "least" || column.name == "most";
}

// The table with the name and the columns of `shape`, with their types, and with missing cells only
// where `shape` allows them.
Result<const Table*> FindShaped(const Document& document, const Table& shape) {
  for (const Table& table : document.tables) {
    if (table.name != shape.name) {
      continue;
    }
    for (const Column& wanted : shape.columns) {
      const Column* const column = table.Find(wanted.name);
      if (column == nullptr || column->values.index() != wanted.values.index()) {
        return NoBaseline(wanted.name + " is missing in it", "save the baseline again");
      }
      for (size_t row = 0; !MayBeMissing(wanted) && row < table.rows(); ++row) {
        if (column->IsMissing(row)) {
          return NoBaseline(wanted.name + " has a missing cell");
        }
      }
    }
    return &table;
  }
  return NoBaseline("it has no table " + shape.name);
}

template <class Values>
const Values& Cells(const Table& table, std::string_view column) {
  return std::get<Values>(table.Find(column)->values);
}

std::optional<Unit> UnitOfText(std::string_view text) {
  for (int i = 0; i <= static_cast<int>(Unit::kOfRow); ++i) {
    if (UnitName(static_cast<Unit>(i)) == text) {
      return static_cast<Unit>(i);
    }
  }
  return std::nullopt;
}

std::vector<RunValues> RunsOf(const Table& table) {
  std::vector<RunValues> runs;
  runs.reserve(table.rows());
  for (size_t row = 0; row < table.rows(); ++row) {
    RunValues run;
    run.name = Cells<StringValues>(table, "run")[row];
    run.devices = Cells<StringValues>(table, "devices")[row];
    run.world_size = Cells<IntValues>(table, "world_size")[row];
    run.ranks = Cells<IntValues>(table, "ranks")[row];
    run.steps = Cells<IntValues>(table, "steps")[row];
    if (!table.Find("step_flops")->IsMissing(row)) {
      run.step_flops = Cells<FloatValues>(table, "step_flops")[row];
    }
    runs.push_back(std::move(run));
  }
  return runs;
}

}  // namespace

bool MayBeSavedRuns(std::string_view head) { return head.starts_with("{\"borescope\""); }

Document SavedRuns(const std::vector<RunValues>& runs) {
  Document document;
  document.tables = {RunsShape(), ValuesShape()};
  for (size_t i = 0; i < runs.size(); ++i) {
    PushSavedRun(runs[i], static_cast<int64_t>(i), document.tables[0], document.tables[1]);
  }
  return document;
}

Result<std::vector<RunValues>> ReadSavedRuns(std::string_view json) {
  BS_ASSIGN(const Document document, ReadJson(json));
  BS_ASSIGN(const Table* const table, FindShaped(document, RunsShape()));
  BS_ASSIGN(const Table* const values, FindShaped(document, ValuesShape()));
  std::vector<RunValues> runs = RunsOf(*table);
  const auto maybe = [&](std::string_view column, size_t row) {
    return values->Find(column)->IsMissing(row)
               ? std::nullopt
               : std::optional(Cells<FloatValues>(*values, column)[row]);
  };
  for (size_t row = 0; row < values->rows(); ++row) {
    const int64_t number = Cells<IntValues>(*values, "number")[row];
    const double value = Cells<FloatValues>(*values, "value")[row];
    if (number < 0 || static_cast<size_t>(number) >= runs.size() ||
        !(std::abs(value) <= kLargest) ||
        (value < 0 && Cells<StringValues>(*values, "metric")[row] != kBudgetMetric)) {
      return NoBaseline("a value belongs to no run, or is not a measured number");
    }
    MetricKey key = {Cells<StringValues>(*values, "metric")[row],
                     Cells<StringValues>(*values, "name")[row]};
    const std::string what = fmt::format("{} '{}' of run {}", key.first, key.second, number);
    const std::optional<Unit> unit = UnitOfText(Cells<StringValues>(*values, "unit")[row]);
    const int64_t samples = Cells<IntValues>(*values, "samples")[row];
    if (!unit.has_value() || samples < 0) {
      return NoBaseline(what + " has no unit that is known, or a negative number of samples",
                        "save the baseline again");
    }
    MetricValue metric = {value,
                          *unit,
                          samples,
                          {},
                          Cells<StringValues>(*values, "definition")[row],
                          maybe("least", row),
                          maybe("most", row),
                          std::abs(value) < kFirstRounded ? std::optional(0.0) : std::nullopt};
    std::map<MetricKey, MetricValue>& metrics = runs[static_cast<size_t>(number)].metrics;
    if (!metrics.emplace(std::move(key), std::move(metric)).second) {
      return NoBaseline("it has two values of " + what, "save the baseline again");
    }
  }
  if (runs.empty()) {
    return NoBaseline("it holds no run");
  }
  return runs;
}

}  // namespace borescope::internal
