// JSON text as Python's json module writes it (json.dump with indent=4 and only ASCII), which is
// the form of linked traces, including line breaks, the order of escapes and the digits of floating
// point numbers. The compact form has the same tokens without white space.
#pragma once

#include <simdjson.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace borescope::internal {

enum class JsonForm { kIndented, kCompact };

// Starts a line with `level` steps of four blanks; nothing in the compact form.
void AppendBreak(std::string& out, JsonForm form, int level);

// Appends the value whose text is `json` and which begins at `level`: integers as they are, other
// numbers as the shortest text that reads back the same, and everything but ASCII escaped. Returns
// the offset in `json` of what is not JSON or nested deeper than kDeepestJson, else
// std::string_view::npos.
size_t AppendValue(std::string& out, std::string_view json, JsonForm form, int level);
inline constexpr size_t kDeepestJson = 256;

// `content`: the text between the quotation marks of a JSON string, escapes as written.
void AppendStringToken(std::string& out, std::string_view content);

// Appends the inside of the JSON string for a text in UTF-8.
void AppendAsciiJson(std::string& out, std::string_view text);

// What Python reads from the text of a number: beyond the range of a double it is infinite, or
// zero. None for text that is not a number.
std::optional<double> ReadPythonDouble(std::string_view token);

// repr(value): "0.1", "2.0", "1e-05", "1e+16", "NaN", "Infinity".
void AppendPythonDouble(std::string& out, double value);

// Members of objects in a document that simdjson reads on demand, as texts of the document.

// The key as written. A key with escapes never equals one that is read.
std::string_view KeyOf(simdjson::ondemand::field& field);

// The JSON text of a value. False if the document is damaged there.
bool RawOf(simdjson::ondemand::value& value, std::string_view& json);

// Values as Python writes them with str(): the texts of arguments in a Chakra trace have this form.

// Appends str() of one JSON value: [1, 'a', None]. A text that is the whole value is appended as it
// is. Any bytes are fine; what is not JSON is appended in part.
void AppendPythonStr(std::string_view json, std::string& out);

// The shortest digits that read back the same, as repr(): 0.1, 2.0, 1e-05, 1e+16, nan, inf.
void AppendPythonFloat(double value, std::string& out);

}  // namespace borescope::internal
