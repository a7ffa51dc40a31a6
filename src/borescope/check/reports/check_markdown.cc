// Markdown as GitHub shows it in the summary of a job, which holds at most 1 MiB.
#include <fmt/format.h>

#include <string>

#include "borescope/check/reports/ci_reports.h"
#include "borescope/output/markup.h"

namespace borescope::internal {
namespace {

constexpr size_t kMostBytes = 60'000;
constexpr size_t kMostOfCell = 400;

// A text in a cell: escaped as HTML, which Markdown holds, and without what would mean something in
// Markdown, begin a mention or end the cell.
std::string CellOf(std::string_view text) {
  constexpr std::string_view kMeaning = "\\`*_{}[]!|~@$^";
  const bool is_long = text.size() > kMostOfCell;
  size_t end = is_long ? kMostOfCell : text.size();
  while (is_long && end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) {
    --end;
  }
  std::string cell;
  for (const char c : EscapeMarkup(text.substr(0, end))) {
    if (c == '\n' || c == '\r' || c == '\t') {
      cell += ' ';
    } else if (kMeaning.find(c) != std::string_view::npos) {
      cell += fmt::format("&#{};", static_cast<int>(c));
    } else {
      cell += c;
    }
  }
  return cell + (is_long ? "…" : "");
}

std::string_view MarkOf(BudgetStatus status) {
  constexpr std::string_view kMarks[] = {"✅ kept", "❌ broken", "❔ cannot tell", "⚠️ void"};
  return kMarks[static_cast<size_t>(status)];
}

}  // namespace

Result<void> WriteCheckMarkdown(const CiReport& report, Sink& sink) {
  std::string text =
      fmt::format("### borescope check: {}\n\n{}\n", MarkOf(report.status), CellOf(report.why));
  if (!report.checks.empty()) {
    text += "\n| check | status | finding |\n| --- | --- | --- |\n";
  }
  size_t shown = 0;
  for (const ReportedCheck& check : report.checks) {
    const std::string row = fmt::format("| {} | {} | {} |\n", CellOf(check.name),
                                        MarkOf(check.status), CellOf(check.sentence));
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
