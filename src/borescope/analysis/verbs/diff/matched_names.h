// The name under which something of one run is found in another one.
#pragma once

#include <string>
#include <string_view>

#include "borescope/trace/tables.h"

namespace borescope::internal {

// Without what changes from run to run although the same thing ran:
//   steps               ProfilerStep#12 -> ProfilerStep#*, and all numbers of a server's step
//   addresses           "<function f at 0x7f12ab34cd56>" -> "<function f at 0x*>"
//   lines of functions  "model.py(821): forward" -> "model.py: forward", of Python frames only
std::string MatchedHostName(std::string_view name, HostKind kind);

// Of device work: without addresses.
std::string MatchedWorkName(std::string_view name);

}  // namespace borescope::internal
