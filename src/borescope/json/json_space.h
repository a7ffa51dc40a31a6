// White space between the tokens of JSON, and the byte-order mark that some programs write before
// the text. Pure functions, safe from any thread.
#pragma once

#include <cstddef>
#include <string_view>

#include "borescope/base/text/text.h"

namespace borescope::internal {

inline constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

// Position of the first character at or after `at` that is not white space; the size of the text if
// there is none.
constexpr size_t FindNonSpace(std::string_view text, size_t at = 0) {
  while (at < text.size() && IsSpace(text[at])) {
    ++at;
  }
  return at;
}

}  // namespace borescope::internal
