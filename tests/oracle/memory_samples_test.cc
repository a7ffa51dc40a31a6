// The levels of a real memory timeline against those that HolisticTraceAnalysis finds in it.
#include <gtest/gtest.h>

#include "borescope/analysis/verbs/memory/memory_levels.h"
#include "tests/oracle/samples.h"

namespace borescope::internal {
namespace {

TEST(MemorySamplesTest, LevelsByCategory) {
  const std::string file = "memory/memory_timeline.raw.gz";
  if (!std::filesystem::exists(testkit::SamplePath(file))) {
    GTEST_SKIP() << "no samples in " << testkit::SamplesFolder();
  }
  const testkit::Sample sample = testkit::LoadSample(file);
  EXPECT_EQ(sample.trace.memory().size(), 16845U);
  EXPECT_TRUE(sample.trace.diagnostics().empty());
  const std::vector<CategoryLevel> levels = CategoryLevels(sample.trace);
  ASSERT_EQ(levels.size(), 7721U);
  const std::array<int64_t, kMemoryCategories> expected{
      102'440'608, 102'228'128, 19'395'584, 0, 2'618'160'128, 58'417'152, 41'811'968, 25'494'440};
  EXPECT_EQ(levels[744].held, expected);
  int64_t peak = 0;
  for (const CategoryLevel& level : levels) {
    peak = std::max(peak, level.Sum());
  }
  EXPECT_EQ(peak, 3'082'832'104);
}

}  // namespace
}  // namespace borescope::internal
