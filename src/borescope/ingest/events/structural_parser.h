// StructuralParser: the fast path. simdjson's first stage finds every structural character, checks
// UTF-8 and control characters with the widest vectors of the CPU (simdjson chooses at run time); a
// walk over that index then reads the events. Malformed text is left, from the start of its event
// on, to the TolerantParser.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "borescope/base/result.h"
#include "borescope/ingest/events/event_parser.h"
#include "borescope/ingest/kineto/kineto_fields.h"

namespace simdjson::internal {
class dom_parser_implementation;  // NOLINT(readability-identifier-naming): simdjson's name
}

namespace borescope::internal {

// Not thread-safe; reuse one per thread.
class StructuralParser {
 public:
  StructuralParser();
  ~StructuralParser();
  StructuralParser(StructuralParser&&) noexcept;
  StructuralParser& operator=(StructuralParser&&) noexcept;

  // Reads the events of `text`, which starts between two events and is followed by kTextPadding
  // bytes. `byte` is the offset of `text` in the file. REQUIRES: text.size() < 4 GiB.
  ParseOutcome Parse(std::string_view text, uint64_t byte, EventSink& sink);

  // The same one event after the other, for a caller that skips some. Begin is false if the text is
  // not well-formed; nothing else may be called then. It REQUIRES that not all of the text is white
  // space.
  bool Begin(std::string_view text, uint64_t byte);
  // Moves on to the first token at or after `at`, which is the begin or the end of an event.
  void MoveTo(size_t at);
  // Reads an event and what separates it from the next one; or the reason why there is none.
  std::optional<ParseOutcome> ReadEvent(EventSink& sink);
  // Where reading goes on.
  size_t position() const { return at_ < end_ ? *at_ : size_; }
  // Where the event that was read last begins, and where it ends; 0 if there was none.
  size_t event_begin() const { return event_begin_; }
  size_t events_end() const { return events_end_; }

 private:
  enum class Walk : uint8_t { kOk, kIncomplete, kDamaged };

  bool FindStructure(std::string_view text);
  // What separates two events, after the first.
  std::optional<ParseOutcome> PassComma();
  Walk WalkEvent();
  template <class FindField>
  Walk WalkObject(const FindField& find_field);
  Walk WalkValue(std::string_view& token);
  Walk WalkContainer(std::string_view& token);
  // The string token at the cursor, its quotes included.
  bool StringToken(std::string_view& token) const;
  char Here() const { return text_[*at_]; }

  std::unique_ptr<simdjson::internal::dom_parser_implementation> structure_;
  size_t capacity_ = 0;
  const char* text_ = nullptr;
  const uint32_t* at_ = nullptr;   // next structural character
  const uint32_t* end_ = nullptr;  // a readable sentinel
  size_t size_ = 0;                // of the text
  uint64_t byte_ = 0;              // its offset in the file
  size_t event_begin_ = 0;         // of the last event read
  size_t events_end_ = 0;          // after it
  RawEvent event_;
  std::string scratch_;
};

}  // namespace borescope::internal
