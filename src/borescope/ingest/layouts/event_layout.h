// EventLayout: an event without its values, as a writer repeats it. Learnt from one event.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/ingest/kineto/kineto_fields.h"

namespace borescope::internal {

enum class Slot : uint8_t {
  kScalar,     // a number or a word, up to a comma, a brace or white space
  kString,     // up to its closing quotation mark, which begins the next fixed text
  kContainer,  // a list or an object other than "args"
  kEnd,        // nothing: the event ends with the fixed text
};

// Fixed text and the value after it.
struct LayoutStep {
  static constexpr int kNowhere = -1;

  std::string fixed;
  Slot slot = Slot::kEnd;
  Field field = Field::kCount;  // of the value; kCount if it is not read
  int args_begin = kNowhere;    // of the opening brace of "args" in `fixed`
  int args_end = kNowhere;      // after its closing brace

  bool operator==(const LayoutStep&) const = default;
};

struct EventLayout {
  std::vector<LayoutStep> steps;  // the last one, and no other, has Slot::kEnd
  // Phase and category are in the fixed text, with their quotation marks; empty if absent.
  std::string phase;
  std::string category;
};

// The layout of a well-formed event, from its opening to its closing brace. Nothing for an event
// that is not worth remembering: with repeated or escaped keys, a phase or category that is no
// plain string, or very long fixed texts. REQUIRES: kTextPadding bytes after `event` are readable.
// Any thread.
std::optional<EventLayout> LayoutOf(std::string_view event);

}  // namespace borescope::internal
