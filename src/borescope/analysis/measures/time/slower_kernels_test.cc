#include "borescope/analysis/measures/time/slower_kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <vector>

#include "borescope/base/statistics/statistics.h"

namespace borescope::internal {
namespace {

constexpr int64_t kLeast = 4;

// Launches of some groups, each of them with its own length, one after the other.
struct PlannedLaunches {
  size_t count = 400;
  size_t groups = 5;
  size_t slow_from = 200;  // and before `slow_to`
  size_t slow_to = 400;
  double ratio = 1.5;
  size_t slow_groups = 5;
  double noise = 0.05;  // the largest
  uint64_t seed = 1;
};

std::vector<KernelTime> Make(const PlannedLaunches& plan) {
  SplitMix64 random(plan.seed);
  std::vector<KernelTime> launches;
  int64_t now_ns = 0;
  for (size_t i = 0; i < plan.count; ++i) {
    const auto group = static_cast<uint32_t>(i % plan.groups);
    const bool is_slow = i >= plan.slow_from && i < plan.slow_to && group < plan.slow_groups;
    const double noise = 1 + plan.noise * (static_cast<double>(random.Next() % 2001) / 1000.0 - 1);
    const double ns = 10000.0 * (group + 1) * (is_slow ? plan.ratio : 1) * noise;
    launches.push_back({now_ns, static_cast<int64_t>(ns), group});
    now_ns += launches.back().dur_ns + 1000;
  }
  return launches;
}

// The place that explains most, by looking at each: from the definition alone.
size_t PlaceByLookingAtEach(const std::vector<KernelTime>& launches, size_t groups) {
  std::vector<std::vector<double>> logs(groups);
  std::vector<double> ns(groups);
  for (const KernelTime& launch : launches) {
    logs[launch.group].push_back(std::log(static_cast<double>(launch.dur_ns)));
    ns[launch.group] += static_cast<double>(launch.dur_ns);
  }
  const auto difference = [&](const KernelTime& launch) {
    double sum = 0;
    for (const double log : logs[launch.group]) sum += log;
    return std::log(static_cast<double>(launch.dur_ns)) -
           sum / static_cast<double>(logs[launch.group].size());
  };
  const auto weight = [&](const KernelTime& launch) {
    return ns[launch.group] / static_cast<double>(logs[launch.group].size());
  };
  size_t place = launches.size();
  double most = 0;
  double all = 0;
  for (const KernelTime& launch : launches) all += weight(launch);
  for (size_t at = 1; at < launches.size(); ++at) {
    double weights[2] = {};
    double sums[2] = {};
    for (size_t i = 0; i < launches.size(); ++i) {
      weights[i < at ? 0 : 1] += weight(launches[i]);
      sums[i < at ? 0 : 1] += weight(launches[i]) * difference(launches[i]);
    }
    const double longer = sums[1] / weights[1] - sums[0] / weights[0];
    const double explained = longer * longer * weights[0] * weights[1];
    if (weights[0] >= all / 10 && weights[1] >= all / 10 && longer > 0 &&
        explained > most * (1 + 1e-12)) {
      most = explained;
      place = at;
    }
  }
  return place;
}

TEST(SlowerKernelsTest, ThePlaceAndTheRatioArePlanted) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    PlannedLaunches plan{.seed = seed};
    plan.slow_from = 60 + seed * 7;
    plan.ratio = 1.15 + 0.02 * static_cast<double>(seed % 20);
    const std::vector<KernelTime> launches = Make(plan);
    const std::optional<SlowerKernels> found = FindSlowerKernels(launches, kLeast);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->first, PlaceByLookingAtEach(launches, plan.groups));
    EXPECT_NEAR(static_cast<double>(found->first), static_cast<double>(plan.slow_from), 3);
    EXPECT_NEAR(found->ratio, plan.ratio, 0.03);
    EXPECT_EQ(found->launches, 400);
    double after_ns = 0;
    for (size_t i = found->first; i < launches.size(); ++i) {
      after_ns += static_cast<double>(launches[i].dur_ns);
    }
    EXPECT_NEAR(static_cast<double>(found->lost_ns) / (after_ns * (1 - 1 / plan.ratio)), 1, 0.1);
  }
}

TEST(SlowerKernelsTest, OtherChangesAreNone) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    const auto found = [&](PlannedLaunches plan) {
      plan.seed = seed;
      return FindSlowerKernels(Make(plan), kLeast).has_value();
    };
    EXPECT_FALSE(found({.ratio = 1}));
    EXPECT_FALSE(found({.ratio = 1, .noise = 0.5}));
    EXPECT_FALSE(found({.ratio = 0.6}));                      // faster, as after warm-up
    EXPECT_FALSE(found({.slow_from = 150, .slow_to = 250}));  // for a while
    EXPECT_FALSE(found({.slow_from = 395}));                  // too few to say
    EXPECT_FALSE(found({.slow_groups = 2}));                  // these have more to do
    EXPECT_FALSE(found({.groups = 1, .slow_groups = 1}));     // this one has more to do
    EXPECT_TRUE(found({}));
  }
}

// As of keys that a program caches.
TEST(SlowerKernelsTest, WhatGrowsSlowlyHasNoPlace) {
  std::vector<KernelTime> launches = Make({.ratio = 1});
  for (size_t i = 0; i < launches.size(); ++i) {
    launches[i].dur_ns = launches[i].dur_ns * static_cast<int64_t>(400 + i) / 400;
  }
  EXPECT_FALSE(FindSlowerKernels(launches, kLeast).has_value());
}

TEST(SlowerKernelsTest, NothingIsFoundInNothing) {
  EXPECT_FALSE(FindSlowerKernels({}, kLeast).has_value());
  const std::vector<KernelTime> zeros(100, KernelTime{});
  EXPECT_FALSE(FindSlowerKernels(zeros, kLeast).has_value());
  const std::vector<KernelTime> one(1, KernelTime{0, 10, 0});
  EXPECT_FALSE(FindSlowerKernels(one, kLeast).has_value());
  std::vector<KernelTime> huge(100, KernelTime{0, INT64_MAX, 0});
  EXPECT_FALSE(FindSlowerKernels(huge, kLeast).has_value());
}

}  // namespace
}  // namespace borescope::internal
