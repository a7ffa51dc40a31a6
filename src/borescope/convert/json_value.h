// Whether a text can stand in JSON as a value.
#pragma once

#include <string_view>

namespace borescope::internal {

// True for one JSON value by the letter of RFC 8259, in numbers of any size, in one line, none in
// it inside of more than 63 others. Says nothing of whether strings in it are UTF-8.
bool IsJsonValue(std::string_view text);

}  // namespace borescope::internal
