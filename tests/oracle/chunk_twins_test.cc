// Loading cuts text into chunks at guessed places and parses them on several threads; reading the
// whole text at once on one must give the same, whatever the guesses.

#include <gtest/gtest.h>

#include "borescope/ingest/events/structural_parser.h"
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

Trace LoadWith(const std::string& text, int threads) {
  Result<Trace> trace = LoadBytes(text, "a.json", {.threads = threads, .progress = {}});
  EXPECT_TRUE(trace.ok()) << trace.error().Sentence();
  return trace.ok() ? std::move(*trace) : Trace(TraceData());
}

// All events through one call of one parser. `meta` is taken over.
Trace ReadAtOnce(const std::string& events, const Meta& meta, uint64_t begin) {
  const std::string padded = events + std::string(kTextPadding, ' ');
  StructuralParser parser;
  KinetoEvents sink;
  const ParseOutcome outcome =
      parser.Parse(std::string_view(padded).substr(0, events.size()), begin, sink);
  EXPECT_EQ(outcome.stop, ParseStop::kEnd);
  const KinetoFacts facts = sink.facts();
  TraceBuilder builder;
  builder.Append(sink.TakePart());
  return builder.Finish(meta, facts.profiled_ns, 1);
}

void ExpectOneTrace(const std::string& events) {
  const std::string head = "{\"schemaVersion\": 1, \"traceEvents\": [";
  const std::string text = head + events + "], \"traceName\": \"run/a.json\"}";
  const Trace one = LoadWith(text, 1);
  const std::string want = TextOf(one);
  EXPECT_EQ(FirstDifference(TextOf(ReadAtOnce(events, one.meta(), head.size())), want), "");
  for (const int threads : {2, 5}) {
    EXPECT_EQ(FirstDifference(TextOf(LoadWith(text, threads)), want), "") << threads << " threads";
  }
}

// With values of several kinds of length: short ones; ones that make guesses go wrong; one longer
// than a chunk (1 MiB).
TEST(ChunkTwinsThreadsTest, AnyChunksGiveOneTrace) {
  const size_t lengths[] = {0, 3000, 300'000, 1'500'000};
  uint64_t seed = 100;
  for (const size_t length : lengths) {
    for (const Layout layout : {Layout::kCompact, Layout::kMixed}) {
      Random random(++seed);
      SCOPED_TRACE("seed " + std::to_string(seed));
      const EventsOptions options{.layout = layout, .is_odd = true, .long_values = length};
      ExpectOneTrace(RandomEvents(random, length > 1'000'000 ? 2500 : 7000, options));
    }
  }
}

// Every chunk of such a text is cut at a wrong place.
TEST(ChunkTwinsThreadsTest, ListsOfObjectsThatLookLikeEvents) {
  std::string list;
  for (int i = 0; i < 3000; ++i) {
    list += (i == 0 ? "" : ",") + std::string(R"({"name":"x"})");
  }
  std::string events;
  for (int i = 0; i < 120; ++i) {
    events += (i == 0 ? "" : ",") +
              std::string(R"({"ph":"X","cat":"cpu_op","name":"op","pid":1,)") + R"("tid":1,"ts":)" +
              std::to_string(i) + R"(,"dur":1,"args":{"list":[)" + list + "]}}";
  }
  ExpectOneTrace(events);
}

// Repairs must not depend on chunks either, nor the first case of each that is shown.
TEST(ChunkTwinsThreadsTest, ThreadsDoNotChangeRepairs) {
  for (uint64_t seed = 200; seed < 206; ++seed) {
    Random random(seed);
    const auto layout = static_cast<Layout>(random.Below(3));
    std::string text = RandomEvents(
        random, 6000,
        {.layout = layout, .is_odd = false, .long_values = seed % 2 == 0 ? 0UL : 20'000UL});
    for (uint64_t damages = 1 + random.Below(30); damages > 0; --damages) {
      text[random.Below(text.size())] = static_cast<char>(random.Below(256));
    }
    SCOPED_TRACE("seed " + std::to_string(seed));
    text = "[" + text + "]";
    const std::string want = TextOf(LoadWith(text, 1));
    for (const int threads : {2, 5}) {
      EXPECT_EQ(FirstDifference(TextOf(LoadWith(text, threads)), want), "") << threads;
    }
  }
}

}  // namespace
}  // namespace borescope::internal
