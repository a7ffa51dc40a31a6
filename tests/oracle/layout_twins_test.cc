// Events of known layouts are read without the index of structural characters; what is read must be
// what the other two ways read, on whatever text.

#include <gtest/gtest.h>

#include "borescope/json/json_check.h"
#include "tests/oracle/event_readers.h"
#include "tests/oracle/random_events.h"
#include "tests/oracle/random_layouts.h"

namespace borescope::internal {
namespace {

using testkit::EventsRead;
using testkit::FirstDifference;
using testkit::LayoutsOptions;
using testkit::Random;
using testkit::RandomLayouts;
using testkit::ReadByLayouts;
using testkit::ReadByStructure;
using testkit::ReadCarefully;

// The TolerantParser repairs what the StructuralParser does not look at.
bool IsJson(const std::string& text) {
  JsonCheck check;
  return check.Take("[") && check.Take(text) && (check.Finish() || check.Take("]")) &&
         check.Finish();
}

// Twice, as the first time is spent on learning.
void ExpectTwins(FastParser& parser, const std::string& text, ChunkEnd end) {
  const EventsRead structural = ReadByStructure(text, end);
  for (const int time : {1, 2}) {
    EXPECT_EQ(FirstDifference(ReadByLayouts(parser, text, end), structural), "") << time;
  }
  if (!structural.was_repaired && IsJson(text)) {
    EXPECT_EQ(FirstDifference(ReadCarefully(text, end), structural), "");
  }
}

TEST(LayoutTwinsTest, AgreeOnRandomLayouts) {
  for (uint64_t seed = 0; seed < 3000 && !HasFailure(); ++seed) {
    Random random(seed);
    const LayoutsOptions options{.layouts = 1 + static_cast<int>(random.Below(5)),
                                 .oddity = random.Chance(0.5) ? 0 : 0.05,
                                 .damage = random.Chance(0.8) ? 0 : 0.01};
    const std::string text =
        RandomLayouts(random, 1 + random.Below(40), options) + (random.Chance(0.5) ? "\n]" : "");
    SCOPED_TRACE("seed " + std::to_string(seed) + ", text " + text);
    FastParser parser;
    ExpectTwins(parser, text, ChunkEnd::kEndOfText);
  }
}

TEST(LayoutTwinsTest, AgreeOnTextWithoutLayouts) {
  FastParser parser;  // which has reasons to give up, and to try again
  for (uint64_t seed = 0; seed < 500 && !HasFailure(); ++seed) {
    Random random(seed);
    const std::string text = testkit::RandomEvents(random, 1 + random.Below(30), {});
    SCOPED_TRACE("seed " + std::to_string(seed) + ", text " + text);
    ExpectTwins(parser, text, ChunkEnd::kMoreText);
  }
}

TEST(LayoutTwinsTest, AgreeWhereverThePieceIsCut) {
  for (uint64_t seed = 0; seed < 60 && !HasFailure(); ++seed) {
    Random random(seed);
    const std::string text = RandomLayouts(random, 4, {.layouts = 2, .oddity = 0.03}) + "\n]\n}";
    FastParser parser;
    ReadByLayouts(parser, text, ChunkEnd::kEndOfText);
    for (size_t size = 0; size <= text.size() && !HasFailure(); ++size) {
      const ChunkEnd end = random.Chance(0.5)   ? ChunkEnd::kMoreText
                           : random.Chance(0.5) ? ChunkEnd::kEndOfText
                                                : ChunkEnd::kTooLong;
      SCOPED_TRACE("seed " + std::to_string(seed) + ", text " + text.substr(0, size));
      ExpectTwins(parser, text.substr(0, size), end);
    }
  }
}

TEST(LayoutTwinsTest, AgreeOnDamagedBytes) {
  for (uint64_t seed = 0; seed < 300 && !HasFailure(); ++seed) {
    Random random(seed);
    const std::string sound =
        RandomLayouts(random, 12, {.layouts = 2, .oddity = seed % 2 == 0 ? 0 : 0.04});
    FastParser parser;
    ReadByLayouts(parser, sound, ChunkEnd::kEndOfText);
    for (int i = 0; i < 20 && !HasFailure(); ++i) {
      std::string text = sound;
      constexpr std::string_view kDamage =
          "\"\\{}[],: \n\x01\xff"
          "0-e";
      text[random.Below(text.size())] = kDamage[random.Below(kDamage.size())];
      SCOPED_TRACE("seed " + std::to_string(seed) + ", text " + text);
      ExpectTwins(parser, text, ChunkEnd::kEndOfText);
    }
  }
}

}  // namespace
}  // namespace borescope::internal
