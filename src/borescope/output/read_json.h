// Reads the tables and diagnostics that WriteJson wrote, of this schema and of the one before
// (docs/formats/table-json.md). Pure; any thread.
#pragma once

#include <string_view>

#include "borescope/base/result.h"
#include "borescope/output/document.h"

namespace borescope::internal {

// Whatever the text is, the result is a document that every writer can write, or an error that
// names the byte: kUnsupportedFormat for other JSON and for schemas that are not known, kCorrupt
// for damage. Members that are not known are passed over, and so are tones and palettes.
//
// What WriteJson makes of the result is what it made of the original. Columns of schema 1 have the
// role kDerived, as it has none.
Result<Document> ReadJson(std::string_view json);

}  // namespace borescope::internal
