// TolerantParser: the careful path, byte by byte, for text the StructuralParser refuses. Repairs as
// much as possible, counts every repair, and continues at the next event after text that cannot be
// read. On well-formed text it gives exactly what the StructuralParser gives, which the tests rely
// on.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "borescope/ingest/events/event_parser.h"
#include "borescope/ingest/kineto/kineto_fields.h"

namespace borescope::internal {

// What follows the text that a parser is given.
enum class ChunkEnd : uint8_t {
  kMoreText,  // more, with which an event at the end may be complete
  kEndOfText,
  kTooLong,  // more, but an event at the end is longer than events may be
};

// Not thread-safe.
class TolerantParser {
 public:
  // Reads events from `text`, which starts between two events at offset `byte` of the file; with
  // `after_event` the comma between them is still expected. An incomplete event at its end is
  // damaged, unless more text follows. Never returns kDamaged.
  ParseOutcome Parse(std::string_view text, uint64_t byte, bool after_event, ChunkEnd end,
                     EventSink& sink);

 private:
  enum class Read : uint8_t { kOk, kIncomplete, kDamaged };
  enum class Place : uint8_t { kKey, kEventValue, kArgsValue, kElement };

  // Reads the text at `at_`: an event, the separator before it or the end of the array. False if
  // parsing stops with `outcome`.
  bool Step(ParseOutcome& outcome);
  Read ReadEvent();
  Read TryEvent(size_t start);
  bool FollowsEvent(size_t at) const;
  Read ReadObject(bool is_args);
  Read ReadArgs();
  Read ReadMember(bool is_args);
  Read ReadValue(Place place, std::string_view& token);
  Read ReadString(Place place, std::string_view& token);
  Read ReadScalar(std::string_view& token);
  Read SkipContainer(std::string_view& token);
  bool ClosesString(size_t quote, Place place) const;
  bool StartsMember(size_t at, bool of_event) const;

  // Gives up the event at `event_start`: moves on to the next recognisable one, or stops.
  bool Resynchronise(size_t event_start, Read why, ParseOutcome& outcome);
  // Where the next event seems to start after `from`, or npos.
  size_t FindEventStart(size_t from);
  bool StartsEventAt(size_t brace);
  bool MayCloseArray(size_t bracket) const;
  // Where a bracket seems to close the array after `from`, or npos.
  size_t FindArrayEnd(size_t from) const;

  size_t SkipSpace(size_t at) const;
  bool AtEnd() const { return at_ >= text_.size(); }
  void Count(Diag diag, size_t at, std::string_view first = {}) {
    repairs_.Count(diag, byte_ + at, first);
  }

  std::string_view text_;
  uint64_t byte_ = 0;
  size_t at_ = 0;
  size_t events_end_ = 0;  // after the last event read
  ChunkEnd end_ = ChunkEnd::kMoreText;
  bool needs_comma_ = false;
  bool is_strict_ = false;   // the first unescaped quote ends a string, and nothing is repaired
  size_t stray_quotes_ = 0;  // in the event being read
  EventSink* sink_ = nullptr;
  RawEvent event_;
  Diagnostics repairs_;            // of the event being read; dropped if the event is given up
  std::deque<std::string> arena_;  // repaired tokens of the event being read
  std::string args_;               // its args as read, repairs included
  std::string scratch_;
};

}  // namespace borescope::internal
