#include "borescope/convert/merge.h"

#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <set>
#include <vector>

#include "borescope/trace/testing/trace_maker.h"

namespace borescope {
namespace {

using testkit::TraceMaker;

TraceData Recorded(std::optional<int64_t> base_ns, std::optional<int64_t> rank = std::nullopt) {
  TraceMaker maker;
  maker.Host(HostKind::kOp, "op", 1, {100, 50});
  maker.Kernel("gemm", 7, {120, 20});
  TraceData data = maker.Finish().Take();
  data.meta.file = "folder/trace.json";
  data.meta.base_ns = base_ns;
  data.meta.rank = rank;
  return data;
}

TEST(Merger, LeavesTheFirstAsItIs) {
  TraceData data = Recorded(1000, 3);
  const TraceData before = Recorded(1000, 3);
  const MergeSource source = Merger().Place(data);
  EXPECT_EQ(source.name, "rank 3");
  EXPECT_EQ(source.node, 0);
  EXPECT_EQ(source.first_id, 0);
  EXPECT_EQ(source.end_id, int64_t{1} << 32);
  EXPECT_EQ(data.tracks.pid, before.tracks.pid);
  EXPECT_EQ(data.host.ts_ns, before.host.ts_ns);
}

TEST(Merger, GivesEveryTraceNumbersOfItsOwn) {
  Merger merger;
  std::set<int64_t> numbers;
  for (int64_t node = 0; node < 3; ++node) {
    TraceData data = Recorded(std::nullopt);
    const MergeSource source = merger.Place(data);
    EXPECT_EQ(source.name, "trace.json");
    EXPECT_EQ(source.node, node);
    EXPECT_EQ(source.first_id, node << 32);
    const TraceData before = Recorded(std::nullopt);
    for (size_t i = 0; i < data.tracks.size(); ++i) {
      const bool is_host = data.tracks.kind[i] == TrackKind::kHost;
      EXPECT_EQ(data.tracks.pid[i] - before.tracks.pid[i],
                node * (is_host ? kPidStride : kGpuStride));
      numbers.insert(data.tracks.pid[i]);
    }
  }
  EXPECT_GE(numbers.size(), 3U);
}

TEST(Merger, KeepsNumbersThatNobodyElseHas) {
  Merger merger;
  TraceData first = Recorded(std::nullopt);
  merger.Place(first);
  TraceData second = Recorded(std::nullopt);
  for (int64_t& pid : second.tracks.pid) {
    pid += 100;
  }
  const std::vector<int64_t> before = second.tracks.pid;
  EXPECT_EQ(merger.Place(second).node, 0);
  EXPECT_EQ(second.tracks.pid, before);
}

TEST(Merger, PutsTimesOnTheClockOfTheFirst) {
  Merger merger;
  TraceData first = Recorded(1000);
  merger.Place(first);
  TraceData second = Recorded(1700);
  const MergeSource placed = merger.Place(second);
  EXPECT_TRUE(placed.has_common_clock);
  EXPECT_EQ(placed.shift_ns, 700);
  EXPECT_EQ(second.host.ts_ns.front(), 800);
  EXPECT_EQ(second.device.ts_ns.front(), 820);
  EXPECT_EQ(second.begin_ns, 800);
  TraceData third = Recorded(std::nullopt);
  EXPECT_FALSE(merger.Place(third).has_common_clock);
  EXPECT_EQ(third.host.ts_ns.front(), 100);
}

TEST(Merger, KnowsTimesOfUnix) {
  constexpr int64_t kUnix = 1'700'000'000'000'000'000;
  TraceData first = Recorded(kUnix);
  TraceData second = Recorded(std::nullopt);
  second.begin_ns = kUnix + 5;
  second.host.ts_ns.front() = kUnix + 5;
  Merger merger;
  merger.Place(first);
  EXPECT_TRUE(merger.Place(second).has_common_clock);
  EXPECT_EQ(second.host.ts_ns.front(), 5);
}

TEST(Merger, TiesNothingToAnotherTrace) {
  Merger merger;
  for (int64_t number = 0; number < 2; ++number) {
    TraceData data = Recorded(std::nullopt);
    data.device.correlation = {5};
    data.device.external_id = {kMissing};
    data.flows.id = {0, (int64_t{1} << 32) + 9};
    merger.Place(data);
    const int64_t first_id = number * (int64_t{2} << 32);
    EXPECT_EQ(data.device.correlation.front(), first_id + 5);
    EXPECT_EQ(data.device.external_id.front(), kMissing);
    EXPECT_EQ(data.flows.id.front(), 0);
    EXPECT_EQ(data.flows.id.back(), first_id + (int64_t{1} << 32) + 9);
  }
}

TEST(Merger, StandsTimesAndNumbersOfAnySize) {
  Merger merger;
  TraceData first = Recorded(std::numeric_limits<int64_t>::min());
  merger.Place(first);
  TraceData second = Recorded(std::numeric_limits<int64_t>::max());
  second.tracks.pid.front() = std::numeric_limits<int64_t>::max();
  EXPECT_FALSE(merger.Place(second).has_common_clock);
  EXPECT_EQ(second.tracks.pid.front(), std::numeric_limits<int64_t>::max());
}

}  // namespace
}  // namespace borescope
