#include "borescope/json/json_document.h"

#include <new>

namespace borescope::internal {
namespace {

// simdjson finds out at its first use which code this processor has, where it must not fail: so
// that is now, before there is anything to lose.
[[maybe_unused]] const bool kHasChosen = !simdjson::get_active_implementation()->name().empty();

}  // namespace

simdjson::error_code ParseDocument(simdjson::dom::parser& parser, std::string_view text,
                                   simdjson::dom::element& document) {
  constexpr bool kCopies = true;  // to where the bytes after the text may be read
  const simdjson::error_code error = parser.parse(text.data(), text.size(), kCopies).get(document);
  if (error == simdjson::MEMALLOC) {
    throw std::bad_alloc();
  }
  return error;
}

}  // namespace borescope::internal
