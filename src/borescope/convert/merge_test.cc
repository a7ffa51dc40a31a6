#include "borescope/convert/merge.h"

#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <set>
#include <vector>

#include "borescope/testing/trace_maker.h"
#include "borescope/trace/columns.h"

namespace borescope::internal {
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

// One, on device 0 of that type.
void SetAllocation(MemoryEvents& memory, int32_t device_type) {
  memory.ts_ns = {5};
  memory.device_type = {device_type};
  memory.device = {0};
}

TEST(Merger, LeavesTheFirstAsItIs) {
  TraceData data = Recorded(1000, 3);
  const TraceData before = Recorded(1000, 3);
  const MergeSource source = Merger().Place(data).value();
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
    const MergeSource source = merger.Place(data).value();
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
  ASSERT_TRUE(merger.Place(first).ok());
  TraceData second = Recorded(std::nullopt);
  for (int64_t& pid : second.tracks.pid) {
    pid += 50;
  }
  const ColumnData<int64_t> before = second.tracks.pid;
  EXPECT_EQ(merger.Place(second).value().node, 0);
  EXPECT_EQ(second.tracks.pid, before);
}

TEST(Merger, PutsTimesOnTheClockOfTheFirst) {
  Merger merger;
  TraceData first = Recorded(1000);
  ASSERT_TRUE(merger.Place(first).ok());
  TraceData second = Recorded(1700);
  const MergeSource placed = merger.Place(second).value();
  EXPECT_TRUE(placed.has_common_clock);
  EXPECT_EQ(placed.shift_ns, 700);
  EXPECT_EQ(second.host.ts_ns.front(), 800);
  EXPECT_EQ(second.device.ts_ns.front(), 820);
  EXPECT_EQ(second.begin_ns, 800);
  TraceData third = Recorded(std::nullopt);
  EXPECT_FALSE(merger.Place(third).value().has_common_clock);
  EXPECT_EQ(third.host.ts_ns.front(), 100);
}

TEST(Merger, KnowsTimesOfUnix) {
  constexpr int64_t kUnix = 1'700'000'000'000'000'000;
  TraceData first = Recorded(kUnix);
  TraceData second = Recorded(std::nullopt);
  second.begin_ns = kUnix + 5;
  second.host.ts_ns.front() = kUnix + 5;
  Merger merger;
  ASSERT_TRUE(merger.Place(first).ok());
  EXPECT_TRUE(merger.Place(second).value().has_common_clock);
  EXPECT_EQ(second.host.ts_ns.front(), 5);
}

TEST(Merger, TiesNothingToAnotherTrace) {
  Merger merger;
  for (int64_t number = 0; number < 2; ++number) {
    TraceData data = Recorded(std::nullopt);
    data.device.correlation = {5};
    data.device.external_id = {kMissing};
    data.flows.id = {-1, 0, (int64_t{1} << 32) + 9};
    AddMissingRow(data.ops);
    data.ops.sequence = {0};
    data.ops.external_id = {0};
    ASSERT_TRUE(merger.Place(data).ok());
    const int64_t first_id = number * (int64_t{2} << 32);
    EXPECT_EQ(data.device.correlation.front(), first_id + 5);
    EXPECT_EQ(data.device.external_id.front(), kMissing);
    EXPECT_EQ(data.flows.id,
              (std::vector<int64_t>{-1, first_id, first_id + (int64_t{1} << 32) + 9}));
    EXPECT_EQ(data.ops.sequence.front(), first_id);  // sequences count from 0
    EXPECT_EQ(data.ops.external_id.front(), 0);
  }
}

TEST(Merger, StandsTimesAndNumbersOfAnySize) {
  Merger merger;
  TraceData first = Recorded(std::numeric_limits<int64_t>::min());
  ASSERT_TRUE(merger.Place(first).ok());
  TraceData second = Recorded(std::numeric_limits<int64_t>::max());
  second.tracks.pid.front() = std::numeric_limits<int64_t>::max();
  EXPECT_FALSE(merger.Place(second).value().has_common_clock);
  EXPECT_EQ(second.tracks.pid.front(), std::numeric_limits<int64_t>::max());
}

TEST(Merger, DropsIdsThatCannotBeMoved) {
  TraceData data = Recorded(std::nullopt);
  data.device.correlation = {int64_t{1} << 61};
  ASSERT_TRUE(Merger().Place(data).ok());
  EXPECT_EQ(data.device.correlation.front(), kMissing);
  EXPECT_EQ(data.diagnostics.count(Diag::kBadFieldType), 1U);
}

TEST(Merger, RefusesIdsThatFindNoRoom) {
  Merger merger;
  for (int number = 0; number < 4; ++number) {
    TraceData data = Recorded(std::nullopt);
    data.device.correlation = {(int64_t{1} << 61) - 1};
    const Result<MergeSource> placed = merger.Place(data);
    ASSERT_EQ(placed.ok(), number < 3);
    if (!placed.ok()) {
      EXPECT_EQ(placed.error().Sentence(),
                "folder/trace.json: its ids are too large to come after those of the files before "
                "it; name it first or convert it alone");
    }
  }
}

// GPUs that only an allocator or a monitor names.
TEST(Merger, KeepsGpusWithoutWorkApart) {
  Merger merger;
  for (int64_t node = 0; node < 3; ++node) {
    TraceData data;
    SetAllocation(data.memory, 1);
    AddMissingRow(data.samples);
    data.samples.device = {1};
    AddMissingRow(data.copy_calls);
    data.copy_calls.source_device = {0};
    EXPECT_EQ(merger.Place(data).value().node, node);
    EXPECT_EQ(data.memory.device.front(), node * kGpuStride);
    EXPECT_EQ(data.samples.device.front(), node * kGpuStride + 1);
    EXPECT_EQ(data.copy_calls.source_device.front(), node * kGpuStride);
    EXPECT_EQ(data.copy_calls.target_device.front(), kMissing);
  }
  TraceData host_only;
  SetAllocation(host_only.memory, 0);
  EXPECT_EQ(merger.Place(host_only).value().node, 0);
}

}  // namespace
}  // namespace borescope::internal
