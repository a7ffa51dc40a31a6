#include "borescope/analysis/measures/time/covered_time.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <random>

#include "borescope/testing/trace_maker.h"

namespace borescope::internal {

namespace {

using testkit::Span;
using testkit::TraceMaker;
using Times = std::vector<int64_t>;

bool IsOp(const Trace& trace, HostId id) { return trace.host().kind[id.value] == HostKind::kOp; }

Times OfAll(const Trace& trace) {
  return InnermostTimes(trace, [](HostId) { return true; });
}
Times OfOps(const Trace& trace) {
  return InnermostTimes(trace, [&](HostId id) { return IsOp(trace, id); });
}

TEST(InnermostTimesTest, ChildrenTakeTheirLengthFromTheirParent) {
  TraceMaker maker;
  maker.Op("outer", 1, {0, 100});
  maker.Op("a", 1, {10, 30});
  maker.Op("in a", 1, {15, 5});
  maker.Op("b", 1, {40, 60});
  EXPECT_EQ(OfAll(maker.Finish()), (Times{10, 25, 5, 60}));
}

TEST(InnermostTimesTest, WhereRangesOverlapTheLaterHasTheTime) {
  TraceMaker maker;
  maker.Op("outer", 1, {0, 10});
  maker.Op("outlives it", 1, {5, 10});
  maker.Op("in both", 1, {6, 2});
  maker.Op("in the second", 1, {12, 1});
  EXPECT_EQ(OfAll(maker.Finish()), (Times{5, 7, 2, 1}));
}

TEST(InnermostTimesTest, WhatDoesNotCountTakesNothing) {
  TraceMaker maker;
  maker.Op("outer", 1, {0, 10});
  maker.Host(HostKind::kPython, "frame", 1, {2, 6});
  maker.Op("inner", 1, {3, 2});
  EXPECT_EQ(OfOps(maker.Finish()), (Times{8, 0, 2}));
}

// Every instant of a thread belongs to the open row that began last.
Times ByInstant(const Trace& trace, int64_t until, bool only_ops) {
  const HostEvents& host = trace.host();
  Times times(host.size(), 0);
  for (uint32_t track = 0; track < trace.tracks().size(); ++track) {
    for (int64_t at = 0; at < until; ++at) {
      HostId innermost;
      for (uint32_t row = 0; row < host.size(); ++row) {
        const bool is_open = host.track[row].value == track && host.ts_ns[row] <= at &&
                             at < host.end_ns(HostId{row});
        if (is_open && (!only_ops || IsOp(trace, HostId{row}))) {
          innermost = HostId{row};
        }
      }
      if (innermost.valid()) {
        ++times[innermost.value];
      }
    }
  }
  return times;
}

TEST(InnermostTimesTest, AnInstantBelongsToTheRowBegunLast) {
  std::mt19937 random(20261123);
  const auto below = [&](int64_t limit) { return static_cast<int64_t>(random()) % limit; };
  for (int round = 0; round < 2000 && !testing::Test::HasFailure(); ++round) {
    TraceMaker maker;
    for (int64_t i = below(14); i > 0; --i) {
      const Span span{below(30), below(3) == 0 ? 0 : below(20)};
      below(3) == 0 ? maker.Host(HostKind::kPython, "frame", 1 + below(2), span)
                    : maker.Op("op", 1 + below(2), span);
    }
    const Trace trace = maker.Finish();
    EXPECT_EQ(OfAll(trace), ByInstant(trace, 60, false)) << "round " << round;
    EXPECT_EQ(OfOps(trace), ByInstant(trace, 60, true)) << "round " << round;
  }
}

size_t FewOf(std::initializer_list<int64_t> events) {
  LargestEvents sum;
  for (const int64_t ns : events) sum.Add(ns);
  return FindFew(sum).events;
}

TEST(FewEventsTest, AreMuchLongerThanTheOthers) {
  EXPECT_EQ(FewOf({1, 1, 1, 1, 1, 1, 1, 1, 1, 100}), 1U);
  EXPECT_EQ(FewOf({1, 1, 1, 1, 1, 1, 1, 1, 100, 90}), 2U);
  EXPECT_EQ(FewOf({9, 9, 9, 9, 9, 9, 9, 9, 9, 50}), 0U);  // less than half of all
}

TEST(FewEventsTest, AmongFewOneIsBeyondCompare) {
  EXPECT_EQ(FewOf({14, 14, 14, 14, 14, 14, 14, 50'000}), 1U);
  EXPECT_EQ(FewOf({14, 14, 14, 14, 14, 14, 14, 1'000}), 0U);
  EXPECT_EQ(FewOf({14, 14, 14, 14, 14, 14, 50'000, 50'000}), 0U);
  EXPECT_EQ(FewOf({1, 1, 1, 1, 1'000}), 1U);
  EXPECT_EQ(FewOf({1, 1, 1, 1'000}), 0U);
}

}  // namespace

}  // namespace borescope::internal
