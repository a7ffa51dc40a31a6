// Text in HTML and XML. Pure.
#pragma once

#include <string>
#include <string_view>

namespace borescope::internal {

// `text` as it may stand in an element, or in an attribute in quotation marks: escaped, without
// what XML forbids and without characters that reorder, hide or break what stands around them
// (U+FFFD instead).
std::string EscapeMarkup(std::string_view text);

}  // namespace borescope::internal
