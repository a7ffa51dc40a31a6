// Time, memory, temporary files and lengths of a statement are bounded, also within one call of a
// function. Seconds are far above what is needed here, and far below what an unbounded statement
// takes: minutes, hours, or for ever.
#include <chrono>

#include "borescope/base/sanitized_testing.h"
#include "borescope/query/query_testing.h"

namespace borescope::internal::query {
namespace {

constexpr std::string_view kEndless =
    "WITH RECURSIVE t(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM t) ";
// 8 MiB of one character.
constexpr std::string_view kLong =
    "WITH long(x) AS MATERIALIZED (SELECT replace(hex(zeroblob(4194304)), '0', 'a')) ";
constexpr uint64_t kMiB = uint64_t{1} << 20;

std::string StopsSoon(std::string_view sql, const Limits& limits) {
  TestRun run = SmallRun();
  const auto begin = std::chrono::steady_clock::now();
  std::string answer = run.Ask(sql, limits);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  EXPECT_LT(taken.count(), 60) << sql;
  EXPECT_EQ(run.Ask("SELECT 1"), "1") << "the next statement is not affected";
  return answer;
}

TEST(QueryLimits, OneCallTakesNoLongerThanItsTextIsLong) {
  if (testkit::kSanitized) {
    GTEST_SKIP() << "a sanitizer looks at the whole text again at every step of a search";
  }
  const std::string text(kLong);
  EXPECT_EQ(StopsSoon(text + "SELECT instr(x, substr(x, 1, 4000000) || 'b') FROM long", {}), "0");
  EXPECT_EQ(StopsSoon(text + "SELECT length(replace(x, substr(x, 1, 4000000) || 'b', '')) "
                             "FROM long",
                      {}),
            "8388608");
  EXPECT_EQ(StopsSoon("WITH RECURSIVE t(i, x) AS (SELECT 256, '' UNION ALL SELECT i + 1, x || "
                      "char(i) FROM t WHERE i < 3000), off AS MATERIALIZED (SELECT x FROM t "
                      "ORDER BY i DESC LIMIT 1) SELECT length(trim(replace(hex(zeroblob(4000000)), "
                      "'0', 'a'), x || 'a')) FROM off",
                      {}),
            "0");
}

TEST(QueryLimits, TimeHoldsWithinOneCall) {
  constexpr std::string_view kStopped =
      "query: stopped after `time_limit` 0.05 s; narrow the statement or raise it";
  const Limits soon{0.05};
  const std::string text(kLong);
  EXPECT_EQ(StopsSoon(text + "SELECT x LIKE '%' || substr(x, 1, 40000) || 'b' FROM long", soon),
            kStopped);
  EXPECT_EQ(StopsSoon(text + "SELECT x GLOB '*' || substr(x, 1, 40000) || 'b' FROM long", soon),
            kStopped);
}

// The time is checked after few steps, as each may be a call of some milliseconds.
TEST(QueryLimits, TimeHoldsForManyLongCalls) {
  const std::string sql =
      std::string(kEndless) + "SELECT sum(length(hex(zeroblob(4000000 + i % 2)))) FROM t";
  EXPECT_TRUE(StopsSoon(sql, {0.05}).starts_with("query: stopped after `time_limit`"));
}

TEST(QueryLimits, TimeHoldsForSorts) {
  const std::string sql = std::string(kEndless) +
                          "SELECT i FROM (SELECT i FROM t LIMIT 100000000) ORDER BY i % 1000003";
  EXPECT_TRUE(StopsSoon(sql, {0.2}).starts_with("query: stopped after `time_limit`"));
}

// Merged, this is a sum of 2^40 terms.
TEST(QueryLimits, SubqueriesThatMultiplyAreRefused) {
  std::string sql = "WITH t0(x) AS (SELECT 'a')";
  for (int i = 1; i <= 40; ++i) {
    sql += ", t" + std::to_string(i) + "(x) AS (SELECT x || x FROM t" + std::to_string(i - 1) + ")";
  }
  EXPECT_EQ(StopsSoon(sql + " SELECT length(x) FROM t40", {}),
            "query: the statement is too large once its subqueries are merged; make it shorter, or "
            "mark them AS MATERIALIZED");
}

TEST(QueryLimits, Memory) {
  const Limits little{std::nullopt, kDefaultRowLimit, 16 * kMiB};
  constexpr std::string_view kStopped =
      "query: out of memory: the statement needs more than there is, or than `memory_limit` (16 "
      "MiB) leaves for it; narrow the statement or raise it";
  const std::string endless(kEndless);
  EXPECT_EQ(StopsSoon(endless + "SELECT union_ns(3 * i, 3 * i + 1) FROM t", little), kStopped);
  EXPECT_EQ(
      StopsSoon(endless + "SELECT length(json_group_array(hex(zeroblob(1000)))) FROM t", little),
      kStopped);
}

TEST(QueryLimits, TemporaryFiles) {
  const Limits little{std::nullopt, kDefaultRowLimit, 0, 8 * kMiB};
  constexpr std::string_view kStopped =
      "query: stopped as its temporary files reach `temp_limit` 8 MiB; narrow the statement or "
      "raise it";
  const std::string endless(kEndless);
  EXPECT_EQ(StopsSoon(endless + "SELECT i FROM t ORDER BY hex(i)", little), kStopped);
  EXPECT_EQ(StopsSoon(endless + "SELECT DISTINCT hex(zeroblob(100)) || i FROM t", little),
            kStopped);
  EXPECT_EQ(
      StopsSoon(endless + "SELECT count(*) FROM (SELECT hex(i), i FROM t LIMIT 200000)", little),
      "200000")
      << "what needs none";
}

TEST(QueryLimits, Lengths) {
  if (testkit::kSanitized) {
    GTEST_SKIP() << "texts of many megabytes take minutes there";
  }
  TestRun run = SmallRun();
  constexpr std::string_view kAny =
      "query: a text or blob is longer than 16 MiB, the most for any statement; select less";
  EXPECT_EQ(run.Ask("SELECT zeroblob(1000000000)"), kAny);
  EXPECT_EQ(run.Ask("SELECT replace(hex(zeroblob(4000000)), '0', 'abc')"), kAny);
  EXPECT_EQ(run.Ask("SELECT printf('%1000000000d', 1)"), kAny);
  std::string sum = "0";
  for (int i = 0; i < 1000; ++i) {
    sum = i % 30 == 0 ? sum : sum + " + length(zeroblob(16000000))";
  }
  EXPECT_TRUE(run.Ask("SELECT " + sum)
                  .ends_with("the most for a statement of this size; "
                             "select less"));
  EXPECT_TRUE(run.Ask("SELECT " + std::string(2000, '(') + "1" + std::string(2000, ')'))
                  .starts_with("query: "));
  EXPECT_TRUE(run.Ask("SELECT json_patch('{}', '{}')")
                  .starts_with("query only reads: the function json_patch is refused"));
}

}  // namespace
}  // namespace borescope::internal::query
