#include "borescope/ingest/events/event_boundary.h"

#include "borescope/json/json_space.h"

namespace borescope::internal {

bool StartsEvent(std::string_view text) {
  if (!text.starts_with('{')) {
    return false;
  }
  const std::string_view rest = text.substr(FindNonSpace(text, 1));
  for (const std::string_view key :
       {"\"ph\"", "\"name\"", "\"cat\"", "\"pid\"", "\"tid\"", "\"ts\""}) {
    if (rest.starts_with(key)) {
      return true;
    }
  }
  return false;
}

// A guess, fast and nearly always right; each is proved afterwards when the parser finds that every
// chunk ends exactly between two events.
size_t FindEventBoundary(std::string_view text) {
  for (size_t comma = text.rfind(','); comma != std::string_view::npos && comma > 0;
       comma = text.rfind(',', comma - 1)) {
    size_t before = comma - 1;
    while (before > 0 && IsSpace(text[before])) {
      --before;
    }
    const size_t brace = FindNonSpace(text, comma + 1);
    if (text[before] == '}' && StartsEvent(text.substr(brace))) {
      return brace;
    }
  }
  return std::string_view::npos;
}

}  // namespace borescope::internal
