#pragma once

#include <cstdint>
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

// Recordings that are text, written again without what may not stay in them: Kineto traces,
// execution traces and memory timelines. Memory grows with the longest event of a Kineto trace, and
// with the text of the others.

struct ScrubbedText {
  uint64_t events = 0;   // written: events, nodes or entries
  uint64_t dropped = 0;  // members that are not known, and went
  bool was_cut = false;  // the text ended early; what was there is whole
};

// `name` is that of the file in messages. kCorrupt where the text is no JSON, kUnsupportedFormat
// where it is no recording.
Result<ScrubbedText> ScrubJson(TextReader& reader, const std::string& name, Scrubber& scrubber,
                               Sink& sink);

// JSON values written again without what may not stay in them. The text of a value is any that a
// reader understands; what no reader would take for a value becomes null.

// `text` as a JSON string, quoted.
std::string JsonString(std::string_view text);

// Numbers, true, false and null as they are, strings as `use` says, arrays of these likewise; an
// object has no members left.
std::string CleanJson(std::string_view value, TextUse use, Scrubber& scrubber);

// A number, true or false, or null for everything else.
std::string_view NumberOrNull(std::string_view value);
// The same, or a number between quotation marks, also a hexadecimal one.
std::string_view NumberField(std::string_view value);

// The values of a JSON text one after the other, each as a whole in memory.

// Reads what is between values from the reader itself. Used by one thread at a time.
class ValueStream {
 public:
  explicit ValueStream(TextReader& reader) : reader_(reader) {}

  // The text of the value that comes next, which stays until something is consumed; empty where
  // the text ends before it does. Nothing where brackets do not match or it is too long.
  std::optional<std::string_view> Next();

  void Consume(size_t size) { reader_.Consume(size); }
  // Consumes the value that Next gave.
  void ConsumeValue() { reader_.Consume(size_); }

 private:
  bool HasByte(size_t at);

  TextReader& reader_;
  size_t size_ = 0;
};

// Objects of JSON of which only listed members stay, each in its way, at any depth.

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

// An object, or an array of objects, with the members that `rules` list and no others; other values
// become null.
std::string CleanMembers(std::string_view value, std::span<const MemberRule> rules,
                         Scrubber& scrubber);

// One event of a Kineto trace without what may not stay in it: the members that Borescope reads
// and a few numbers that viewers show.

// Used by one thread at a time.
class EventCleaner {
 public:
  explicit EventCleaner(Scrubber& scrubber) : scrubber_(scrubber), values_(unused_) {}

  // Appends the event whose text is `object` (with kTextPadding readable bytes after it).
  // Anything that is no object becomes an empty one.
  void Append(std::string_view object, std::string& out);

 private:
  void AddMember(std::string_view key, std::string_view value, Field field);
  void AddArgs(std::string_view args);
  void AddArgument(std::string_view key, std::string_view value, std::string_view& separator);
  std::string Process(Field field);
  std::string Category();
  TextUse NameUse() const;
  std::string Text(std::string_view value, TextUse use);

  Scrubber& scrubber_;
  Diagnostics unused_;
  EventValues values_;
  RawEvent event_;
  std::string category_;  // decoded, as it was
  std::string* out_ = nullptr;
};

}  // namespace borescope::internal
