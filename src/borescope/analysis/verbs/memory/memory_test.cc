#include <gtest/gtest.h>

#include <limits>

#include "borescope/catalog/catalog.h"
#include "borescope/testing/test_trace.h"

namespace borescope::internal {
namespace {

// The tables.
constexpr size_t kPeak = 0;
constexpr size_t kOps = 1;
constexpr size_t kTimeline = 2;

Tables Ask(TestTrace& trace, const Params& params = {}) {
  return Analyse("memory", {&trace.View()}, params);
}

TestTrace Training() {
  TestTrace trace;
  trace.Annotation("ProfilerStep#1", {0, 100}).Annotation("ProfilerStep#2", {100, 100});
  trace.Op("aten::linear", {10, 30}).Op("aten::empty", {12, 3}).Op("aten::relu", {50, 10});
  trace.Memory({13, 0xa, 300, 1300, 2000}).Memory({55, 0xb, 500, 1800, 3000});
  trace.Memory({150, 0xa, -300, 1500, 3000}).Memory({160, 0xc, 100, 1600, 3000});
  return trace;
}

TEST(MemoryTest, LevelsAreTheAllocatorsOwn) {
  TestTrace trace = Training();
  const Tables tables = Ask(trace);
  EXPECT_EQ(Csv(tables[kTimeline],
                {"device", "elapsed_ns", "category", "allocated_bytes", "reserved_bytes", "ts_ns"}),
            "device,elapsed_ns,category,allocated_bytes,reserved_bytes,ts_ns\n"
            "cuda:0,13,allocated,1300,2000,13\n"
            "cuda:0,55,allocated,1800,3000,55\n"
            "cuda:0,150,allocated,1500,3000,150\n"
            "cuda:0,160,allocated,1600,3000,160\n");
  EXPECT_EQ(tables[kTimeline].preview_rows, 20U);
  EXPECT_EQ(Csv(tables[kPeak], {"device", "category", "bytes", "share", "ts_ns"}),
            "device,category,bytes,share,ts_ns\n"
            "cuda:0,allocated,1800,-,55\ncuda:0,reserved,3000,-,55\n");
}

TEST(MemoryTest, ThePeakIsHeldByTheOutermostOperators) {
  TestTrace trace = Training();
  EXPECT_EQ(Csv(Ask(trace)[kOps]),
            "rank,device,op,annotation,allocations,bytes,share\n"
            "0,cuda:0,(allocated before),-,-,1000,0.555556\n"
            "0,cuda:0,aten::relu,ProfilerStep#1,1,500,0.277778\n"
            "0,cuda:0,aten::linear,ProfilerStep#1,1,300,0.166667\n");
}

TEST(MemoryTest, WithoutTotalsTheChangesAreSummed) {
  TestTrace trace;
  trace.Memory({1, 1, 100}).Memory({2, 2, 50}).Memory({3, 1, -100}).Memory({4, 9, -70});
  const Tables tables = Ask(trace);
  EXPECT_EQ(Csv(tables[kTimeline], {"ts_ns", "allocated_bytes", "reserved_bytes"}),
            "ts_ns,allocated_bytes,reserved_bytes\n1,100,-\n2,150,-\n3,50,-\n4,-20,-\n");
  EXPECT_EQ(Csv(tables[kPeak], {"category", "bytes", "source", "ts_ns"}),
            "category,bytes,source,ts_ns\nallocated,150,changes,2\n");
  EXPECT_EQ(Csv(tables[kOps], {"op", "annotation", "allocations", "bytes"}),
            "op,annotation,allocations,bytes\n(no operator),-,2,150\n");
}

// The allocator's total says that 500 of what was allocated must be free again.
TEST(MemoryTest, MissedFreesHaveARowOfTheirOwn) {
  TestTrace trace;
  trace.Op("aten::empty", {0, 5});
  trace.Memory({2, 0xa, 1000, 1000, 2000}).Memory({3, 0xb, 1000, 1500, 2000});
  EXPECT_EQ(Csv(Ask(trace)[kOps], {"op", "allocations", "bytes"}),
            "op,allocations,bytes\naten::empty,2,2000\n(freed unseen),-,-500\n");
}

TEST(MemoryTest, AnAddressAllocatedTwiceCountsTwice) {
  TestTrace trace;
  trace.Op("f", {0, 5}).Op("g", {10, 5});
  trace.Memory({2, 0xa, 100}).Memory({12, 0xa, 30}).Memory({13, 0xb, 7}).Memory({14, 0xb, -7});
  EXPECT_EQ(Csv(Ask(trace)[kOps], {"op", "allocations", "bytes"}),
            "op,allocations,bytes\nf,1,100\ng,2,37\n");
}

// Number 0 of the host is no GPU, and the memory of GPU 0 not that of the host.
TEST(MemoryTest, TheHostIsNoGpu) {
  TestTrace trace;
  trace.meta().devices.resize(1);
  trace.meta().devices[0].total_bytes = 1000;
  trace.Memory({1, 1, 40, 40, 0, 0, 0});
  EXPECT_EQ(Csv(Ask(trace)[kPeak], {"device", "share"}), "device,share\ncpu:0,-\n");
  Params params;
  params.selection.gpus = NumberRanges::Parse("0").value();
  EXPECT_FALSE(FindAnalysis("memory")->answer.map(trace.View(), params).ok());
}

TEST(MemoryTest, DevicesStandAlone) {
  TestTrace trace;
  trace.meta().devices.resize(2);
  trace.meta().devices[1].id = 1;
  trace.meta().devices[1].total_bytes = 1000;
  trace.Memory({1, 1, 100, 100, 200, 1, 1}).Memory({2, 1, 40, 40, 0, 0, -1});
  trace.Memory({3, 1, 60, 60, 90, 6, 0}).Memory({4, 1, -100, 0, 200, 1, 1});
  EXPECT_EQ(Csv(Ask(trace)[kPeak], {"device", "category", "bytes", "share", "ts_ns"}),
            "device,category,bytes,share,ts_ns\n"
            "cpu,allocated,40,-,2\n"
            "cuda:1,allocated,100,0.1,1\ncuda:1,reserved,200,0.2,1\n"
            "hip:0,allocated,60,-,3\nhip:0,reserved,90,-,3\n");
}

TEST(MemoryTest, AnAddressMayBeUsedAgain) {
  TestTrace trace;
  trace.Op("first", {0, 10}).Op("second", {20, 10});
  trace.Memory({5, 1, 100, 100, 0}).Memory({15, 1, -100, 0, 0}).Memory({25, 1, 200, 200, 0});
  EXPECT_EQ(Csv(Ask(trace)[kOps], {"op", "bytes"}), "op,bytes\nsecond,200\n");
}

TEST(MemoryTest, AllocationsBelongToTheirThread) {
  TestTrace trace;
  trace.Op("here", {0, 100}).Op("there", {0, 100}, {}, 2);
  trace.Memory({5, 1, 10, 10, 0}, 2).Memory({6, 2, 20, 30, 0}, 1).Memory({7, 3, 40, 70, 0}, 3);
  EXPECT_EQ(Csv(Ask(trace)[kOps], {"op", "bytes"}),
            "op,bytes\n(no operator),40\nhere,20\nthere,10\n");
}

TEST(MemoryTest, SelectedTimeBeginsWithWhatIsHeld) {
  TestTrace trace = Training();
  Params params;
  params.selection.steps = NumberRanges::Parse("2").value();
  const RankView& view = trace.View();
  const Tables tables = Analyse("memory", {&view}, params);
  EXPECT_EQ(tables[kTimeline].rows(), 2U);
  EXPECT_EQ(Csv(tables[kPeak], {"category", "bytes", "ts_ns"}),
            "category,bytes,ts_ns\nallocated,1800,100\nreserved,3000,100\n");
}

TEST(MemoryTest, WhatIsNotRecordedCannotBeSelected) {
  TestTrace trace = Training();
  const RankView& view = trace.View();
  const AnalysisSpec* spec = FindAnalysis("memory");
  Params params;
  params.selection.streams = NumberRanges::Parse("7").value();
  EXPECT_FALSE(spec->answer.map(view, params).ok());
  params.selection = {};
  params.selection.gpus = NumberRanges::Parse("3").value();
  EXPECT_FALSE(spec->answer.map(view, params).ok());
  params.selection.gpus = NumberRanges::Parse("0").value();
  EXPECT_EQ(spec->answer.map(view, params).value()[kTimeline].rows(), 4U);
}

TestTrace Categories() {
  const auto entry = [](int64_t ts_ns, int64_t bytes, MemoryCategory category) {
    return Allocation{ts_ns, 0, bytes, kMissing, kMissing, -1, -1, category};
  };
  TestTrace trace;
  trace.Memory(entry(kMissing, 100, MemoryCategory::kUnknown));
  trace.Memory(entry(kMissing, 20, MemoryCategory::kParameter));
  trace.Memory(entry(50, 300, MemoryCategory::kActivation));
  trace.Memory(entry(50, -100, MemoryCategory::kUnknown));
  trace.Memory(entry(50, 100, MemoryCategory::kParameter));
  trace.Memory(entry(70, -300, MemoryCategory::kActivation));
  return trace;
}

TEST(MemoryTest, CategoriesHaveARowForEveryChange) {
  TestTrace trace = Categories();
  const Tables tables = Ask(trace);
  EXPECT_EQ(Csv(tables[1], {"device", "elapsed_ns", "category", "allocated_bytes", "ts_ns"}),
            "device,elapsed_ns,category,allocated_bytes,ts_ns\n"
            "-,-,parameter,20,-\n-,-,unknown,100,-\n"
            "-,0,parameter,120,50\n-,0,activation,300,50\n-,0,unknown,0,50\n"
            "-,20,activation,0,70\n");
  EXPECT_EQ(Csv(tables[kPeak], {"category", "bytes", "share", "ts_ns", "elapsed_ns"}),
            "category,bytes,share,ts_ns,elapsed_ns\n"
            "activation,300,0.714286,50,0\nparameter,120,0.285714,50,0\n"
            "optimizer state,0,0,50,0\ninput,0,0,50,0\ntemporary,0,0,50,0\ngradient,0,0,50,0\n"
            "autograd detail,0,0,50,0\nunknown,0,0,50,0\n");
  ASSERT_EQ(tables.size(), 2U);  // nobody's operators are known
  EXPECT_EQ(tables[1].name, "memory_timeline");
}

constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();

TEST(MemoryTest, SumsThatLeave64BitsAreMissing) {
  TestTrace trace;
  trace.Memory({1, 1, kLargest}).Memory({2, 2, 5}).Memory({3, 2, -5}).Memory({4, 3, 8, 70, 90});
  const Tables tables = Ask(trace);
  EXPECT_EQ(Csv(tables[kTimeline], {"elapsed_ns", "allocated_bytes"}),
            "elapsed_ns,allocated_bytes\n0,9223372036854775807\n1,-\n2,-\n3,70\n");
  EXPECT_EQ(Csv(tables[kPeak], {"category", "bytes", "elapsed_ns"}),
            "category,bytes,elapsed_ns\nallocated,9223372036854775807,0\nreserved,90,3\n");
}

TEST(MemoryTest, CategoriesThatLeave64BitsAreMissing) {
  TestTrace trace;
  for (const int64_t ts_ns : {1, 2}) {
    trace.Memory({ts_ns, 0, kLargest, kMissing, kMissing, -1, -1, MemoryCategory::kInput});
  }
  const Tables tables = Ask(trace);
  EXPECT_EQ(Csv(tables[1], {"category", "allocated_bytes", "ts_ns"}),
            "category,allocated_bytes,ts_ns\ninput,9223372036854775807,1\ninput,-,2\n");
}

}  // namespace
}  // namespace borescope::internal
