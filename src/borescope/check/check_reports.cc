#include "borescope/check/check_reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "borescope/base/text/text.h"
#include "borescope/base/version.h"
#include "borescope/output/json_writer.h"
#include "borescope/output/markdown.h"
#include "borescope/table/display/view.h"

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

// The evidence for the verdict of a row.
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

// Markdown for the summary of a job on GitHub, which has at most 1 MiB.

namespace {

constexpr size_t kMostReportBytes = 60'000;

std::string_view MarkOf(BudgetStatus status) {
  constexpr std::string_view kMarks[] = {"✅ kept", "❌ broken", "❔ cannot tell", "⚠️ void"};
  return kMarks[static_cast<size_t>(status)];
}

}  // namespace

Result<void> WriteCheckMarkdown(const CiReport& report, Sink& sink) {
  const std::string_view untested = report.is_untested && report.status != BudgetStatus::kVoid
                                        ? ", the baseline was not tested"
                                        : "";
  std::string text = fmt::format("### borescope check: {}{}\n\n{}\n", MarkOf(report.status),
                                 untested, EscapeMarkdown(report.why));
  if (!report.checks.empty()) {
    text += "\n| check | status | finding |\n| --- | --- | --- |\n";
  }
  size_t shown = 0;
  for (const ReportedCheck& check : report.checks) {
    const std::string row = fmt::format("| {} | {} | {} |\n", EscapeMarkdown(check.name),
                                        MarkOf(check.status), EscapeMarkdown(check.sentence));
    if (text.size() + row.size() > kMostReportBytes) {
      break;
    }
    text += row;
    ++shown;
  }
  if (shown < report.checks.size()) {
    text += fmt::format("\n{} more {} not shown.\n", report.checks.size() - shown,
                        report.checks.size() - shown == 1 ? "is" : "are");
  }
  return sink.Write(text);
}

// The JUnit format that Jenkins and GitLab read (junit-10.xsd of the xUnit plugin of Jenkins).

namespace {

bool Fails(const CiReport& report, const ReportedCheck& check) {
  return check.status == BudgetStatus::kBroken ||
         (report.strict && check.status == BudgetStatus::kCannotTell);
}

std::string CaseText(const CiReport& report, const ReportedCheck& check) {
  std::string text = fmt::format(R"(    <testcase classname="borescope.check" name="{}" time="0")",
                                 EscapeMarkup(check.name));
  const std::string sentence = EscapeMarkup(check.sentence);
  if (check.status == BudgetStatus::kVoid) {
    return text + fmt::format(">\n      <error type=\"void\" message=\"{}\"/>\n    </testcase>\n",
                              EscapeMarkup(report.why));
  }
  if (Fails(report, check)) {
    return text + fmt::format(
                      ">\n      <failure type=\"{}\" message=\"{}\">{}\n{}</failure>\n"
                      "    </testcase>\n",
                      check.status == BudgetStatus::kBroken ? "broken" : "cannot-tell", sentence,
                      sentence, EscapeMarkup(check.evidence));
  }
  if (check.status == BudgetStatus::kCannotTell) {
    // As text, since older schemas have no attribute "message" here.
    return text + fmt::format(">\n      <skipped>{}</skipped>\n    </testcase>\n", sentence);
  }
  return text + fmt::format(">\n      <system-out>{}</system-out>\n    </testcase>\n", sentence);
}

}  // namespace

Result<void> WriteJunit(const CiReport& report, Sink& sink) {
  const auto count = [&](auto is_so) {
    return std::count_if(report.checks.begin(), report.checks.end(), is_so);
  };
  const auto failures = count([&](const ReportedCheck& check) { return Fails(report, check); });
  const auto errors =
      count([](const ReportedCheck& check) { return check.status == BudgetStatus::kVoid; });
  const auto skipped = count([&](const ReportedCheck& check) {
    return !report.strict && check.status == BudgetStatus::kCannotTell;
  });
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n";
  text += fmt::format(
      "  <testsuite name=\"borescope check\" tests=\"{}\" failures=\"{}\" "
      "errors=\"{}\" skipped=\"{}\" time=\"0\">\n",
      report.checks.size(), failures, errors, skipped);
  for (const ReportedCheck& check : report.checks) {
    text += CaseText(report, check);
  }
  return sink.Write(text + "  </testsuite>\n</testsuites>\n");
}

// The Static Analysis Results Interchange Format, version 2.1.0 (OASIS, 2020), as far as code
// reviews show it.

namespace {

// A URI reference of a path (RFC 3986).
std::string UriOf(std::string_view path) {
  constexpr std::string_view kPlain = "-._~/";
  std::string uri;
  for (const char c : path) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || IsDigit(c);
    if (is_letter || kPlain.find(c) != std::string_view::npos) {
      uri += c;
    } else {
      uri += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return uri;
}

void PutText(JsonWriter& json, std::string_view key, std::string_view text) {
  json.Key(key);
  json.BeginObject();
  json.Member("text", text);
  json.EndObject();
}

void PutRules(JsonWriter& json, const CiReport& report) {
  json.Key("rules");
  json.BeginArray();
  for (size_t i = 0; i < report.checks.size(); ++i) {
    json.BreakLine(4);
    json.BeginObject();
    json.Member("id", report.checks[i].id);
    PutText(json, "shortDescription", report.checks[i].name);
    json.EndObject();
  }
  json.EndArray();
}

void PutLocation(JsonWriter& json, const CiReport& report, const ReportedCheck& check) {
  json.Key("locations");
  json.BeginArray();
  json.BeginObject();
  json.Key("physicalLocation");
  json.BeginObject();
  json.Key("artifactLocation");
  json.BeginObject();
  json.Member("uri", UriOf(report.budget_path.empty() ? report.input : report.budget_path));
  json.EndObject();
  json.Key("region");
  json.BeginObject();
  json.Key("startLine");
  json.Int(std::max(check.line, 1U));
  json.EndObject();
  json.EndObject();
  json.EndObject();
  json.EndArray();
}

void PutResult(JsonWriter& json, const CiReport& report, size_t number) {
  const ReportedCheck& check = report.checks[number];
  const bool is_error =
      check.status == BudgetStatus::kBroken || check.status == BudgetStatus::kVoid || report.strict;
  json.BreakLine(3);
  json.BeginObject();
  json.Member("ruleId", check.id);
  json.Key("ruleIndex");
  json.Int(static_cast<int64_t>(number));
  json.Member("level", is_error ? "error" : report.is_untested ? "warning" : "note");
  const std::string_view what = check.status == BudgetStatus::kVoid ? report.why : check.sentence;
  PutText(json, "message",
          fmt::format("{}: {}{}{}", check.name, what,
                      check.evidence.empty() ? "" : "; see: ", check.evidence));
  PutLocation(json, report, check);
  json.EndObject();
}

void PutDriver(JsonWriter& json, const CiReport& report) {
  json.Key("tool");
  json.BeginObject();
  json.Key("driver");
  json.BeginObject();
  json.Member("name", "borescope check");
  json.Member("version", Version());
  PutRules(json, report);
  json.EndObject();
  json.EndObject();
}

}  // namespace

Result<void> WriteSarif(const CiReport& report, Sink& sink) {
  JsonWriter json(sink);
  json.BeginObject();
  json.Member("$schema", "https://json.schemastore.org/sarif-2.1.0.json");
  json.Member("version", "2.1.0");
  json.Key("runs");
  json.BeginArray();
  json.BreakLine(1);
  json.BeginObject();
  PutDriver(json, report);
  json.BreakLine(2);
  json.Key("results");
  json.BeginArray();
  for (size_t i = 0; i < report.checks.size(); ++i) {
    if (report.checks[i].status != BudgetStatus::kKept) {
      PutResult(json, report, i);
    }
  }
  json.EndArray();
  json.EndObject();
  json.EndArray();
  json.EndObject();
  return json.Finish();
}

namespace {

BudgetStatus StatusOfGate(Verdict verdict) {
  return verdict == Verdict::kWorse        ? BudgetStatus::kBroken
         : verdict == Verdict::kCannotTell ? BudgetStatus::kCannotTell
                                           : BudgetStatus::kKept;
}

std::string GateSentence(const GateRow& row) {
  return row.comparison.detectable.has_value()
             ? fmt::format("{}; detectable: {:.1f} %", row.sentence,
                           100 * *row.comparison.detectable)
             : row.sentence;
}

// A name encoded for an identifier, as in web forms, so that different names have different
// identifiers.
std::string IdOf(std::string_view name, std::string_view rule) {
  constexpr std::string_view kPlain = "-._";
  std::string id;
  for (const char c : name) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || kPlain.find(c) != std::string_view::npos;
    id += c == ' '   ? "+"
          : is_plain ? std::string(1, c)
                     : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return fmt::format("{}/{}", id, rule);
}

}  // namespace

CiReport ReportOfCheck(const JudgedCheck& outcome, const std::string& budget_path,
                       const std::string& input, bool strict) {
  CiReport report{outcome.status, outcome.why, budget_path, input, strict, outcome.is_untested, {}};
  if (outcome.status == BudgetStatus::kVoid) {
    report.checks.push_back(
        {"quality of the recordings", "quality/recordings", outcome.status, outcome.why, "", 0});
  }
  const auto is_of_baseline = [](const auto& one) { return one.decides; };
  if (outcome.is_untested && outcome.status != BudgetStatus::kVoid &&
      std::none_of(outcome.gate.begin(), outcome.gate.end(), is_of_baseline)) {
    report.checks.push_back({"comparison with the baseline", "baseline/tested",
                             BudgetStatus::kCannotTell,
                             "nothing was tested: no limit compares with the baseline, or none "
                             "could be compared",
                             "", 0});
  }
  for (const BudgetCheck& check : outcome.budgets) {
    report.checks.push_back({fmt::format("{} ({})", check.budget, check.rule),
                             IdOf(check.budget, check.rule), check.status, check.sentence,
                             check.evidence, check.line});
  }
  for (const GateRow& row : outcome.gate) {
    if (row.decides) {
      const std::string name = NameOf(row);
      report.checks.push_back({name + " (baseline)", IdOf(name, "gate"), StatusOfGate(row.verdict),
                               GateSentence(row), "", 0});
    }
  }
  return report;
}

}  // namespace borescope::internal
