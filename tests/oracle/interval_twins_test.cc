// Set operations against a slow twin: one flag per nanosecond.

#include <gtest/gtest.h>

#include <array>

#include "borescope/base/intervals.h"
#include "tests/oracle/random.h"

namespace borescope::internal {
namespace {

using testkit::Random;

constexpr int64_t kEnd = 48;
using Flags = std::array<bool, kEnd>;

Flags FlagsOf(const std::vector<Interval>& intervals) {
  Flags flags{};
  for (const Interval& interval : intervals) {
    for (int64_t ns = interval.begin; ns < interval.end; ++ns) {
      flags[static_cast<size_t>(ns)] = true;
    }
  }
  return flags;
}

// The one normal form: sorted, apart, none empty.
IntervalSet SetOf(const Flags& flags) {
  IntervalSet set;
  for (int64_t ns = 0; ns < kEnd; ++ns) {
    if (!flags[static_cast<size_t>(ns)]) {
      continue;
    }
    if (!set.empty() && set.back().end == ns) {
      ++set.back().end;
    } else {
      set.push_back({ns, ns + 1});
    }
  }
  return set;
}

template <class Combine>
IntervalSet Combined(const Flags& a, const Flags& b, const Combine& combine) {
  Flags flags{};
  for (size_t ns = 0; ns < flags.size(); ++ns) {
    flags[ns] = combine(a[ns], b[ns]);
  }
  return SetOf(flags);
}

// Empty and inverted ones among them; in the order of their begins now and then.
std::vector<Interval> RandomIntervals(Random& random) {
  std::vector<Interval> intervals(random.Below(9));
  for (Interval& interval : intervals) {
    interval.begin = random.Between(0, kEnd);
    interval.end = std::min(interval.begin + random.Between(-2, random.Chance(0.2) ? 30 : 6), kEnd);
  }
  if (random.Chance(0.5)) {
    std::sort(intervals.begin(), intervals.end(),
              [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
  }
  return intervals;
}

TEST(IntervalTwinsTest, EveryOperation) {
  for (uint64_t seed = 0; seed < 20'000 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const std::vector<Interval> some = RandomIntervals(random);
    const Flags a = FlagsOf(some);
    const Flags b = FlagsOf(RandomIntervals(random));
    const IntervalSet set_a = SetOf(a);
    const IntervalSet set_b = SetOf(b);
    EXPECT_EQ(Union(some), set_a);
    EXPECT_EQ(Union(set_a, set_b), Combined(a, b, [](bool x, bool y) { return x || y; }));
    EXPECT_EQ(Intersect(set_a, set_b), Combined(a, b, [](bool x, bool y) { return x && y; }));
    EXPECT_EQ(Subtract(set_a, set_b), Combined(a, b, [](bool x, bool y) { return x && !y; }));
    EXPECT_EQ(Coverage(set_a), std::count(a.begin(), a.end(), true));
    const Interval window{random.Between(0, kEnd), random.Between(0, kEnd)};
    const Flags inside = FlagsOf({window});
    EXPECT_EQ(Clip(set_a, window), Combined(a, inside, [](bool x, bool y) { return x && y; }));
  }
}

}  // namespace
}  // namespace borescope::internal
