// The page of a check, and what of its tables is drawn. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "borescope/check/judge.h"
#include "borescope/output/html/html.h"
#include "borescope/output/writer.h"

namespace borescope::internal {

// The limits of budgets with the values held against them, and the changes with their intervals;
// nothing of what the outcome does not hold.
std::vector<ViewSpec> CheckViews(const JudgedCheck& outcome);

// As a report has it, with one section, whose summary is the result. `runs`: as they were named,
// the first gives the title.
ReportPage PageOfCheck(const std::vector<std::string>& runs, const JudgedCheck& outcome,
                       const Document& document);

}  // namespace borescope::internal
