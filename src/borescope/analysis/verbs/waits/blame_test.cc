#include "borescope/analysis/verbs/waits/blame.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace borescope::internal {
namespace {

Lateness Late(uint32_t rank, int64_t all_in_ns, int64_t skew_ns,
              const std::vector<std::pair<LateCause, int64_t>>& causes,
              uint32_t waited_in = kNoCollective) {
  Lateness late;
  late.last_rank = rank;
  late.all_in_ns = all_in_ns;
  late.skew_ns = skew_ns;
  late.exposed_skew_ns = skew_ns / 2;
  late.waited_in = waited_in;
  for (const auto& [cause, ns] : causes) At(late.causes, cause) = ns;
  return late;
}

std::string Text(const BlameSums& sums) {
  std::string text;
  for (const auto& [key, blame] : sums.by_cause) {
    text += (key.first == kNobody ? "nobody" : std::to_string(key.first)) + " " +
            std::string(LateCauseName(key.second)) + " " + std::to_string(blame.ns) + "/" +
            std::to_string(blame.exposed_ns) + "\n";
  }
  return text;
}

TEST(Blame, GoesToWhatWasDoneLonger) {
  const std::vector<Lateness> collectives{Late(
      1, 100, 90, {{LateCause::kCompute, 20}, {LateCause::kCopy, -5}, {LateCause::kHost, 10}})};
  const BlameSums sums = SumBlame(collectives);
  EXPECT_EQ(Text(sums), "1 compute 60/30\n1 idle: host 30/15\n");
  EXPECT_EQ(sums.main_cause[0].cause, LateCause::kCompute);
  EXPECT_EQ(sums.main_cause[0].ns, 60);
}

// Rank 2 is late in the third as it waited for rank 1 in the second, which waited in the first.
TEST(Blame, WaitingGoesOnToWhereItArose) {
  const std::vector<Lateness> collectives{
      Late(0, 100, 10, {{LateCause::kData, 3}}),
      Late(1, 200, 20, {{LateCause::kWaiting, 1}, {LateCause::kCompute, 1}}, 0),
      Late(2, 300, 40, {{LateCause::kWaiting, 9}}, 1)};
  EXPECT_EQ(Text(SumBlame(collectives)), "0 idle: data 40/20\n1 compute 30/15\n");
}

// Rank 1 is still behind in the second, as all compute while they communicate.
TEST(Blame, WhatIsInheritedGoesOnIfItWasLastBefore) {
  std::vector<Lateness> collectives{
      Late(1, 100, 10, {{LateCause::kHost, 3}}),
      Late(1, 200, 20, {{LateCause::kInherited, 4}, {LateCause::kCompute, -1}})};
  collectives[1].previous = 0;
  EXPECT_EQ(Text(SumBlame(collectives)), "1 idle: host 30/15\n");
  collectives[0].last_rank = 2;
  EXPECT_EQ(Text(SumBlame(collectives)), "1 inherited 20/10\n2 idle: host 10/5\n");
}

TEST(Blame, OfTiesNobodyIsToBlame) {
  std::vector<Lateness> collectives{Late(kNobody, 100, 10, {}),
                                    Late(2, 300, 40, {{LateCause::kWaiting, 9}}, 0)};
  EXPECT_EQ(Text(SumBlame(collectives)), "nobody idle: unknown 50/25\n");
}

// Damaged times must not send blame in circles.
TEST(Blame, NeverGoesOnToALaterCollective) {
  const std::vector<Lateness> collectives{Late(0, 100, 10, {{LateCause::kWaiting, 3}}, 1),
                                          Late(1, 100, 20, {{LateCause::kWaiting, 1}}, 0)};
  EXPECT_EQ(Text(SumBlame(collectives)), "0 waiting 10/5\n1 waiting 20/10\n");
}

TEST(Blame, LosesNothing) {
  std::mt19937 engine(3);
  const auto below = [&engine](uint32_t limit) { return static_cast<uint32_t>(engine() % limit); };
  for (int round = 0; round < 300; ++round) {
    std::vector<Lateness> collectives;
    Blame all;
    const uint32_t count = 1 + below(12);
    for (uint32_t i = 0; i < count; ++i) {
      Lateness late = Late(below(5) == 0 ? kNobody : below(4), below(50), below(1000), {});
      for (int64_t& ns : late.causes) ns = int64_t{below(100)} - 50;
      late.waited_in = below(3) == 0 ? kNoCollective : below(count);
      all.ns += late.skew_ns;
      all.exposed_ns += late.exposed_skew_ns;
      collectives.push_back(late);
    }
    for (const auto& [key, blame] : SumBlame(collectives).by_cause) {
      all.ns -= blame.ns;
      all.exposed_ns -= blame.exposed_ns;
    }
    ASSERT_EQ(all.ns, 0);
    ASSERT_EQ(all.exposed_ns, 0);
  }
}

}  // namespace
}  // namespace borescope::internal
