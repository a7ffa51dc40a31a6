#include "borescope/engine/partial/missing_parts.h"

#include <gtest/gtest.h>

#include <vector>

namespace borescope::internal {
namespace {

MissingParts Missing(std::vector<ShardMark> shards, uint64_t files = 0,
                     std::optional<uint64_t> expected = {}) {
  std::sort(shards.begin(), shards.end());
  return FindMissingParts(shards, files, expected).value();
}

TEST(MissingParts, AreThoseOfTheDivision) {
  EXPECT_EQ(Missing({}).count, 0U);
  EXPECT_EQ(Missing({{0, 1}}).count, 0U);
  EXPECT_EQ(Missing({{2, 3}, {0, 3}, {1, 3}}).count, 0U);
  const MissingParts missing = Missing({{0, 5}, {3, 5}});
  EXPECT_EQ(missing.count, 3U);
  EXPECT_EQ(missing.words, "2 of 5 parts; without 1..2, 4");
}

TEST(MissingParts, OneWholeDivisionIsEnough) {
  EXPECT_EQ(Missing({{0, 9}, {0, 2}, {1, 2}}).count, 0U);
  EXPECT_EQ(Missing({{0, 9}, {1, 2}}).words, "1 of 2 parts; without 0");
}

TEST(MissingParts, PartsOfDifferentFilesAreRefused) {
  const ShardMark marks[] = {{0, 2, 3, 77}, {1, 2, 4, 78}};
  EXPECT_EQ(
      FindMissingParts(marks, 3, {}).error().Sentence(),
      "the parts 0/2 and 1/2 are of different files: the run changed between their maps (3 and "
      "4 files), or parts of another run are among them; map all parts again");
}

TEST(MissingParts, LongListsAreCut) {
  std::vector<ShardMark> even;
  for (uint32_t i = 0; i < 40; i += 2) even.push_back({i, 40});
  EXPECT_EQ(Missing(even).words, "20 of 40 parts; without 1, 3, 5, 7, 9, 11, 13, 15, …");
  const MissingParts missing = Missing({{999'999, 1'000'000}});
  EXPECT_EQ(missing.count, 999'999U);
  EXPECT_EQ(missing.words, "1 of 1,000,000 parts; without 0..999998");
}

TEST(MissingParts, FilesAreCountedWhereTheirNumberIsKnown) {
  EXPECT_EQ(Missing({}, 4, 4).count, 0U);
  EXPECT_EQ(Missing({}, 3, 4).words, "3 of 4 files");
  EXPECT_EQ(Missing({}, 3, 4).count, 1U);
  EXPECT_EQ(Missing({{0, 2}}, 2, 4).words, "2 of 4 files; 1 of 2 parts; without 1");
  EXPECT_EQ(
      FindMissingParts({}, 5, 4).error().Sentence(),
      "the partials hold 5 files, more than the 4 of `expect`; take those of other runs away, "
      "or give the number of this one");
}

}  // namespace
}  // namespace borescope::internal
