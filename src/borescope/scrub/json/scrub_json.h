// Scrubs recordings that are JSON text: Kineto traces, execution traces and memory timelines. The
// memory is proportional to the longest event of a Kineto trace, and to the whole text of the
// others.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "borescope/base/diagnostics.h"
#include "borescope/base/result.h"
#include "borescope/ingest/events/event_values.h"
#include "borescope/ingest/events/text_reader.h"
#include "borescope/output/sink/sink.h"
#include "borescope/scrub/scrubber.h"

namespace borescope::internal {

struct ScrubbedText {
  uint64_t events = 0;   // written: events, nodes or entries
  uint64_t dropped = 0;  // unknown members, which were removed
  bool was_cut = false;  // the text ended early; what was written is complete
};

// `name` is that of the file in messages. kCorrupt if the text is not JSON, kUnsupportedFormat if
// it is not a recording.
Result<ScrubbedText> ScrubJson(TextReader& reader, const std::string& name, Scrubber& scrubber,
                               Sink& sink);

// Cleaning of JSON values. They may be any text that the readers accept; other text becomes null.

// `text` as a JSON string, quoted.
std::string JsonString(std::string_view text);

// Keeps numbers, true, false and null, cleans strings by `use`, and arrays element by element;
// objects lose all members.
std::string CleanJson(std::string_view value, TextUse use, Scrubber& scrubber);

// The value if it is a number, true or false, else null.
std::string_view NumberOrNull(std::string_view value);
// The same, but also keeps numbers in quotation marks, including hexadecimal ones.
std::string_view NumberField(std::string_view value);

// Reads the values of a JSON text one after the other, each completely in memory.

// The caller reads the text between values from the reader itself. Used by one thread at a time.
class ValueStream {
 public:
  explicit ValueStream(TextReader& reader) : reader_(reader) {}

  // The text of the next value, valid until something is consumed; empty if the text ends before
  // the value does. nullopt if brackets do not match or the value is too long.
  std::optional<std::string_view> Next();

  void Consume(size_t size) { reader_.Consume(size); }
  // Consumes the value that Next returned.
  void ConsumeValue() { reader_.Consume(size_); }

 private:
  bool HasByte(size_t at);

  TextReader& reader_;
  size_t size_ = 0;
};

// Objects of which only listed members stay, at any depth.
enum class MemberUse : uint8_t {
  kNumber,   // a number, or an array of them at any depth
  kText,     // CleanJson with `text`
  kMembers,  // an object or an array of objects, whose members are looked up in the same list
};

struct MemberRule {
  std::string_view key;
  MemberUse use = MemberUse::kNumber;
  TextUse text = TextUse::kValue;
};

// An object, or an array of objects, with only the members that `rules` list; other values become
// null.
std::string CleanMembers(std::string_view value, std::span<const MemberRule> rules,
                         Scrubber& scrubber);

// Cleans the events of a Kineto trace: what stays are the members that Borescope reads, and a few
// numbers that viewers show.

// Used by one thread at a time.
class EventCleaner {
 public:
  explicit EventCleaner(Scrubber& scrubber) : scrubber_(scrubber) {}

  // Appends the event whose text is `object` (with kTextPadding readable bytes after it). Anything
  // but an object becomes an empty object.
  void Append(std::string_view object, std::string& out);

 private:
  void AddMember(std::string_view key, std::string_view value, Field field);
  void AddArgs(std::string_view args);
  void AddArgument(std::string_view key, std::string_view value, std::string_view& separator);
  std::string Process(std::string_view value);
  std::string_view Key(std::string_view raw);
  std::string Category();
  TextUse NameUse() const;
  std::string Text(std::string_view value, TextUse use);

  Scrubber& scrubber_;
  RawEvent event_;
  std::deque<std::string> keys_;  // of the event, those that were written with escapes
  std::string category_;          // decoded, as recorded
  std::string* out_ = nullptr;
};

}  // namespace borescope::internal
