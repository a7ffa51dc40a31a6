#pragma once

#include <string>
#include <vector>

#include "borescope/base/result.h"
#include "borescope/check/judge.h"
#include "borescope/output/sink/sink.h"
#include "borescope/table/table.h"

namespace borescope::internal {

// What programs of continuous integration read: JUnit, SARIF 2.1.0 and Markdown. Pure but for the
// sink. Names come from recordings and may hold anything: they are escaped for their format.

// A result that a report shows: a limit of a budget, or the comparison of the steps.
struct ReportedCheck {
  std::string name;  // "step time (max)"
  std::string id;    // of its rule, from its name alone: "step+time/max"
  BudgetStatus status = BudgetStatus::kKept;
  std::string sentence;
  std::string evidence;
  uint32_t line = 0;  // in the budget file; 0: in none
};

struct CiReport {
  BudgetStatus status = BudgetStatus::kKept;
  std::string why;
  std::string budget_path;   // empty: no budget file
  std::string input;         // the first run that was checked
  bool strict = false;       // "cannot tell" is a failure, too
  bool is_untested = false;  // as of JudgedCheck
  std::vector<ReportedCheck> checks;
};

// Of an outcome; rows of the comparison that decide are in it, and of others those that are slower.
CiReport ReportOfCheck(const JudgedCheck& outcome, const std::string& budget_path,
                       const std::string& input, bool strict);

// One suite; a test case for each check. "Cannot tell" is skipped, or fails where it is strict.
Result<void> WriteJunit(const CiReport& report, Sink& sink);
// A rule for each check, and a result for each that is not kept, at its line of the budget file;
// what is of no budget at the first line of that file or, without one, of the first run: GitHub
// refuses results without a place.
Result<void> WriteSarif(const CiReport& report, Sink& sink);
// A heading and a table, of at most 60 kB, for a summary of a job.
Result<void> WriteCheckMarkdown(const CiReport& report, Sink& sink);

// The tables of the verb check. Pure.

// `check` (the result), `check_runs`, `checks` (a row for each limit of a budget) and `gate` (a row
// for each metric of the comparison) and `gate_calls` (how much work a step has); empty tables are
// left out. With no outcome, as for a schema: all of them.
std::vector<Table> CheckTables(const JudgedRuns& runs, const JudgedCheck& outcome);

}  // namespace borescope::internal
