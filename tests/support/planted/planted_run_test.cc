#include "tests/support/planted/planted_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace borescope::scenario {
namespace {

PlantConfig ConfigOf(Cause cause, uint64_t seed) { return {seed, Setting::kPlain, {{cause, 10}}}; }

// Of the events alone. Work of one rank is listed by begin and does not overlap.
int64_t IdleTimeOf(const PlantedRank& rank) {
  int64_t begin_ns = rank.frames.front().begin_ns;
  int64_t end_ns = begin_ns;
  for (const PlantedFrame& frame : rank.frames) {
    end_ns = std::max(end_ns, frame.end_ns);
  }
  int64_t idle_ns = 0;
  for (const PlantedWork& work : rank.work) {
    idle_ns += work.begin_ns - begin_ns;
    begin_ns = work.end_ns;
  }
  return idle_ns + std::max<int64_t>(0, end_ns - begin_ns);
}

TEST(PlantedRunTest, TheTruthIsThatOfTheEvents) {
  for (int i = 0; i < static_cast<int>(Cause::kCount); ++i) {
    const auto cause = static_cast<Cause>(i);
    for (uint64_t seed = 1; seed <= 20 && cause != Cause::kBeforeRecording; ++seed) {
      SCOPED_TRACE(std::string(CauseName(cause)) + ", seed " + std::to_string(seed));
      for (const PlantedRank& rank : MakePlantedRun(ConfigOf(cause, seed)).ranks) {
        EXPECT_EQ(IdleTimeOf(rank), rank.truth.idle_ns);
      }
    }
  }
}

TEST(PlantedRunTest, PlantsCostWhatTheyShould) {
  for (int i = 0; i < static_cast<int>(Cause::kStraggler); ++i) {
    const auto cause = static_cast<Cause>(i);
    for (uint64_t seed = 1; seed <= 20; ++seed) {
      const PlantedTruth truth = MakePlantedRun(ConfigOf(cause, seed)).ranks[0].truth;
      const double share =
          static_cast<double>(truth.planted_ns[0]) / static_cast<double>(truth.span_ns);
      EXPECT_NEAR(share, 0.1, 0.035) << CauseName(cause) << ", seed " << seed;
    }
  }
}

// Recording slows the host and changes nothing that it does.
TEST(PlantedRunTest, AProfiledRunDoesTheSame) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    const PlantConfig config{seed, Setting::kProfiled, {{Cause::kOptimizer, 10}}};
    const PlantedRank rank = MakePlantedRun(config).ranks[0];
    const int64_t begin_ns = rank.work.front().begin_ns;
    int64_t busy_ns = 0;
    for (const PlantedWork& work : rank.work) {
      busy_ns += work.end_ns - work.begin_ns;
    }
    // The truth is without the cost of recording, and the work is the same.
    EXPECT_EQ(rank.truth.span_ns - rank.truth.idle_ns, busy_ns) << seed;
    EXPECT_GT(rank.work.back().end_ns - begin_ns, rank.truth.span_ns) << seed;
  }
}

TEST(PlantedRunTest, ARecordingThatBeginsInTheMiddle) {
  const PlantedRank rank = MakePlantedRun({3, Setting::kInherited, {}}).ranks[0];
  int64_t first_call = rank.work.back().correlation;
  for (const PlantedFrame& frame : rank.frames) {
    first_call =
        frame.kind == FrameKind::kCall ? std::min(first_call, frame.correlation) : first_call;
  }
  EXPECT_LT(rank.work.front().correlation, first_call);
  EXPECT_EQ(rank.work.front().begin_ns + rank.truth.span_ns,
            std::max(rank.work.back().end_ns, rank.frames.back().end_ns));
}

TEST(PlantedRunTest, EqualConfigsGiveEqualRuns) {
  const PlantConfig config = ConfigOf(Cause::kLateHost, 7);
  const std::string json = PlantedJson(MakePlantedRun(config), 0);
  EXPECT_EQ(json, PlantedJson(MakePlantedRun(config), 0));
  EXPECT_NE(json, PlantedJson(MakePlantedRun(ConfigOf(Cause::kLateHost, 8)), 0));
}

TEST(PlantedRunTest, ParsesPlants) {
  const std::vector<Plant> plants = ParsePlants("late-host:3,copies").value();
  ASSERT_EQ(plants.size(), 2U);
  EXPECT_EQ(plants[0].cause, Cause::kLateHost);
  EXPECT_EQ(plants[0].percent, 3);
  EXPECT_EQ(plants[1].cause, Cause::kCopies);
  EXPECT_EQ(plants[1].percent, 10);
  for (const char* bad : {"unknown", "copies:", "copies:0", "copies:41", "copies:1x", ",",
                          "copies:40,sync:40,setup:1"}) {
    EXPECT_FALSE(ParsePlants(bad).has_value()) << bad;
  }
}

}  // namespace
}  // namespace borescope::scenario
