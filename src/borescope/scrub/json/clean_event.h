// One event of a Kineto trace without what may not stay in it: the members that Borescope reads
// and a few numbers that viewers show.
#pragma once

#include <string>
#include <string_view>

#include "borescope/ingest/events/event_values.h"
#include "borescope/scrub/text/scrubber.h"

namespace borescope::internal {

// Used by one thread at a time.
class EventCleaner {
 public:
  explicit EventCleaner(Scrubber& scrubber) : scrubber_(scrubber), values_(unused_) {}

  // Appends the event whose text is `object` (with kTextPadding readable bytes behind it).
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
