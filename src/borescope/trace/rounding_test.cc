#include "borescope/trace/rounding.h"

#include <gtest/gtest.h>

#include <vector>

namespace borescope::internal {
namespace {

int64_t RoundingOfTimes(const std::vector<int64_t>& ts_ns) {
  HostEvents host;
  host.kind.resize(ts_ns.size());
  host.ts_ns.assign(ts_ns.begin(), ts_ns.end());
  return RoundingOf(host);
}

TEST(RoundingTest, GoesByTheFractionsOfMicroseconds) {
  EXPECT_EQ(RoundingOfTimes({1'000, 5'000, -3'000}), 1000);
  EXPECT_EQ(RoundingOfTimes({1'000, 5'200, 6'500, 7'800}), 350);
  EXPECT_EQ(RoundingOfTimes({1'250, 5'500, 6'750}), 350);
  EXPECT_EQ(RoundingOfTimes({1'000, 5'201}), 0);
}

}  // namespace
}  // namespace borescope::internal
