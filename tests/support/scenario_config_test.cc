#include "tests/support/scenario_config.h"

#include <gtest/gtest.h>

#include "tests/support/model/scenario_random.h"

namespace borescope::scenario {
namespace {

TEST(ScenarioConfig, ParsesSizes) {
  EXPECT_EQ(ParseSize("1000"), 1000);
  EXPECT_EQ(ParseSize("64KB"), 64'000);
  EXPECT_EQ(ParseSize("1.5m"), 1'500'000);
  EXPECT_EQ(ParseSize("10GB"), 10'000'000'000);
  EXPECT_EQ(ParseSize("7B"), 7);
  for (const char* text : {"", "GB", "1T", "-1", "1GBs"}) {
    EXPECT_FALSE(ParseSize(text).has_value()) << text;
  }
}

TEST(ScenarioConfig, ParsesFaults) {
  const auto faults = ParseFaults("nan-value:3,truncated");
  ASSERT_TRUE(faults.has_value());
  ASSERT_EQ(faults->size(), 2);
  EXPECT_EQ((*faults)[0].fault, Fault::kNanValue);
  EXPECT_EQ((*faults)[0].count, 3);
  EXPECT_EQ((*faults)[1].fault, Fault::kTruncated);
  EXPECT_EQ((*faults)[1].count, 1);
  EXPECT_TRUE(ParseFaults("")->empty());
  for (const char* text : {"none", "nan", "nan-value:", "nan-value:x", "nan-value:1x", ":3"}) {
    EXPECT_FALSE(ParseFaults(text).has_value()) << text;
  }
}

TEST(ScenarioConfig, NamesEveryFault) {
  for (int i = 1; i < static_cast<int>(Fault::kCount); ++i) {
    const Fault fault = static_cast<Fault>(i);
    EXPECT_FALSE(FaultName(fault).empty()) << i;
    EXPECT_EQ(FindFault(FaultName(fault)), fault);
  }
}

TEST(ScenarioConfig, NormalizeFillsIn) {
  ScenarioConfig config;
  config.ranks = 3;
  config.era = Era::kIntUs;
  config.Normalize();
  EXPECT_EQ(config.world_size, 3);
  EXPECT_TRUE(config.absolute);
  EXPECT_EQ(config.base_time, BasePlace::kNone);
}

// The sequence is part of every scenario's definition.
TEST(ScenarioRandom, HasAFixedSequence) {
  Random random(1);
  EXPECT_EQ(random.Next(), 14233695028433725123ULL);
  Random same(1);
  (void)same.Next();
  for (int i = 0; i < 100; ++i) EXPECT_EQ(random.Next(), same.Next());
}

TEST(ScenarioRandom, StaysInItsBounds) {
  Random random(7);
  for (int i = 0; i < 10'000; ++i) {
    const int64_t below = random.Below(3);
    EXPECT_TRUE(below >= 0 && below < 3);
    const int64_t near = random.Jitter(1000, 50);
    EXPECT_TRUE(near >= 950 && near <= 1050);
  }
}

}  // namespace
}  // namespace borescope::scenario
