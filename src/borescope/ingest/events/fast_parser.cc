#include "borescope/ingest/events/fast_parser.h"

#include "borescope/json/json_space.h"

namespace borescope::internal {

ParseOutcome FastParser::Parse(std::string_view text, uint64_t byte, EventSink& sink) {
  text_ = text;
  byte_ = byte;
  at_ = FindNonSpace(text);
  events_end_ = 0;
  indexed_.reset();
  std::optional<ParseOutcome> outcome;
  while (!outcome.has_value()) {
    if (at_ >= text_.size()) {
      outcome = {ParseStop::kEnd, text_.size()};
    } else {
      outcome = ReadNext(sink);
    }
  }
  outcome->events_end = events_end_;
  return *outcome;
}

std::optional<ParseOutcome> FastParser::ReadNext(EventSink& sink) {
  size_t after = 0;
  size_t next = 0;
  if (!layouts_.Read(text_, at_, event_, after) || !Follows(after, next)) {
    return ReadOther(sink);
  }
  event_.byte = byte_ + at_;
  sink.Add(event_);
  events_end_ = after;
  at_ = next;
  return std::nullopt;
}

// Whether what follows an event that ends at `after` is sound: the end of the array, or a comma and
// another event, or the text ends. `next` is where reading goes on.
bool FastParser::Follows(size_t after, size_t& next) const {
  next = FindNonSpace(text_, after);
  if (next >= text_.size() || text_[next] == ']') {
    return true;
  }
  const bool has_comma = text_[next] == ',';
  next = FindNonSpace(text_, next + 1);
  return has_comma && (next >= text_.size() || text_[next] == '{');
}

std::optional<ParseOutcome> FastParser::ReadOther(EventSink& sink) {
  if (!SeekStructure()) {
    return ParseOutcome{ParseStop::kDamaged, at_};
  }
  const size_t before = structural_.events_end();
  const std::optional<ParseOutcome> outcome = structural_.ReadEvent(sink);
  const size_t end = structural_.events_end();
  if (end != before) {
    events_end_ = *indexed_ + end;
    const size_t begin = *indexed_ + structural_.event_begin();
    layouts_.Learn(text_.substr(begin, events_end_ - begin));
  }
  return GoOn(outcome);
}

// False if the rest of the text is not well-formed.
bool FastParser::SeekStructure() {
  if (!indexed_.has_value()) {
    if (!structural_.Begin(text_.substr(at_), byte_ + at_)) {
      return false;
    }
    indexed_ = at_;
  }
  structural_.MoveTo(at_ - *indexed_);
  return true;
}

// Moves on to where the StructuralParser is. Its outcome as one of the whole text.
std::optional<ParseOutcome> FastParser::GoOn(std::optional<ParseOutcome> outcome) {
  at_ = *indexed_ + structural_.position();
  if (outcome.has_value()) {
    outcome->position += *indexed_;
  }
  return outcome;
}

}  // namespace borescope::internal
