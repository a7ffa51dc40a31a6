// Values of the engine as plain objects of Python, and back.
#pragma once

#include <nanobind/nanobind.h>

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "borescope/answer.h"
#include "borescope/query.h"
#include "borescope/question.h"

namespace borescope::python {

using Pairs = std::vector<Question::Entry>;

// A list of (name, value); a value is None, an int, a float or a str.
SqlParameters SqlParametersOf(const nanobind::list& pairs);

nanobind::bytes BytesOf(const std::string& text);

// Bytes as they are, or a str as UTF-8: names of files may be no valid text.
std::string RawText(nanobind::handle text);

// The text as a str; bytes that are not UTF-8 become U+FFFD, as in JSON and Arrow.
nanobind::object TextOf(std::string_view text);

// A list of (code, severity, count, file, first, help); severity is 0 for info, 1 for a warning, 2
// for an error.
nanobind::list DiagnosticsOf(std::span<const Diagnostic> diagnostics);

// A dict a file, with the members of FileInfo.
nanobind::list FilesOf(std::span<const FileInfo> files);

}  // namespace borescope::python
