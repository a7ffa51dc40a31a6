// StructuralParser: the fast path. simdjson's first stage finds every structural character, checks
// UTF-8 and control characters with the widest vectors of the CPU (simdjson chooses at run time); a
// walk over that index then reads the events. Malformed text is left, from the start of its event
// on, to the TolerantParser.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "borescope/base/result.h"
#include "borescope/ingest/events/event_parser.h"
#include "borescope/ingest/kineto/kineto_events.h"
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
  ParseOutcome Parse(std::string_view text, uint64_t byte, KinetoEvents& sink);

 private:
  enum class Walk : uint8_t { kOk, kIncomplete, kDamaged };

  bool FindStructure(std::string_view text);
  ParseOutcome WalkEvents(size_t size, uint64_t byte, KinetoEvents& sink);
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
  size_t events_end_ = 0;          // after the last event read
  RawEvent event_;
  std::string scratch_;
};

}  // namespace borescope::internal
