#include "borescope/analysis/measures/remedies.h"

#include <gtest/gtest.h>

#include "borescope/base/text/text.h"
#include "borescope/testing/test_trace.h"

namespace borescope::internal {
namespace {

TEST(RemediesTest, EveryProfilerHasAdviceOfItsOwnWordsWithoutAFullStop) {
  for (const TraceFormat format :
       {TraceFormat::kNsys, TraceFormat::kNvprof, TraceFormat::kRpd, TraceFormat::kRocpd}) {
    for (int lack = 1; lack <= static_cast<int>(MissingData::kCounters); ++lack) {
      const std::string_view remedy = RemedyElsewhere(static_cast<MissingData>(lack), format);
      EXPECT_FALSE(remedy.empty()) << FormatName(format) << " " << lack;
      EXPECT_FALSE(remedy.ends_with('.')) << remedy;
    }
  }
  EXPECT_NE(
      RemedyElsewhere(MissingData::kMemory, TraceFormat::kRocpd).find("--memory-allocation-trace"),
      std::string_view::npos);
}

TEST(RemediesTest, PyTorchAndWhatNoOptionRecords) {
  EXPECT_EQ(RemedyElsewhere(MissingData::kShapes, TraceFormat::kKineto), "");
  EXPECT_EQ(RemedyElsewhere(MissingData::kNone, TraceFormat::kNsys), "");
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
  other.Range("k", {0, 10}, {{"m", 1}});
  EXPECT_EQ(RemedyFor(MissingData::kDeviceWork, other.View().trace),
            RemedyElsewhere(MissingData::kDeviceWork, TraceFormat::kRocpd));
}

}  // namespace
}  // namespace borescope::internal
