// Markdown as GitHub shows it in the summary of a job, which holds at most 1 MiB.
#include <fmt/format.h>

#include <string>

#include "borescope/check/reports/ci_reports.h"
#include "borescope/output/markdown.h"

namespace borescope::internal {
namespace {

constexpr size_t kMostBytes = 60'000;

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
    if (text.size() + row.size() > kMostBytes) {
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

}  // namespace borescope::internal
