// The two parsers of event text must be one function on well-formed text: a chunk goes from the
// fast one to the careful one as soon as anything in it is damaged.

#include <gtest/gtest.h>

#include "borescope/ingest/events/structural_parser.h"
#include "borescope/ingest/events/tolerant_parser.h"
#include "borescope/ingest/load.h"
#include "tests/oracle/random_events.h"
#include "tests/oracle/trace_text.h"

namespace borescope::internal {
namespace {

using testkit::EventsOptions;
using testkit::FirstDifference;
using testkit::Layout;
using testkit::Random;
using testkit::RandomEvents;
using testkit::TextOf;

struct Parsed {
  ParseOutcome outcome;
  std::string text;  // of all that was read
};

std::string TextOfEvents(KinetoEvents& events) {
  const std::string facts = TextOf(events.facts());
  return TextOf(events.TakePart()) + facts;
}

Parsed ParseFast(const std::string& text) {
  const std::string padded = text + std::string(kTextPadding, ' ');
  StructuralParser parser;
  KinetoEvents events;
  Parsed parsed;
  parsed.outcome = parser.Parse(std::string_view(padded).substr(0, text.size()), 17, events);
  parsed.text = TextOfEvents(events);
  return parsed;
}

// The text is in a block of exactly its size: AddressSanitizer sees a read beyond it.
Parsed ParseCarefully(const std::string& text) {
  const std::vector<char> exact(text.begin(), text.end());
  TolerantParser parser;
  KinetoEvents events;
  Parsed parsed;
  parsed.outcome =
      parser.Parse({exact.data(), exact.size()}, 17, false, ChunkEnd::kEndOfText, events);
  parsed.text = TextOfEvents(events);
  return parsed;
}

void ExpectTwins(const std::string& text) {
  const Parsed fast = ParseFast(text);
  const Parsed careful = ParseCarefully(text);
  EXPECT_EQ(fast.outcome.stop, careful.outcome.stop);
  EXPECT_EQ(fast.outcome.position, careful.outcome.position);
  EXPECT_EQ(fast.outcome.events_end, careful.outcome.events_end);
  EXPECT_EQ(FirstDifference(fast.text, careful.text), "");
}

TEST(ParserTwinsTest, AgreeOnRandomWellFormedText) {
  for (uint64_t seed = 0; seed < 8000 && !HasFailure(); ++seed) {
    Random random(seed);
    EventsOptions options;
    options.layout = static_cast<Layout>(random.Below(3));
    options.is_odd = random.Chance(0.8);
    std::string text = RandomEvents(random, 1 + random.Below(10), options);
    if (random.Chance(0.5)) {
      text += random.Chance(0.5) ? "]" : "\n], \"traceName\": \"a\"}\n";
    }
    SCOPED_TRACE("seed " + std::to_string(seed) + ", text " + text);
    ExpectTwins(text);
  }
}

TEST(ParserTwinsTest, AgreeWhereThereAreNoEvents) {
  for (const char* text : {"", " \n", "]", " ] ", "{}", "{},{}", " {} ]", "{\"args\":{}}"}) {
    SCOPED_TRACE(text);
    ExpectTwins(text);
  }
}

// Text lengths around the blocks of 64 bytes in which the fast parser looks at text.
TEST(ParserTwinsTest, AgreeAtEveryLength) {
  for (size_t length = 0; length < 300; ++length) {
    SCOPED_TRACE(length);
    const std::string filler(length, 'x');
    ExpectTwins(R"({"ph":"X","cat":"cpu_op","name":")" + filler + R"(","ts":1,"dur":2})");
    ExpectTwins(R"({"ph":"X","cat":"cpu_op","name":")" + filler + R"(\\\"","ts":1,"dur":2})");
    ExpectTwins(std::string(length, ' ') + R"({"ph":"X","cat":"kernel","ts":1,"dur":2}])");
  }
}

}  // namespace
}  // namespace borescope::internal
