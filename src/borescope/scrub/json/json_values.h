// JSON values written again without what may not stay in them. The text of a value is any that a
// reader understands; what no reader would take for a value becomes null.
#pragma once

#include <string>
#include <string_view>

#include "borescope/scrub/text/scrubber.h"

namespace borescope::internal {

// `text` as a JSON string, quoted.
std::string JsonString(std::string_view text);

// Numbers, true, false and null as they are, strings as `use` says, arrays of these likewise; an
// object has no members left.
std::string CleanJson(std::string_view value, TextUse use, Scrubber& scrubber);

// A number, true or false, or null for everything else.
std::string_view NumberOrNull(std::string_view value);
// The same, or a number between quotation marks, also a hexadecimal one.
std::string_view NumberField(std::string_view value);

}  // namespace borescope::internal
