#include "borescope/verbs/open/look_pace.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace borescope::internal {
namespace {

using Clock = LookPace::Clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

const Clock::time_point kBegin = Clock::time_point(seconds(1000));

// What `threads` that look whenever anything is due see in `span`, where looks cost what `costs`
// says, by the millisecond.
struct Seen {
  std::map<std::string, std::vector<Clock::time_point>> ends;
  Clock::duration busy{};
};

Seen Simulate(const std::map<std::string, milliseconds>& costs, int threads, milliseconds span) {
  LookPace pace;
  for (const auto& [name, cost] : costs) pace.Add(name);
  Seen seen;
  std::vector<std::optional<std::pair<std::string, Clock::time_point>>> running(
      static_cast<size_t>(threads));
  for (Clock::time_point now = kBegin; now < kBegin + span; now += milliseconds(1)) {
    for (auto& thread : running) {
      if (thread.has_value() && now >= thread->second) {
        pace.End(thread->first, now);
        seen.ends[thread->first].push_back(now);
        seen.busy += costs.at(thread->first);
        thread.reset();
      }
      if (thread.has_value()) continue;
      if (std::optional<std::string> name = pace.Begin(now); name.has_value()) {
        thread.emplace(*name, now + costs.at(*name));
      }
    }
  }
  return seen;
}

Clock::duration LongestPause(const std::vector<Clock::time_point>& ends) {
  Clock::duration longest{};
  for (size_t i = 1; i < ends.size(); ++i) longest = std::max(longest, ends[i] - ends[i - 1]);
  return longest;
}

TEST(LookPace, ADearOneDoesNotHoldBackTheOthers) {
  std::map<std::string, milliseconds> costs = {{"busy", milliseconds(2500)}};
  for (int i = 0; i < 15; ++i) costs.emplace("quiet " + std::to_string(i), milliseconds(2));
  const Seen seen = Simulate(costs, 2, seconds(120));
  for (const auto& [name, ends] : seen.ends) {
    if (name == "busy") continue;
    // Once each was looked at for the first time.
    EXPECT_LE(LongestPause({ends.begin() + 1, ends.end()}), milliseconds(1100)) << name;
    EXPECT_GE(ends.size(), 100U) << name;
  }
  EXPECT_LE(LongestPause(seen.ends.at("busy")), seconds(20));
  EXPECT_LE(seen.busy, seconds(120) / 5 + milliseconds(2500));
}

TEST(LookPace, AlonePausesFourTimesAsLongAsALookTakes) {
  const Seen seen = Simulate({{"only", milliseconds(1000)}}, 2, seconds(101));
  EXPECT_EQ(LongestPause(seen.ends.at("only")), seconds(5));
  EXPECT_EQ(seen.ends.at("only").size(), 20U);
}

TEST(LookPace, AllTogetherTakeAFifthOfTheTimeWhateverTheyCost) {
  std::mt19937 dice(5);
  for (int round = 0; round < 10; ++round) {
    SCOPED_TRACE(round);
    std::map<std::string, milliseconds> costs;
    milliseconds most{};
    milliseconds all{};
    for (uint32_t i = 0; i < 1 + dice() % 12; ++i) {
      const milliseconds cost(1 + dice() % (i % 3 == 0 ? 2000 : 20));
      costs.emplace(std::to_string(i), cost);
      most = std::max(most, cost);
      all += cost;
    }
    const seconds span(200);
    const Seen seen = Simulate(costs, 2, span);
    EXPECT_EQ(seen.ends.size(), costs.size());
    // And the first look at each, whose cost nobody knows.
    EXPECT_LE(seen.busy, span / 5 + all + most);
  }
}

TEST(LookPace, OneDearLookAtATime) {
  LookPace pace;
  pace.Add("a");
  pace.Add("b");
  ASSERT_EQ(pace.Begin(kBegin), "a");
  EXPECT_EQ(pace.Begin(kBegin), std::nullopt);  // what was not looked at yet may be dear
  pace.End("a", kBegin + milliseconds(5));
  ASSERT_EQ(pace.Begin(kBegin), "b");
  pace.End("b", kBegin + milliseconds(500));
  const Clock::time_point later = kBegin + seconds(10);
  ASSERT_EQ(pace.Begin(later), "a");
  ASSERT_EQ(pace.Begin(later), "b");
  pace.End("a", later + milliseconds(1));
  ASSERT_EQ(pace.Begin(later + seconds(1)), "a");  // while b goes on
}

TEST(LookPace, WhatIsRemovedHasNoMoreTurns) {
  LookPace pace;
  pace.Add("a");
  ASSERT_EQ(pace.Begin(kBegin), "a");
  pace.Remove("a");
  pace.End("a", kBegin + seconds(3));
  pace.Add("a");
  EXPECT_EQ(pace.Begin(kBegin + seconds(1000)), std::nullopt);
  pace.Add("b");  // and costs the others nothing
  ASSERT_EQ(pace.Begin(kBegin), "b");
  pace.End("b", kBegin + milliseconds(1));
  EXPECT_EQ(pace.PauseOf("b"), LookPace::kLeastPause);
}

}  // namespace
}  // namespace borescope::internal
