// Finds where events begin in the unparsed text of a "traceEvents" array. Pure.
#pragma once

#include <cstddef>
#include <string_view>

namespace borescope::internal {

// Whether an event seems to start at the start of `text`: a brace and a key that events begin with.
bool StartsEvent(std::string_view text);

// The start of the last event of `text` that follows another one, or npos: the place to cut.
size_t FindEventBoundary(std::string_view text);

}  // namespace borescope::internal
