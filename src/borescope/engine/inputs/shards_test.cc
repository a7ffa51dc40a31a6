#include "borescope/engine/inputs/shards.h"

#include <gtest/gtest.h>

#include <set>

namespace borescope::internal {
namespace {

std::vector<InputFile> Files(int count) {
  std::vector<InputFile> files;
  for (int i = count; i-- > 0;) {  // in no order that counts
    files.push_back({.path = "rank" + std::to_string(i)});
  }
  return files;
}

TEST(Shards, EachFileIsInOnePartAndPartsAreEvenlyLarge) {
  for (const int count : {0, 1, 7, 12}) {
    for (const uint32_t shards : {1U, 3U, 5U, 20U}) {
      std::set<std::string> seen;
      for (uint32_t index = 0; index < shards; ++index) {
        std::vector<InputFile> mine = Files(count);
        ASSERT_TRUE(TakeShard(index, shards, mine).ok());
        EXPECT_LE(mine.size(), (static_cast<size_t>(count) + shards - 1) / shards);
        for (const InputFile& file : mine) {
          EXPECT_TRUE(seen.insert(file.path).second);
        }
      }
      EXPECT_EQ(seen.size(), static_cast<size_t>(count));
    }
  }
}

TEST(Shards, FilesAreDealtInNaturalOrder) {
  std::vector<InputFile> mine = Files(12);
  ASSERT_TRUE(TakeShard(2, 4, mine).ok());
  ASSERT_EQ(mine.size(), 3U);
  EXPECT_EQ(mine[0].path, "rank2");
  EXPECT_EQ(mine[1].path, "rank6");
  EXPECT_EQ(mine[2].path, "rank10");
}

TEST(Shards, TheMarkIsOfAllFiles) {
  const auto mark_of = [](std::vector<InputFile> files, uint32_t index) {
    return TakeShard(index, 2, files).value();
  };
  const auto at = [](const std::string& folder, std::vector<std::string> names) {
    std::vector<InputFile> files;
    for (const std::string& name : names) files.push_back({.path = folder + name});
    return files;
  };
  const ShardMark mark = mark_of(at("/a/run/", {"b", "c", "d"}), 0);
  EXPECT_EQ(mark.files, 3U);
  EXPECT_EQ(mark.digest, mark_of(at("/b/run/", {"d", "b", "c"}), 1).digest);
  EXPECT_NE(mark.digest, mark_of(at("/a/run/", {"a", "b", "c"}), 0).digest);
  EXPECT_NE(mark.digest, mark_of(at("/a/run/", {"b", "cd"}), 0).digest);
  EXPECT_EQ(mark_of({}, 0).files, 0U);
}

TEST(Shards, APartThatThereIsNotIsRefused) {
  std::vector<InputFile> files = Files(3);
  for (const ShardMark& shard : {ShardMark{3, 3}, ShardMark{0, 0}, ShardMark{0, kMostShards + 1}}) {
    EXPECT_FALSE(TakeShard(shard.index, shard.count, files).ok());
  }
  EXPECT_EQ(files.size(), 3U);
}

TEST(Shards, NamesSort) {
  EXPECT_EQ(PartFileName({3, 64}), "00003-of-00064.part");
  EXPECT_EQ(PartFileName({123456, 1000000}), "123456-of-1000000.part");
}

}  // namespace
}  // namespace borescope::internal
