#include "borescope/recorder/run_rules.h"

#include <gtest/gtest.h>

namespace borescope::internal {
namespace {

using Words = std::vector<std::string>;

RecordRule Range(const std::string& name) { return {.point = RecordPoint::kRange, .range = name}; }
RecordRule Step(uint64_t number) {
  return {.point = RecordPoint::kStep, .range = {}, .step = number};
}
RecordRule Call() { return {.point = RecordPoint::kCall}; }

// The words for the library, or the error.
Words Complete(const RunRules& rules, bool is_timed = false) {
  const Result<RunRules> complete = CompleteRules(rules, is_timed);
  return complete.ok() ? WordsOf(*complete) : Words{complete.error().Sentence()};
}

TEST(RunRulesTest, WhatIsNotSaidIsMeant) {
  EXPECT_EQ(Complete({}), Words{});
  EXPECT_EQ(Complete({.start = Range("x")}), (Words{"start-range=x", "stop-own-range"}));
  EXPECT_EQ(Complete({.start = Range("x")}, true), Words{"start-range=x"});
  EXPECT_EQ(Complete({.start = Call()}), (Words{"start-calls", "stop-calls"}));
  EXPECT_EQ(Complete({.start = Step(3)}), Words{"start-step=3"});
  EXPECT_EQ(Complete({.stop = Call()}), Words{"stop-calls"});
  EXPECT_EQ(Complete({.start = Step(3), .stop = Step(4), .repeat = 0}),
            (Words{"start-step=3", "stop-step=4", "repeat=0"}));
}

TEST(RunRulesTest, NamesAreWrittenSoThatNothingInThemSeparates) {
  EXPECT_EQ(EncodedName("a;b=c%d \n\xc3\xa9*"), "a%3bb=c%25d%20%0a%c3%a9*");
  EXPECT_TRUE(CheckName("o", std::string(255, 'x')).ok());
  EXPECT_FALSE(CheckName("o", std::string(256, 'x')).ok());
  EXPECT_FALSE(CheckName("o", "").ok());
}

TEST(RunRulesTest, ContradictionsAreRefused) {
  const RunRules refused[] = {
      {.start = Range("")},
      {.start = Range("*")},
      {.stop = Range("*")},
      {.stop = Range("")},
      {.start = Call(), .stop = Step(1)},
      {.start = Step(1), .stop = Call()},
      {.start = Range("x"), .stop = Call()},
      {.start = Call(), .repeat = 0},
      {.repeat = 2},
      {.start = Step(1), .repeat = 0},
  };
  for (const RunRules& rules : refused) {
    const Words words = Complete(rules);
    ASSERT_EQ(words.size(), 1U);
    EXPECT_TRUE(words[0].starts_with('`')) << words[0];
  }
  EXPECT_FALSE(CompleteRules({.start = Range("x"), .stop = Step(1)}, true).ok());
}

TEST(RuleOutcomeTest, SaysWhatThereWasInstead) {
  const RunRules rules{.start = Range("x"), .stop = Step(9)};
  RuleFacts facts{.seen = {"a", "b"}};
  EXPECT_EQ(WhyNeverStarted(rules, facts, false),
            "no range or mark named 'x' began; there were 'a', 'b'");
  facts.has_more = true;
  EXPECT_TRUE(WhyNeverStarted(rules, facts, false).ends_with("'b' and more"));
  EXPECT_EQ(WhyNeverStopped(rules, facts), "");
  facts.has_started = facts.is_recording = true;
  facts.last_step = 4;
  EXPECT_EQ(WhyNeverStarted(rules, facts, false), "");
  EXPECT_EQ(WhyNeverStopped(rules, facts), "step 9 never began; the last was step 4");
  EXPECT_EQ(WhyNeverStopped({}, facts), "");
  EXPECT_EQ(WhyNeverStopped({.start = Range("x"), .stop = Range("")}, facts),
            "the last 'x' was still open when the program ended, or its process was killed, or it "
            "was a mark, which has no end");
  EXPECT_EQ(WhyNeverStarted({}, {}, true), "the program ended before it was to start");
  EXPECT_EQ(WhyNeverStarted({}, {}, false), "nobody started it");
}

}  // namespace
}  // namespace borescope::internal
