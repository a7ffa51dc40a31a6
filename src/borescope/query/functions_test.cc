// The functions against slow twins.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <random>
#include <set>

#include "borescope/query/query_testing.h"

namespace borescope::internal::query {
namespace {

struct Pair {
  int64_t begin;
  int64_t end;
};

std::vector<Pair> RandomPairs(std::mt19937& random) {
  std::vector<Pair> pairs(1 + random() % 12);
  for (Pair& pair : pairs) {
    pair.begin = static_cast<int64_t>(random() % 40) - 20;
    pair.end = pair.begin + static_cast<int64_t>(random() % 12) - 2;
  }
  return pairs;
}

std::string ValuesOf(const std::vector<Pair>& pairs) {
  std::string text;
  for (const Pair& pair : pairs) {
    text += fmt::format("{}({}, {})", text.empty() ? "" : ", ", pair.begin, pair.end);
  }
  return "(VALUES " + text + ")";
}

// Every nanosecond that is covered.
std::set<int64_t> Covered(const std::vector<Pair>& pairs) {
  std::set<int64_t> covered;
  for (const Pair& pair : pairs) {
    for (int64_t at = pair.begin; at < pair.end; ++at) {
      covered.insert(at);
    }
  }
  return covered;
}

// From the first begin to the last end, of those without length too.
int64_t SpanOf(const std::vector<Pair>& pairs) {
  int64_t first = std::numeric_limits<int64_t>::max();
  int64_t last = std::numeric_limits<int64_t>::min();
  for (const Pair& pair : pairs) {
    if (pair.begin <= pair.end) {
      first = std::min(first, pair.begin);
      last = std::max(last, pair.end);
    }
  }
  return first <= last ? last - first : 0;
}

TEST(QueryFunctions, UnionAndGaps) {
  TestRun run({});
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    const std::vector<Pair> pairs = RandomPairs(random);
    const std::set<int64_t> covered = Covered(pairs);
    const auto length = static_cast<int64_t>(covered.size());
    EXPECT_EQ(run.Ask("SELECT union_ns(column1, column2), gaps_ns(column1, column2) FROM " +
                      ValuesOf(pairs)),
              fmt::format("{},{}", length, SpanOf(pairs) - length));
  }
}

// As in `gaps`: work without length ends a gap, also where it is the first or the last.
TEST(QueryFunctions, GapsReachToWorkWithoutLength) {
  TestRun run({});
  EXPECT_EQ(run.Ask("SELECT gaps_ns(column1, column2) FROM (VALUES (0, 0), (10, 14), (20, 20))"),
            "16");
}

TEST(QueryFunctions, IntervalsThatAreNone) {
  TestRun run({});
  EXPECT_EQ(run.Ask("SELECT union_ns(1, 2), gaps_ns(1, 2) WHERE 0"), "0,0");
  EXPECT_EQ(run.Ask("SELECT union_ns(column1, column2) FROM (VALUES (NULL, 5), (3, 4), (6, 2))"),
            "1");
  EXPECT_EQ(run.Ask("SELECT union_ns('a', 2)"),
            "query: an interval needs two numbers, begin and end");
  EXPECT_EQ(run.Ask("SELECT union_ns(-9223372036854775808, 9223372036854775807)"),
            "query: integer overflow");
  EXPECT_EQ(run.Ask("SELECT gaps_ns(a, a + 1) FROM (SELECT -9223372036854775807 AS a UNION ALL "
                    "SELECT 9223372036854775806)"),
            "query: integer overflow");
}

// More than are kept before they are joined.
TEST(QueryFunctions, UnionOfMany) {
  TestRun run({});
  EXPECT_EQ(run.Ask("WITH RECURSIVE t(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM t WHERE i < "
                    "1200000) SELECT union_ns(i, i + 2), gaps_ns(3 * i, 3 * i + 1) FROM t"),
            "1200002,2400000");
}

TEST(QueryFunctions, Overlap) {
  TestRun run({});
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    const std::vector<Pair> a = RandomPairs(random);
    const std::vector<Pair> b = RandomPairs(random);
    const std::set<int64_t> in_a = Covered({a[0]});
    const std::set<int64_t> in_b = Covered({b[0]});
    const auto both =
        std::count_if(in_a.begin(), in_a.end(), [&](int64_t at) { return in_b.contains(at); });
    EXPECT_EQ(run.Ask(fmt::format("SELECT overlap_ns({}, {}, {}, {})", a[0].begin, a[0].end,
                                  b[0].begin, b[0].end)),
              std::to_string(both));
  }
  EXPECT_EQ(run.Ask("SELECT overlap_ns(1, 2, NULL, 4)"), "-");
}

TEST(QueryFunctions, Percentile) {
  TestRun run({});
  const std::string rows = " FROM (VALUES (40), (10), (NULL), (30), (20))";
  EXPECT_EQ(run.Ask("SELECT percentile(column1, 0), percentile(column1, 100)" + rows),
            "10.000000,40.000000");
  EXPECT_EQ(run.Ask("SELECT percentile(column1, 50), percentile(column1, 75)" + rows),
            "25.000000,32.500000");
  EXPECT_EQ(run.Ask("SELECT percentile(1, 50) WHERE 0"), "-");
  EXPECT_EQ(run.Ask("SELECT percentile(1, 101)"),
            "query: the second argument of percentile is from 0 to 100");
  EXPECT_EQ(run.Ask("SELECT percentile(1, NULL)"), "query: percentile needs two numbers");
}

}  // namespace
}  // namespace borescope::internal::query
