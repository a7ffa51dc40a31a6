// JSON text as Python's json module writes it (json.dump with indent=4 and ASCII only), which is
// the form of linked traces: line breaks, order of escapes and the digits of floating point numbers
// are part of it. The compact form has the same tokens without white space.
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

// The value of which `json` is the text, which begins at `level`: integers as they are, other
// numbers as the shortest text that reads back the same, all but ASCII escaped. Gives the offset in
// `json` of what is no JSON or nested deeper than kDeepestJson, else std::string_view::npos.
size_t AppendValue(std::string& out, std::string_view json, JsonForm form, int level);
inline constexpr size_t kDeepestJson = 256;

// `content`: what stands between the quotation marks of a JSON string, escapes as written.
void AppendStringToken(std::string& out, std::string_view content);

// The inside of the JSON string of a text in UTF-8.
void AppendAsciiJson(std::string& out, std::string_view text);

// What Python reads from the text of a number: beyond the range of a double it is infinite, or
// nothing. None for text that is no number.
std::optional<double> ReadPythonDouble(std::string_view token);

// repr(value): "0.1", "2.0", "1e-05", "1e+16", "NaN", "Infinity".
void AppendPythonDouble(std::string& out, double value);

// Members of objects in a document that simdjson reads on demand, as texts of the document.

// The key as it is written; one with escapes is none that is read.
std::string_view KeyOf(simdjson::ondemand::field& field);

// The JSON text of a value. False where the document is damaged there.
bool RawOf(simdjson::ondemand::value& value, std::string_view& json);

// Values as Python writes them with str(): the texts of arguments in a Chakra trace have this form.

// Appends str() of one JSON value: [1, 'a', None]; a text that is the whole value stands as it is.
// Takes any bytes; what is no JSON comes out in part.
void AppendPythonStr(std::string_view json, std::string& out);

// The shortest digits that read back the same, as repr(): 0.1, 2.0, 1e-05, 1e+16, nan, inf.
void AppendPythonFloat(double value, std::string& out);

}  // namespace borescope::internal
