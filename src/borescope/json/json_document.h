// Small JSON documents, read as a whole by simdjson.
#pragma once

#include <simdjson.h>

#include <string_view>

namespace borescope::internal {

// Parses `text`, which need not outlive the call; `document` lives as long as `parser`. The error
// is one of the text: a lack of memory, which simdjson reports like one, is std::bad_alloc.
simdjson::error_code ParseDocument(simdjson::dom::parser& parser, std::string_view text,
                                   simdjson::dom::element& document);

}  // namespace borescope::internal
