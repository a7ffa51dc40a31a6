#include "borescope/analysis/core/shared_measures.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <vector>

#include "borescope/base/parallel.h"

namespace borescope::internal {
namespace {

struct One {};
struct Other {};

TEST(SharedMeasuresTest, EachMeasureIsMadeOnce) {
  SharedMeasures shared;
  std::atomic<int> made{0};
  std::vector<int> found(64);
  ParallelFor(found.size(), 8, [&](size_t i) {
    const auto make = [&made, i] {
      ++made;
      return i % 2 == 0 ? 10 : 20;
    };
    found[i] = i % 2 == 0 ? *shared.Get<One>(make) : *shared.Get<Other>(make);
  });
  EXPECT_EQ(made, 2);
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i], i % 2 == 0 ? 10 : 20);
  }
}

TEST(SharedMeasuresTest, WhatCouldNotBeMadeIsMadeByTheNext) {
  SharedMeasures shared;
  const auto fail = []() -> int { throw std::runtime_error("stopped"); };
  EXPECT_THROW(shared.Get<One>(fail), std::runtime_error);
  EXPECT_EQ(*shared.Get<One>([] { return 3; }), 3);
}

TEST(SharedMeasuresTest, WhatWasFreedIsMadeAgainAndStaysWithWhoHasIt) {
  SharedMeasures shared;
  int made = 0;
  const auto make = [&made] { return ++made; };
  const std::shared_ptr<const int> held = shared.Get<One>(make);
  const std::weak_ptr<const int> other = shared.Get<Other>(make);
  shared.Free(kMeasureId<One>);
  shared.Free(kMeasureId<Other>);
  EXPECT_EQ(*held, 1);
  EXPECT_TRUE(other.expired());
  EXPECT_EQ(*shared.Get<One>(make), 3);
}

}  // namespace
}  // namespace borescope::internal
