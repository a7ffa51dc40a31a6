// Members of objects in a document that simdjson reads on demand, as texts of the document.
#pragma once

#include <simdjson.h>

#include <string_view>

namespace borescope::internal {

// The key as it is written; one with escapes is none that is read.
std::string_view KeyOf(simdjson::ondemand::field& field);

// The JSON text of a value. False where the document is damaged there.
bool RawOf(simdjson::ondemand::value& value, std::string_view& json);

}  // namespace borescope::internal
