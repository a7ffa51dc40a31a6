#include "borescope/convert/lanes.h"

#include <gtest/gtest.h>

#include <limits>

namespace borescope::internal {
namespace {

struct Slice {
  int64_t begin;
  int64_t end;
};

// The lane of each slice; checks that slices of a lane nest and close inside out.
std::vector<uint32_t> LanesOf(const std::vector<Slice>& slices) {
  Lanes lanes;
  std::vector<uint32_t> chosen;
  std::vector<std::vector<int64_t>> open(slices.size());
  const auto close = [&](uint32_t lane, int64_t end_ns) {
    ASSERT_FALSE(open[lane].empty());
    EXPECT_EQ(open[lane].back(), end_ns);
    open[lane].pop_back();
  };
  for (const Slice& slice : slices) {
    const uint32_t lane = lanes.Open(slice.begin, slice.end, close);
    EXPECT_TRUE(open[lane].empty() || open[lane].back() >= slice.end);
    open[lane].push_back(slice.end);
    chosen.push_back(lane);
  }
  lanes.CloseUpTo(std::numeric_limits<int64_t>::max(), close);
  for (const std::vector<int64_t>& rest : open) {
    EXPECT_TRUE(rest.empty());
  }
  return chosen;
}

using Chosen = std::vector<uint32_t>;

TEST(Lanes, NestingStaysOnOne) {
  EXPECT_EQ(LanesOf({{0, 100}, {0, 50}, {10, 20}, {20, 50}, {60, 60}, {60, 100}, {100, 110}}),
            (Chosen{0, 0, 0, 0, 0, 0, 0}));
}

TEST(Lanes, OverlapTakesAnother) {
  EXPECT_EQ(LanesOf({{0, 10}, {5, 15}, {8, 20}, {10, 12}, {16, 18}, {30, 40}}),
            (Chosen{0, 1, 2, 1, 2, 0}));
}

TEST(Lanes, ManyOverlapsTakeLittleTime) {
  std::vector<Slice> stairs;
  for (int64_t i = 0; i < 100'000; ++i) {
    stairs.push_back({i, i + 1'000'000});
  }
  EXPECT_EQ(LanesOf(stairs).back(), 99'999U);
}

}  // namespace
}  // namespace borescope::internal
