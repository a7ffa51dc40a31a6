// The form that Jenkins and GitLab read (junit-10.xsd of the xUnit plugin of Jenkins).
#include <fmt/format.h>

#include <algorithm>

#include "borescope/check/reports/ci_reports.h"
#include "borescope/output/markup.h"

namespace borescope::internal {
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
    // As text: the older schemas know no attribute "message" here.
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

}  // namespace borescope::internal
