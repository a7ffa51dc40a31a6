#include "borescope/ingest/events/chunk_parser.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "borescope/base/text/text.h"
#include "borescope/json/json_cursor.h"
#include "borescope/json/json_string.h"

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

namespace {

// The last character of `text` that is not white space, or 0.
char LastCharacter(std::string_view text) {
  const size_t last = text.find_last_not_of(" \n\t\r");
  return last == std::string_view::npos ? '\0' : text[last];
}

// The events of one rank of a merged file. Its processes have numbers then, as before the merge.
class EventsOfRank final : public EventSink {
 public:
  EventsOfRank(KinetoEvents& events, std::string_view label) : events_(events), label_(label) {}

  void Add(const RawEvent& event) override {
    if (!label_.starts_with('[')) {
      AddFused(event);
      return;
    }
    const std::string_view token = event.Get(Field::kPid);
    const std::string_view text = ProcessText(token, scratch_);
    if (!text.starts_with(label_)) {
      events_.Skip();
      return;
    }
    RawEvent own = event;
    const std::string_view number = text.substr(label_.size());
    const bool is_number = !number.empty() && std::all_of(number.begin(), number.end(), IsDigit);
    own.Put(Field::kPid, is_number ? number : token);
    events_.Add(own);
  }
  Diagnostics& diagnostics() override { return events_.diagnostics(); }

 private:
  void AddFused(const RawEvent& event) {
    const FusedRank fused = FusedRankOf(event.Get(Field::kArgs));
    if (fused.rank.empty() || FusedRankLabel(fused) != label_) {
      events_.Skip();
      return;
    }
    RawEvent own = event;
    own.Put(Field::kPid, fused.pid);
    events_.Add(own);
  }

  KinetoEvents& events_;
  std::string_view label_;
  std::string scratch_;
};

}  // namespace

template <class QuickParser>
ParseOutcome ParseEvents(QuickParser& quick, TolerantParser& tolerant, const TextChunk& chunk,
                         bool force, EventSink& sink) {
  ParseOutcome outcome = quick.Parse(chunk.text(), chunk.byte, sink);
  const ChunkEnd end = chunk.is_last ? ChunkEnd::kEndOfText
                       : force       ? ChunkEnd::kTooLong
                                     : ChunkEnd::kMoreText;
  if (outcome.stop == ParseStop::kDamaged ||
      (outcome.stop == ParseStop::kIncomplete && end != ChunkEnd::kMoreText)) {
    const size_t from = outcome.position;
    const size_t events_end = outcome.events_end;
    const bool after_event = LastCharacter(chunk.text().substr(0, from)) == '}';
    outcome = tolerant.Parse(chunk.text().substr(from), chunk.byte + from, after_event, end, sink);
    outcome.position += from;
    outcome.events_end = outcome.events_end == 0 ? events_end : from + outcome.events_end;
  }
  return outcome;
}

template ParseOutcome ParseEvents(FastParser&, TolerantParser&, const TextChunk&, bool, EventSink&);
template ParseOutcome ParseEvents(StructuralParser&, TolerantParser&, const TextChunk&, bool,
                                  EventSink&);

ParsedChunk ChunkParser::Parse(TextChunk chunk, bool force) {
  KinetoEvents events(rows_);
  ParsedChunk parsed;
  EventsOfRank of_rank(events, rank_label_);
  EventSink& sink = rank_label_.empty() ? static_cast<EventSink&>(events) : of_rank;
  parsed.outcome = ParseEvents(fast_, tolerant_, chunk, force, sink);
  parsed.facts = events.facts();
  parsed.part = events.TakePart();
  rows_ = parsed.part.row_counts();
  parsed.chunk = std::move(chunk);
  return parsed;
}

}  // namespace borescope::internal
