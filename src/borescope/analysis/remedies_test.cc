#include "borescope/analysis/remedies.h"

#include <gtest/gtest.h>

namespace borescope {
namespace {

TEST(RemediesTest, EveryProfilerHasAdviceOfItsOwnWordsWithoutAFullStop) {
  for (const TraceFormat format :
       {TraceFormat::kNsys, TraceFormat::kNvprof, TraceFormat::kRpd, TraceFormat::kRocpd}) {
    for (int lack = 1; lack <= static_cast<int>(Lack::kCounters); ++lack) {
      const std::string_view remedy = RemedyElsewhere(static_cast<Lack>(lack), format);
      EXPECT_FALSE(remedy.empty()) << FormatName(format) << " " << lack;
      EXPECT_FALSE(remedy.ends_with('.')) << remedy;
    }
  }
  EXPECT_NE(RemedyElsewhere(Lack::kMemory, TraceFormat::kRocpd).find("--memory-allocation-trace"),
            std::string_view::npos);
}

TEST(RemediesTest, PyTorchAndWhatNoOptionRecords) {
  EXPECT_EQ(RemedyElsewhere(Lack::kShapes, TraceFormat::kKineto), "");
  EXPECT_EQ(RemedyElsewhere(Lack::kNone, TraceFormat::kNsys), "");
}

}  // namespace
}  // namespace borescope
