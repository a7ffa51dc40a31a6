// Writes a copy of a trace with an overlay drawn into it: the recorded text byte for byte but for
// marks and what the overlay leaves out, and its counters, events and arrows after the last event.
// Valid JSON as far as the source is, openable in Perfetto and chrome://tracing.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "borescope/base/io/byte_source.h"
#include "borescope/base/result.h"
#include "borescope/output/sink/sink.h"
#include "borescope/trace/overlay.h"
#include "borescope/trace/trace.h"

namespace borescope::internal {

// The text of one event of the Chrome trace format: its members, and the text with one more
// argument.

// The value of the member `key` of a JSON object, as written; of several the last, which readers of
// JSON take. Keys are compared as they are written. REQUIRES: `object` begins with a
// brace and ends with the one that closes it.
std::optional<std::string_view> FindMember(std::string_view object, std::string_view key);

// `event` with the argument "critical": 1 after all others, everything else byte for byte. An event
// without arguments gets them; where "args" is no object, the event itself gets the member.
// REQUIRES: as FindMember.
std::string MarkedCritical(std::string_view event);

// EventListSink: copies the text of a list of events, marking some of them and leaving out others.

// Takes the text between the opening bracket of the list and the end of its last event, in pieces
// of any size; holds no more of it than one event. REQUIRES: that text is well-formed. Not
// thread-safe.
class EventListSink final : public Sink {
 public:
  // Both must outlive it.
  EventListSink(Sink& target, const OverlayMarks& marks) : target_(target), marks_(marks) {}

  Result<void> Write(std::string_view text) override;

  // Whether the text ended between two events and held all that were to be marked.
  bool is_complete() const { return depth_ == 0 && next_mark_ == marks_.critical.size(); }
  // Whether an event was written.
  bool has_events() const { return has_events_; }

 private:
  size_t CopyGap(std::string_view text);
  size_t CopyEvent(std::string_view text);
  void StartEvent();
  Result<void> EndEvent();
  bool IsLeftOut() const;
  Result<void> PutGap();

  Sink& target_;
  const OverlayMarks& marks_;
  Result<void> status_;
  uint64_t position_ = 0;  // of the next event
  size_t next_mark_ = 0;   // index into marks_.critical
  size_t depth_ = 0;       // of brackets; 0 between two events
  bool in_string_ = false;
  bool after_backslash_ = false;
  bool is_marked_ = false;  // the event at hand
  bool has_events_ = false;
  std::string gap_;    // what precedes the event at hand
  std::string event_;  // as far as it was read
};

// `source` yields the inflated text that `trace` was loaded from; it is read once, in pieces. The
// file `path` is compressed if its name ends in .gz. It is complete and closed, and appears under
// its name when the caller commits it: whether it is wanted may become clear only later. Errors are
// of kind kIo, or kMissingData where the format of the trace has no place for an overlay.
Result<std::unique_ptr<FileSink>> DraftOverlayFile(ByteSource& source, const Trace& trace,
                                                   const Overlay& overlay, const std::string& path);

}  // namespace borescope::internal
