#include "borescope/analysis/remedies.h"

#include <gtest/gtest.h>

namespace borescope {
namespace {

TEST(RemediesTest, EveryProfilerHasAdviceOfItsOwnWordsWithoutAFullStop) {
  for (const std::string_view format : {"nsys", "nvprof", "rpd", "rocpd"}) {
    for (int lack = 1; lack <= static_cast<int>(Lack::kCounters); ++lack) {
      const std::string_view remedy = RemedyElsewhere(static_cast<Lack>(lack), format);
      EXPECT_FALSE(remedy.empty()) << format << " " << lack;
      EXPECT_FALSE(remedy.ends_with('.')) << remedy;
    }
  }
  EXPECT_NE(RemedyElsewhere(Lack::kMemory, "rocpd").find("--memory-allocation-trace"),
            std::string_view::npos);
}

TEST(RemediesTest, PyTorchAndWhatNoOptionRecords) {
  EXPECT_EQ(RemedyElsewhere(Lack::kShapes, "kineto-json"), "");
  EXPECT_EQ(RemedyElsewhere(Lack::kNone, "nsys"), "");
}

}  // namespace
}  // namespace borescope
