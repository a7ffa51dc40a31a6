#include "tests/support/model/scenario_intervals.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/model/scenario_random.h"

namespace borescope::scenario {
namespace {

struct Interval {
  Work work;
  int64_t begin_ns;
  int64_t end_ns;
};

// The slow twin: looks at every nanosecond for what runs then.
BusyTotals CountEachNanosecond(const std::vector<Interval>& intervals, int64_t begin_ns,
                               int64_t end_ns) {
  BusyTotals totals;
  for (int64_t t = begin_ns; t < end_ns; ++t) {
    bool runs[3] = {};
    for (const Interval& interval : intervals) {
      if (interval.begin_ns <= t && t < interval.end_ns) {
        runs[static_cast<size_t>(interval.work)] = true;
      }
    }
    totals.busy_ns += runs[0] || runs[1] || runs[2] ? 1 : 0;
    totals.compute_ns += runs[0] ? 1 : 0;
    totals.exposed_comm_ns += runs[1] && !runs[0] ? 1 : 0;
    totals.exposed_copy_ns += runs[2] && !runs[1] && !runs[0] ? 1 : 0;
    totals.comm_ns += runs[1] ? 1 : 0;
  }
  return totals;
}

void ExpectEqual(const BusyTotals& found, const BusyTotals& expected) {
  EXPECT_EQ(found.busy_ns, expected.busy_ns);
  EXPECT_EQ(found.compute_ns, expected.compute_ns);
  EXPECT_EQ(found.exposed_comm_ns, expected.exposed_comm_ns);
  EXPECT_EQ(found.exposed_copy_ns, expected.exposed_copy_ns);
  EXPECT_EQ(found.comm_ns, expected.comm_ns);
}

TEST(BusySweep, OfNothingIsZero) {
  BusySweep sweep;
  sweep.Add(Work::kCompute, 5, 5);
  ExpectEqual(sweep.Finish(), BusyTotals());
}

TEST(BusySweep, ComputeHidesCommunicationHidesCopies) {
  BusySweep sweep;
  sweep.Add(Work::kCompute, 0, 10);
  sweep.Add(Work::kComm, 5, 20);
  sweep.Add(Work::kCopy, 15, 30);
  ExpectEqual(sweep.Finish(), {30, 10, 10, 10, 15});
}

TEST(BusySweep, AgreesWithCountingPieceByPiece) {
  Random random(3);
  for (int round = 0; round < 300; ++round) {
    BusySweep sweep;
    std::vector<Interval> intervals;
    int64_t last_ns = 0;
    for (int piece = 0; piece < 4; ++piece) {
      for (int i = 0; i < 4; ++i) {
        const Interval interval{static_cast<Work>(random.Below(3)), last_ns + random.Below(20), 0};
        intervals.push_back(interval);
        intervals.back().end_ns = interval.begin_ns + random.Below(25);
        sweep.Add(interval.work, interval.begin_ns, intervals.back().end_ns);
      }
      const int64_t horizon_ns = last_ns + random.Below(15);
      ExpectEqual(sweep.Advance(horizon_ns), CountEachNanosecond(intervals, last_ns, horizon_ns));
      last_ns = horizon_ns;
    }
    ExpectEqual(sweep.Finish(), CountEachNanosecond(intervals, last_ns, last_ns + 200));
  }
}

}  // namespace
}  // namespace borescope::scenario
