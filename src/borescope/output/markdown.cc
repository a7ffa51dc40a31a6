#include "borescope/output/markdown.h"

#include <fmt/format.h>

#include "borescope/output/utf8.h"

namespace borescope::internal {

namespace {

std::string_view Entity(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      return {};
  }
}

}  // namespace

std::string EscapeMarkup(std::string_view text) {
  std::string markup;
  markup.reserve(text.size());
  for (const char c : ToPrintable(text)) {  // nothing is left in it that XML knows no way to write
    const std::string_view entity = Entity(c);
    markup += entity.empty() ? std::string_view(&c, 1) : entity;
  }
  return markup;
}

namespace {

constexpr std::string_view kNoWidth = "&#8203;";

// The longest beginning of at most so many bytes that ends with a character.
std::string_view BeginOf(std::string_view text, size_t most_bytes) {
  if (text.size() <= most_bytes) {
    return text;
  }
  size_t end = most_bytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U) {
    --end;
  }
  return text.substr(0, end);
}

bool IsWww(std::string_view text, size_t dot) {
  return dot >= 3 && text[dot] == '.' &&
         (text.substr(dot - 3, 3) == "www" || text.substr(dot - 3, 3) == "WWW");
}

// An ASCII character that HTML or Markdown would take for its own as an entity; any other byte as
// it is.
std::string Harmless(char c, std::string_view meaning) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    default:
      return meaning.find(c) == meaning.npos ? std::string(1, c)
                                             : fmt::format("&#{};", static_cast<int>(c));
  }
}

}  // namespace

std::string EscapeMarkdown(std::string_view text, size_t most_bytes) {
  constexpr std::string_view kMeaning = "\\`*_{}[]!|~@$^";
  const std::string printable = ToPrintable(BeginOf(text, most_bytes));
  const std::string_view all(printable);
  std::string escaped;
  for (size_t i = 0; i < all.size(); ++i) {
    const char c = all[i];
    const bool links = c == '@' || c == '#' || all.substr(i).starts_with("://");
    escaped += IsWww(all, i) ? kNoWidth : "";
    escaped += Harmless(c, kMeaning);
    escaped += links ? kNoWidth : "";
  }
  return text.size() > most_bytes ? escaped + "\xE2\x80\xA6" : escaped;
}

// Between back quotes nothing means anything, but what ends them or the cell.
std::string MarkdownCode(std::string_view text) {
  const std::string printable = ToPrintable(text);
  if (printable.find_first_of("`|\\") == std::string::npos &&
      printable.find_first_not_of(' ') != std::string::npos) {
    return fmt::format("`{}`", printable);
  }
  std::string code = "<code>";
  for (const char c : printable) {
    code += Harmless(c, "\\`*_{}[]!|~@$^:#.");
  }
  return code + "</code>";
}

}  // namespace borescope::internal
