// EventListSink: copies the text of a list of events, marking some of them and leaving out others.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "borescope/base/result.h"
#include "borescope/output/sink/sink.h"
#include "borescope/trace/overlay.h"

namespace borescope::internal {

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
  std::string gap_;    // what stands before the event at hand
  std::string event_;  // as far as it was read
};

}  // namespace borescope::internal
