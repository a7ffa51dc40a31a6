#include "borescope/engine/loading/memory_estimate.h"

#include <gtest/gtest.h>

#include <vector>

namespace borescope::internal {
namespace {

std::vector<InputFile> Files(const std::string& name, uint64_t bytes, size_t count) {
  return std::vector<InputFile>(count, InputFile{name, false, bytes});
}

TEST(FilesInFlightTest, AreThreadsWithoutALimit) {
  EXPECT_EQ(*FilesInFlight(Files("a.json", 1'000'000, 4), {}, 3, 0), 3U);
  EXPECT_EQ(*FilesInFlight(Files("a.json", 1'000'000, 4), {}, 8, 0), 4U);
  EXPECT_EQ(*FilesInFlight(Files("a.json", 1'000'000, 4), {}, 0, 0), 1U);
  EXPECT_EQ(*FilesInFlight({}, {}, 8, 1), 0U);
}

TEST(FilesInFlightTest, AreFewerWhereMemoryIsShort) {
  EXPECT_EQ(*FilesInFlight(Files("a.json", 1'000'000, 4), {}, 8, 800'000), 2U);
  EXPECT_EQ(*FilesInFlight(Files("a.json.gz", 1'000'000, 4), {}, 8, 24'000'000), 2U);
  EXPECT_EQ(*FilesInFlight(Files("a.rpd", 1'000'000, 4), {}, 8, 5'400'000), 3U);
  EXPECT_EQ(*FilesInFlight(Files("-", 0, 2), {}, 8, 1), 1U);
}

TEST(FilesInFlightTest, AreFewerForQuestionsThatTakeMemory) {
  const AnalysisSpec light;
  AnalysisSpec heavy;
  heavy.memory = 1;
  const AnalysisSpec* const asked[] = {&light, &heavy};
  const auto files = Files("a.json", 1'000'000, 4);
  EXPECT_EQ(*FilesInFlight(files, {asked, 1}, 8, 1'600'000), 4U);
  EXPECT_EQ(*FilesInFlight(files, asked, 8, 1'600'000), 2U);
}

// One after the other: the largest counts.
TEST(FilesInFlightTest, CountOneOfThoseWithSomethingDear) {
  AnalysisSpec dear;
  dear.memory = 1;
  dear.dear = [](const Params&) { return kMeasureId<int>; };
  AnalysisSpec less = dear;
  less.memory = 0.5;
  const AnalysisSpec* const asked[] = {&dear, &less, &dear};
  EXPECT_EQ(*FilesInFlight(Files("a.json", 1'000'000, 4), asked, 8, 1'600'000), 2U);
}

TEST(FilesInFlightTest, NamesTheFileThatAloneIsTooMuch) {
  const auto files = FilesInFlight(Files("a.json", 1'000'000, 1), {}, 1, 10'000);
  ASSERT_FALSE(files.ok());
  EXPECT_EQ(files.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(
      files.error().message,
      "a.json: needs about 400.0 KB, more than --memory-limit 10.0 KB; raise the limit or profile "
      "fewer steps");
}

TEST(FilesInFlightTest, TryWhatMayFit) {
  EXPECT_EQ(*FilesInFlight(Files("a.json", 1'000'000, 4), {}, 8, 100'000), 1U);
  EXPECT_EQ(*FilesInFlight(Files("a.json.gz", 1'000'000, 4), {}, 8, 1'000'000), 1U);
}

TEST(MemoryLimitReachedTest, SaysWhatIsNeededWhereThatIsKnown) {
  const InputFile file{"a.json", false, 1'000'000};
  EXPECT_EQ(
      MemoryLimitReached(file, 100'000, 250'000, 101'000).message,
      "a.json: loading needs more than --memory-limit 100.0 KB, which was reached after 25 % of "
      "the file; about 404.0 KB are needed; raise the limit or profile fewer steps");
  EXPECT_EQ(
      MemoryLimitReached(file, 100'000, 50'000, 101'000).message,
      "a.json: loading needs more than --memory-limit 100.0 KB, which was reached after 5 % of "
      "the file; raise the limit or profile fewer steps");
  EXPECT_EQ(
      MemoryLimitReached(file, 100'000, 1'000'000, 90'000).message,
      "a.json: loading needs more than --memory-limit 100.0 KB, which was reached once it was "
      "read; raise the limit or profile fewer steps");
}

}  // namespace
}  // namespace borescope::internal
