// JSON text as Python's json module writes it (json.dump with indent=4 and ASCII only), which is
// the form of linked traces: line breaks, order of escapes and the digits of floating point numbers
// are part of it. The compact form has the same tokens without white space.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace borescope::internal::chakra {

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

}  // namespace borescope::internal::chakra
