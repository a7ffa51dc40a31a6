// Text in GitHub-flavoured Markdown, which holds HTML. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace borescope::internal {

// Text in HTML and XML. Pure.

// `text` for an element, or for an attribute in quotation marks: escaped, without what XML forbids
// and without characters that reorder, hide or break the text around them
// (U+FFFD instead).
std::string EscapeMarkup(std::string_view text);

// `text` as it may be in a sentence or in a cell of a table: escaped as HTML, and without what
// would mean something in Markdown, end the cell, link, or mention anybody. A name after "@" or
// "#", and the rest of an address, come after a blank of no width, as mentions are looked for in
// what the escapes mean. Longer texts end with "…" after so many bytes.
std::string EscapeMarkdown(std::string_view text, size_t most_bytes = 400);

// `text` as code, in which nothing links or mentions, in a sentence or a cell.
std::string MarkdownCode(std::string_view text);

}  // namespace borescope::internal
