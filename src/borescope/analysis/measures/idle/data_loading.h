// What of the host's work prepares the next batch, as far as names tell.
#pragma once

#include <string_view>
#include <vector>

#include "borescope/trace/trace.h"

namespace borescope::internal {

// By StringId: 1 where the name is one of data loading, or contains `also` if that is not empty.
std::vector<char> FindDataLoading(const Trace& trace, std::string_view also = {});

// By StringId: 1 where the name is that of taking a batch which processes of their own prepare:
// most of its time is the wait for them.
std::vector<char> FindArrivals(const Trace& trace);

}  // namespace borescope::internal
