// Where events begin in the text of a "traceEvents" array that is not parsed yet. Pure.
#pragma once

#include <cstddef>
#include <string_view>

namespace borescope::internal {

// Whether an event seems to start at the start of `text`: a brace and a key that events begin with.
bool StartsEvent(std::string_view text);

// Where the last event of `text` that follows another one starts, or npos: the place to cut.
size_t FindEventBoundary(std::string_view text);

}  // namespace borescope::internal
