// The report as plain HTML: what a browser shows without any script.
#pragma once

#include <string_view>

#include "borescope/base/result.h"
#include "borescope/output/html/html.h"

namespace borescope::internal {

// A template for WriteHtml that needs nothing but itself.
std::string_view PlainTemplate();

// Every section with its tables, escaped; numbers as the text writer shows them.
Result<void> WritePlainBody(const ReportPage& page, Sink& sink);

}  // namespace borescope::internal
