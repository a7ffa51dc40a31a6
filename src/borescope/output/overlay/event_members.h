// The text of one event of the Chrome trace format: its members, and the text with one more
// argument.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace borescope::internal {

// The value of the member `key` of a JSON object, as it stands there; of several the last, which
// readers of JSON take. Keys are compared as they are written. REQUIRES: `object` begins with a
// brace and ends with the one that closes it.
std::optional<std::string_view> FindMember(std::string_view object, std::string_view key);

// `event` with the argument "critical": 1 behind all others, everything else byte for byte. An
// event without arguments gets them; where "args" is no object, the member stands in the event
// itself. REQUIRES: as FindMember.
std::string MarkedCritical(std::string_view event);

}  // namespace borescope::internal
