#include "borescope/analysis/measures/recorded.h"

#include <gtest/gtest.h>

#include "borescope/base/text/text.h"
#include "borescope/testing/test_trace.h"

namespace borescope::internal {

namespace {

std::string_view RemedyOfAProfiler(MissingData lack) {
  return lack == MissingData::kShapes ? "record shapes" : "record work";
}

TEST(RemediesTest, AreThoseOfTheReader) {
  TestTrace pytorch;
  EXPECT_EQ(RemedyFor(MissingData::kShapes, pytorch.View().trace), "");
  TestTrace other;
  other.meta().remedy = RemedyOfAProfiler;
  EXPECT_EQ(RemedyFor(MissingData::kShapes, other.View().trace), "record shapes");
}

// That no option was missing: one too many was given.
TEST(RemediesTest, CountersInPlaceOfDeviceWork) {
  TestTrace trace;
  trace.Op("f", {0, 10}).Range("k", {0, 10}, {{"m", 1}});
  EXPECT_TRUE(RemedyFor(MissingData::kDeviceWork, trace.View().trace)
                  .ends_with("record once more without profiler_metrics for times"));
  for (const MissingData lack : {MissingData::kLaunches, MissingData::kCollectives,
                                 MissingData::kGraphs, MissingData::kCopies}) {
    EXPECT_EQ(RemedyFor(lack, trace.View().trace),
              RemedyFor(MissingData::kDeviceWork, trace.View().trace));
  }
  EXPECT_EQ(RemedyFor(MissingData::kMemory, trace.View().trace), "");
  EXPECT_TRUE(Contains(Csv(Analyse("doctor", {&trace.View()})[0], {"help"}),
                       "No kernel, memcpy or memset was recorded: hardware counters were measured "
                       "instead (`borescope counters`); record once more"));
}

TEST(RemediesTest, CountersBesideDeviceWorkAndOfOthers) {
  TestTrace beside;
  beside.Kernel("k", {0, 10}).Range("k", {0, 10}, {{"m", 1}});
  EXPECT_EQ(RemedyFor(MissingData::kDeviceWork, beside.View().trace), "");
  TestTrace other;
  other.meta().format = TraceFormat::kRocpd;
  other.meta().remedy = RemedyOfAProfiler;
  other.Range("k", {0, 10}, {{"m", 1}});
  EXPECT_EQ(RemedyFor(MissingData::kDeviceWork, other.View().trace), "record work");
}

}  // namespace

}  // namespace borescope::internal
