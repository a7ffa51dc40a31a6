// Text of JSON strings: escaping, unescaping, repair of UTF-8. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace borescope::internal {

// What had to be repaired in one string.
struct StringRepairs {
  bool invalid_utf8 = false;  // bytes that are not UTF-8, or lone surrogates
  bool control = false;       // raw control characters
  bool bad_escape = false;    // a backslash that does not start an escape; kept as a backslash
};

// The text between the quotes of a JSON string, escapes resolved, always valid UTF-8. `scratch` is
// used only if something has to change; the result views `raw` or `scratch`.
std::string_view DecodeString(std::string_view raw, std::string& scratch, StringRepairs& repairs);

}  // namespace borescope::internal
