// The results of a check as tables, and as reports for continuous integration: JUnit, SARIF 2.1.0
// and Markdown. Pure except for the sink. Names come from recordings and may contain anything, so
// they are escaped for their format.
#pragma once

#include <string>
#include <vector>

#include "borescope/base/result.h"
#include "borescope/check/judge.h"
#include "borescope/output/sink/sink.h"
#include "borescope/table/table.h"

namespace borescope::internal {

// A result in a report: a limit of a budget, or the comparison of the steps.
struct ReportedCheck {
  std::string name;  // "step time (max)"
  std::string id;    // of its rule, made from its name alone: "step+time/max"
  BudgetStatus status = BudgetStatus::kKept;
  std::string sentence;
  std::string evidence;
  uint32_t line = 0;  // in the budget file; 0: not from a file
};

struct CiReport {
  BudgetStatus status = BudgetStatus::kKept;
  std::string why;
  std::string budget_path;   // empty without a budget file
  std::string input;         // the first run that was checked
  bool strict = false;       // "cannot tell" is a failure too
  bool is_untested = false;  // as in JudgedCheck
  std::vector<ReportedCheck> checks;
};

// The report of an outcome, with the rows of the comparison that decide, and other rows that are
// slower.
CiReport ReportOfCheck(const JudgedCheck& outcome, const std::string& budget_path,
                       const std::string& input, bool strict);

// Writes one suite with a test case for each check. "Cannot tell" is skipped, or fails if strict.
Result<void> WriteJunit(const CiReport& report, Sink& sink);
// Writes a rule for each check, and a result for each that is not kept, at its line of the budget
// file. Results without a budget are at the first line of that file or, without one, of the first
// run, as GitHub refuses results without a place.
Result<void> WriteSarif(const CiReport& report, Sink& sink);
// Writes a heading and a table of at most 60 kB, for the summary of a job.
Result<void> WriteCheckMarkdown(const CiReport& report, Sink& sink);

// The tables of the verb check: `check` (the result), `check_runs`, `checks` (a row for each limit
// of a budget), `gate` (a row for each metric of the comparison) and `gate_calls` (how much work a
// step has). Empty tables are left out; without an outcome, as for a schema, there are all tables.
std::vector<Table> CheckTables(const JudgedRuns& runs, const JudgedCheck& outcome);

}  // namespace borescope::internal
