#include "borescope/ingest/events/chunk_parser.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "borescope/base/text/text.h"
#include "borescope/json/json_string.h"

namespace borescope::internal {
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
    const std::string_view token = event.Get(Field::kPid);
    if (!IsString(token) || !StringContent(token).starts_with(label_)) {
      events_.Skip();
      return;
    }
    RawEvent own = event;
    const std::string_view number = StringContent(token).substr(label_.size());
    const bool is_number = !number.empty() && std::all_of(number.begin(), number.end(), IsDigit);
    own.Put(Field::kPid, is_number ? number : token);
    events_.Add(own);
  }
  Diagnostics& diagnostics() override { return events_.diagnostics(); }

 private:
  KinetoEvents& events_;
  std::string_view label_;
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
