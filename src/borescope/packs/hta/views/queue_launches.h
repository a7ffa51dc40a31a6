// The names of calls that HTA counts as entering a queue.
#pragma once

#include <string_view>

namespace borescope::internal {

bool IsHtaQueueLaunch(std::string_view name);

}  // namespace borescope::internal
