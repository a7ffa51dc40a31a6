#include "tests/oracle/event_readers.h"

#include <cstdint>
#include <vector>

#include "borescope/ingest/events/structural_parser.h"
#include "borescope/ingest/kineto/kineto_events.h"
#include "tests/oracle/trace_text.h"

namespace borescope::internal::testkit {
namespace {

constexpr uint64_t kByte = 17;  // of the text in its file

// The outcomes of two parsers, one after the other, as one.
ParseOutcome Joined(const ParseOutcome& first, ParseOutcome second) {
  second.position += first.position;
  second.events_end =
      second.events_end == 0 ? first.events_end : first.position + second.events_end;
  return second;
}

bool EndsEvent(std::string_view text) {
  const size_t last = text.find_last_not_of(" \n\t\r");
  return last != std::string_view::npos && text[last] == '}';
}

EventsRead Finished(KinetoEvents& events, const ParseOutcome& outcome, bool was_repaired) {
  const std::string facts = TextOf(events.facts());
  return {outcome, TextOf(events.TakePart()) + facts, was_repaired};
}

// The text lies in a block of exactly its size and the padding: a read beyond is seen.
template <class Parser>
EventsRead ReadBy(Parser& parser, std::string_view text, ChunkEnd end) {
  std::vector<char> padded(text.begin(), text.end());
  padded.insert(padded.end(), kTextPadding, ' ');
  const std::string_view all(padded.data(), text.size());
  KinetoEvents events;
  ParseOutcome outcome = parser.Parse(all, kByte, events);
  const bool is_damaged = outcome.stop == ParseStop::kDamaged ||
                          (outcome.stop == ParseStop::kIncomplete && end != ChunkEnd::kMoreText);
  if (is_damaged) {
    const size_t from = outcome.position;
    outcome = Joined(outcome, TolerantParser().Parse(all.substr(from), kByte + from,
                                                     EndsEvent(all.substr(0, from)), end, events));
  }
  return Finished(events, outcome, is_damaged);
}

}  // namespace

EventsRead ReadByLayouts(FastParser& parser, std::string_view text, ChunkEnd end) {
  return ReadBy(parser, text, end);
}

EventsRead ReadByStructure(std::string_view text, ChunkEnd end) {
  StructuralParser parser;
  return ReadBy(parser, text, end);
}

EventsRead ReadCarefully(std::string_view text, ChunkEnd end) {
  const std::vector<char> exact(text.begin(), text.end());
  KinetoEvents events;
  const ParseOutcome outcome =
      TolerantParser().Parse({exact.data(), exact.size()}, kByte, false, end, events);
  return Finished(events, outcome, true);
}

std::string FirstDifference(const EventsRead& a, const EventsRead& b) {
  if (a.outcome.stop != b.outcome.stop || a.outcome.position != b.outcome.position ||
      a.outcome.events_end != b.outcome.events_end) {
    const auto text = [](const ParseOutcome& outcome) {
      return std::to_string(static_cast<int>(outcome.stop)) + " at " +
             std::to_string(outcome.position) + ", events end at " +
             std::to_string(outcome.events_end);
    };
    return "outcome " + text(a.outcome) + "; " + text(b.outcome);
  }
  return FirstDifference(a.found, b.found);
}

}  // namespace borescope::internal::testkit
