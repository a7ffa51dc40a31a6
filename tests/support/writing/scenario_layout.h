// The four ways a trace file is laid out: where it has blanks and line breaks. Knows JSON, but no
// events; everything here is made once, the writer only copies the pieces.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tests/support/scenario_config.h"

namespace borescope::scenario {

// What separates a member from the one before it, in Kineto's own layout.
enum class Gap : uint8_t {
  kFirst,  // nothing precedes it
  kTight,  // a comma without a blank
  kSame,   // a comma and a blank
  kWide,   // a comma and six blanks
  kLine,   // a comma and a new line
};

// How deep a member lies: in the file's object, in an event, in an event's "args".
enum class Depth : uint8_t { kTop = 1, kEvent = 3, kArgs = 4 };

class TextLayout {
 public:
  explicit TextLayout(LayoutKind kind) : kind_(kind) {}

  // The text from the end of the value before to the start of this member's value.
  std::string Key(Depth depth, Gap gap, std::string_view key) const;

  // `json` (one blank after each comma and colon) as this layout writes it.
  std::string Value(std::string_view json, Depth depth) const;

  std::string_view file_begin() const;
  std::string_view file_end() const;
  std::string_view list_begin() const;  // after "traceEvents":
  std::string_view list_end() const;    // before the closing of the file's object
  std::string_view between_events() const;
  std::string_view event_begin() const;
  std::string_view event_end() const;
  std::string_view args_begin() const;
  std::string_view args_end() const;

 private:
  LayoutKind kind_;
};

}  // namespace borescope::scenario
