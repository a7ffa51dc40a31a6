// `borescope open`: a trace in Perfetto's page, or the report, in the user's browser.
#pragma once

#include "borescope/cli/options/arguments.h"

namespace borescope::cli {

int RunOpenVerb(const Command& command);

}  // namespace borescope::cli
