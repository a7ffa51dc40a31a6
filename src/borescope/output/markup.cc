#include "borescope/output/markup.h"

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

}  // namespace borescope::internal
