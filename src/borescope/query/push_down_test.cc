// Rows that the relations themselves reject, find or sort are those that SQLite would: each
// statement against a twin in which a `+` or a cast keeps SQLite from handing the work over.
#include <fmt/format.h>

#include <random>

#include "borescope/query/query_testing.h"

namespace borescope::internal::query {
namespace {

constexpr std::string_view kNames[] = {"", "gemm", "Gemm", "a\xC3\xA9", "z", "copy", "k'q"};

Trace RandomTrace(std::mt19937& random) {
  const auto below = [&](int end) {
    return static_cast<int64_t>(random() % static_cast<unsigned>(end));
  };
  testkit::TraceMaker maker;
  const int64_t events = below(60);
  for (int64_t i = 0; i < events; ++i) {
    const testkit::Span span{below(40), below(10)};
    const auto kind = static_cast<DeviceKind>(below(7));
    maker.Device(kind, kNames[below(7)], below(2), below(3), span,
                 {below(3) == 0 ? kMissing : below(12), kMissing});
    maker.Call(kNames[below(7)], below(2), {below(40), below(10)}, below(12));
  }
  return maker.Finish();
}

TestRun RandomRun(std::mt19937& random) {
  std::vector<Trace> traces;
  for (unsigned rank = 0; rank < 1 + random() % 3; ++rank) {
    traces.push_back(RandomTrace(random));
  }
  return TestRun(std::move(traces));
}

constexpr std::string_view kConditions[] = {
    "{}id = 5",
    "{}id > 3 AND {}id <= 20",
    "{}id >= -4 AND {}id < 9223372036854775807",
    "{}id > 9223372036854775807",
    "{}id <= -9223372036854775808",
    "{}rank = 1",
    "{}rank >= 1 AND {}id = 2",
    "{}name = 'gemm'",
    "{}name = ''",
    "{}name = 'nobody'",
    "{}name = NULL",
    "{}name = 5",
    "{}name IN ('gemm', 'z', 'nobody')",
    "{}name COLLATE NOCASE = 'GEMM'",
    "{}kind = 'kernel'",
    "{}kind = 'kernel' AND {}stream = 1 AND {}dur_ns >= 3",
    "{}ts_ns >= 10 AND {}ts_ns < 20",
    "{}ts_ns > 9.5",
    "{}ts_ns = 10.0",
    "{}ts_ns = 10.5",
    "{}ts_ns = x'31'",
    "{}ts_ns < 1e300",
    "{}correlation = 4",
    "{}correlation IS NULL",
    "{}correlation = NULL",
    "{}correlation IN (1, 2, 3, 400)",
    "{}launch_id = 3 OR {}name = 'z'",
    "{}class = 'gemm'",
};

TEST(QueryPushDown, ConditionsKeepTheSameRows) {
  std::mt19937 random(7);
  for (int round = 0; round < 30; ++round) {
    TestRun run = RandomRun(random);
    for (const std::string_view condition : kConditions) {
      const auto ask = [&](std::string_view sign) {
        return run.Ask("SELECT rank, id FROM device_events WHERE " +
                       fmt::format(fmt::runtime(condition), sign, sign, sign) +
                       " ORDER BY +rank, +id");
      };
      EXPECT_EQ(ask(""), ask("+")) << condition;
    }
  }
}

constexpr std::string_view kGroups[] = {"name",       "kind",        "gpu",       "rank",
                                        "rank, id",   "gpu, stream", "name, gpu", "class",
                                        "kind, name", "correlation", "name_id",   "rank, name"};

// A text that looks like a number is compared as one: SQLite converts it, the relation does not.
TEST(QueryPushDown, TextsThatAreNumbers) {
  TestRun run = SmallRun();
  EXPECT_EQ(run.Ask("SELECT id FROM device_events WHERE ts_ns >= '220'"), "1\n2");
  EXPECT_EQ(run.Ask("SELECT id FROM device_events WHERE ts_ns = '220'"), "2");
  EXPECT_EQ(run.Ask("SELECT id FROM device_events WHERE ts_ns < 'a'"), "0\n1\n2");
}

TEST(QueryPushDown, GroupsAreTheSame) {
  std::mt19937 random(11);
  for (int round = 0; round < 30; ++round) {
    TestRun run = RandomRun(random);
    for (const std::string_view group : kGroups) {
      for (const std::string_view where : {"1", "dur_ns > 2", "kind = 'kernel'", "id = 3"}) {
        const auto ask = [&](std::string_view table) {
          return run.Ask(
              fmt::format("SELECT {0}, count(*), sum(dur_ns) FROM {1} WHERE {2} "
                          "GROUP BY {0} ORDER BY {0}",
                          group, table, where));
        };
        EXPECT_EQ(
            ask("device_events"),
            ask("(SELECT +rank AS rank, +id AS id, +name AS name, +kind AS kind, +gpu AS gpu, "
                "+stream AS stream, +class AS class, +correlation AS correlation, "
                "+name_id AS name_id, +dur_ns AS dur_ns FROM device_events)"))
            << group << " where " << where;
      }
      EXPECT_EQ(run.Ask(fmt::format("SELECT count(*) FROM (SELECT DISTINCT {} FROM device_events)",
                                    group)),
                run.Ask(fmt::format("SELECT count(*) FROM (SELECT {0} FROM device_events "
                                    "GROUP BY {0})",
                                    group)));
    }
  }
}

TEST(QueryPushDown, OrdersAreTheSame) {
  std::mt19937 random(13);
  for (int round = 0; round < 30; ++round) {
    TestRun run = RandomRun(random);
    for (const std::string_view order :
         {"{0}rank, {0}id", "{0}rank DESC, {0}id", "{0}id, {0}rank", "{0}name, {0}rank, {0}id",
          "{0}rank", "{0}id DESC, {0}rank"}) {
      const auto ask = [&](std::string_view sign) {
        return run.Ask("SELECT rank, id FROM device_events ORDER BY " +
                       fmt::format(fmt::runtime(order), sign));
      };
      EXPECT_EQ(ask(""), ask("+")) << order;
    }
  }
}

// The table events, made by SQLite from its two halves.
constexpr std::string_view kEventsTwin =
    "(SELECT rank, 'host' AS side, id, ts_ns, dur_ns, end_ns, name, kind, pid, tid, NULL AS gpu, "
    "NULL AS stream, NULL AS process, correlation, external_id, step FROM host_events UNION ALL "
    "SELECT rank, 'device', id, ts_ns, dur_ns, end_ns, name, kind, NULL, NULL, gpu, stream, "
    "process, correlation, external_id, step FROM device_events)";

TEST(QueryPushDown, EventsAreThoseOfBothSides) {
  std::mt19937 random(19);
  for (int round = 0; round < 30; ++round) {
    TestRun run = RandomRun(random);
    for (const std::string_view query :
         {"SELECT * FROM {} ORDER BY rank, side, id", "SELECT * FROM {} WHERE id = 3 ORDER BY 1, 2",
          "SELECT * FROM {} WHERE side = 'host' AND id < 5 ORDER BY rank, side, id",
          "SELECT count(*) FROM {} WHERE name = 'gemm' AND rank = 0",
          "SELECT name, count(*), sum(dur_ns), min(gpu) FROM {} GROUP BY name ORDER BY name",
          "SELECT side, kind, count(*) FROM {} GROUP BY side, kind ORDER BY side, kind",
          "SELECT rank, id, count(*) FROM {} GROUP BY rank, id ORDER BY rank, id",
          "SELECT count(*) FROM {0} a JOIN {0} b ON a.rank = b.rank AND a.id = b.id"}) {
      const auto ask = [&](std::string_view table) {
        return run.Ask(fmt::format(fmt::runtime(query), table));
      };
      EXPECT_EQ(ask("events"), ask(kEventsTwin)) << query;
    }
  }
}

// Enough searches that the rows get sorted for them.
TEST(QueryPushDown, JoinsAreTheSame) {
  std::mt19937 random(17);
  for (int round = 0; round < 30; ++round) {
    TestRun run = RandomRun(random);
    for (const std::string_view on :
         {"{0}l.rank = d.rank AND {0}l.id = d.launch_id", "{0}l.correlation = d.correlation",
          "{0}l.rank = d.rank AND {0}l.correlation = d.correlation", "{0}l.name = d.name",
          "{0}l.name = d.name AND {0}l.ts_ns < d.ts_ns"}) {
      const auto ask = [&](std::string_view sign) {
        return run.Ask(
            "SELECT d.rank, d.id, l.rank, l.id FROM device_events d CROSS JOIN launches l "
            "ON " +
            fmt::format(fmt::runtime(on), sign) + " ORDER BY 1, 2, 3, 4");
      };
      EXPECT_EQ(ask(""), ask("+")) << on;
    }
  }
}

TEST(QueryPushDown, PlansSurviveBeingText) {
  const Plan plan{{{0, Comparison::kEqual}, {31, Comparison::kGreaterOrEqual}}, {5, 0, 40}};
  const Plan copy = ParsePlan(PlanText(plan));
  ASSERT_EQ(copy.filters.size(), 2U);
  EXPECT_EQ(copy.filters[1].column, 31);
  EXPECT_EQ(copy.filters[1].comparison, Comparison::kGreaterOrEqual);
  EXPECT_EQ(copy.order, plan.order);
  EXPECT_TRUE(ParsePlan(PlanText({})).filters.empty());
}

TEST(QueryPushDown, NoRanksAreNoRows) {
  TestRun run({});
  EXPECT_EQ(run.Ask("SELECT * FROM kernels WHERE id = 1 AND name = 'x'"), "");
  EXPECT_EQ(run.Ask("SELECT count(*) FROM top"), "0");
}

}  // namespace
}  // namespace borescope::internal::query
