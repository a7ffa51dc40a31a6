#include "borescope/engine/loading/memory_estimate.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace borescope::internal {
namespace {

std::vector<InputFile> Files(const std::string& name, uint64_t bytes, size_t count) {
  return std::vector<InputFile>(count, InputFile{name, false, bytes});
}

TEST(FilesInFlightTest, AreThreadsWithoutALimit) {
  EXPECT_EQ(*FilesInFlight(Files("a.json", 1'000'000, 4), {}, 3, {0}), 3U);
  EXPECT_EQ(*FilesInFlight(Files("a.json", 1'000'000, 4), {}, 8, {0}), 4U);
  EXPECT_EQ(*FilesInFlight(Files("a.json", 1'000'000, 4), {}, 0, {0}), 1U);
  EXPECT_EQ(*FilesInFlight({}, {}, 8, {1}), 0U);
}

TEST(FilesInFlightTest, AreFewerWhereMemoryIsShort) {
  EXPECT_EQ(*FilesInFlight(Files("a.json", 1'000'000, 4), {}, 8, {800'000}), 2U);
  EXPECT_EQ(*FilesInFlight(Files("a.json.gz", 1'000'000, 4), {}, 8, {24'000'000}), 2U);
  EXPECT_EQ(*FilesInFlight(Files("a.rpd", 1'000'000, 4), {}, 8, {5'400'000}), 3U);
  EXPECT_EQ(*FilesInFlight(Files("-", 0, 2), {}, 8, {1}), 1U);
}

TEST(FilesInFlightTest, AreFewerForQuestionsThatTakeMemory) {
  const AnalysisSpec light;
  AnalysisSpec heavy;
  heavy.memory = 1;
  const AnalysisSpec* const asked[] = {&light, &heavy};
  const auto files = Files("a.json", 1'000'000, 4);
  EXPECT_EQ(*FilesInFlight(files, {asked, 1}, 8, {1'600'000}), 4U);
  EXPECT_EQ(*FilesInFlight(files, asked, 8, {1'600'000}), 2U);
}

// One after the other: the largest counts.
TEST(FilesInFlightTest, CountOneOfThoseWithSomethingDear) {
  AnalysisSpec dear;
  dear.memory = 1;
  dear.dear = [](const Params&) { return kMeasureId<int>; };
  AnalysisSpec less = dear;
  less.memory = 0.5;
  const AnalysisSpec* const asked[] = {&dear, &less, &dear};
  EXPECT_EQ(*FilesInFlight(Files("a.json", 1'000'000, 4), asked, 8, {1'600'000}), 2U);
}

TEST(FilesInFlightTest, NamesTheFileThatAloneIsTooMuch) {
  const auto files = FilesInFlight(Files("a.json", 1'000'000, 1), {}, 1, {10'000});
  ASSERT_FALSE(files.ok());
  EXPECT_EQ(files.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(
      files.error().Sentence(),
      "a.json: needs about 400.0 KB, more than `memory_limit` 10.0 KB; raise the limit or profile "
      "fewer steps");
}

TEST(FilesInFlightTest, TryWhatMayFit) {
  EXPECT_EQ(*FilesInFlight(Files("a.json", 1'000'000, 4), {}, 8, {100'000}), 1U);
  EXPECT_EQ(*FilesInFlight(Files("a.json.gz", 1'000'000, 4), {}, 8, {1'000'000}), 1U);
}

// Columns may lie in files, texts may not.
TEST(FilesInFlightTest, CountTheDisk) {
  const auto files = Files("a.json", 1'000'000, 4);
  EXPECT_EQ(*FilesInFlight(files, {}, 8, {10'000, 40'000}), 1U);
  EXPECT_FALSE(FilesInFlight(files, {}, 8, {1'000, 1'000'000}).ok());
  const auto full = FilesInFlight(files, {}, 8, {10'000, 39'000});
  ASSERT_FALSE(full.ok());
  EXPECT_EQ(full.error().Sentence(),
            "a.json: needs about 400.0 KB, more than `memory_limit` 10.0 KB and 39.0 KB for "
            "temporary files, which TMPDIR can put on another disk; raise the limit or profile "
            "fewer steps");
}

TEST(MemoryLimitReachedTest, SaysWhatIsNeededWhereThatIsKnown) {
  const InputFile file{"a.json", false, 1'000'000};
  const MemoryLimit limit(100'000);
  EXPECT_EQ(
      MemoryLimitReached(file, limit, 250'000).Sentence(),
      "a.json: loading needs more than `memory_limit` 100.0 KB, which was reached after 25 % of "
      "the file; about 400.0 KB are needed; raise the limit or profile fewer steps");
  EXPECT_EQ(
      MemoryLimitReached(file, limit, 50'000).Sentence(),
      "a.json: loading needs more than `memory_limit` 100.0 KB, which was reached after 5 % of "
      "the file; raise the limit or profile fewer steps");
  EXPECT_EQ(
      MemoryLimitReached(file, limit, 1'000'000).Sentence(),
      "a.json: loading needs more than `memory_limit` 100.0 KB, which was reached once it was "
      "read; raise the limit or profile fewer steps");
}

TEST(MemoryLimitReachedTest, SaysThatTheDiskWasFull) {
  const auto files = std::make_shared<SpillFiles>("/no/such/folder");
  EXPECT_EQ(files->Make(1), nullptr);
  const std::string text =
      MemoryLimitReached({"a.json", false, 100}, MemoryLimit(1, files), 100).Sentence();
  EXPECT_NE(text.find("once it was read; /no/such/folder: no room"), std::string::npos) << text;
}

}  // namespace
}  // namespace borescope::internal
