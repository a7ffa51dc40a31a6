// However a trace is put together from parts: the order of the rows is all that counts.

#include <gtest/gtest.h>

#include <vector>

#include "borescope/ingest/events/structural_parser.h"
#include "borescope/trace/trace_builder.h"
#include "tests/oracle/random_events.h"
#include "tests/oracle/trace_text.h"
#include "tests/property/invariants.h"

namespace borescope::internal {
namespace {

using testkit::EventsOptions;
using testkit::FirstDifference;
using testkit::Random;
using testkit::RandomEvents;
using testkit::TablesOf;
using testkit::WhatIsWrongWith;

TracePart Parse(const std::string& text) {
  const std::string padded = text + std::string(kTextPadding, ' ');
  StructuralParser parser;
  KinetoEvents events;
  const ParseOutcome outcome =
      parser.Parse(std::string_view(padded).substr(0, text.size()), 0, events);
  EXPECT_EQ(outcome.stop, ParseStop::kEnd);
  return events.TakePart();
}

Trace Build(const std::vector<std::string>& events, const std::vector<size_t>& cuts) {
  TraceBuilder builder;
  size_t begin = 0;
  for (const size_t end : cuts) {
    std::string text;
    for (size_t i = begin; i < end; ++i) {
      text += (i == begin ? "" : ",") + events[i];
    }
    builder.Append(Parse(text));
    begin = end;
  }
  return builder.Finish({}, 0, 1);
}

TEST(BuilderTest, PartsOfAnySplitGiveOneTrace) {
  for (uint64_t seed = 0; seed < 300 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    std::vector<std::string> events(1 + random.Below(25));
    for (std::string& event : events) {
      event = RandomEvents(random, 1, EventsOptions{});
    }
    const Trace whole = Build(events, {events.size()});
    EXPECT_EQ(WhatIsWrongWith(whole), "");
    std::vector<size_t> cuts;
    for (size_t i = 0; i < events.size(); ++i) {
      cuts.insert(cuts.end(), random.Below(3), i);  // empty parts too
    }
    cuts.push_back(events.size());
    EXPECT_EQ(FirstDifference(TablesOf(Build(events, cuts)), TablesOf(whole)), "");
  }
}

}  // namespace
}  // namespace borescope::internal
