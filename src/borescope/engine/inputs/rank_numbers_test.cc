#include "borescope/engine/inputs/rank_numbers.h"

#include <gtest/gtest.h>

#include <limits>

namespace borescope::internal {
namespace {

using Ranks = std::vector<int64_t>;

struct Assigned {
  Ranks ranks;
  std::vector<Diagnostics> diagnostics;
};

Assigned Assign(const std::vector<RankClaim>& claims) {
  Assigned result;
  result.diagnostics.resize(claims.size());
  result.ranks = AssignRanks(claims, result.diagnostics);
  return result;
}

TEST(RankNumbers, RecordedRanksCountBeforeNames) {
  const Assigned result = Assign({{5, 4}, {{}, 7}, {3, 3}});
  EXPECT_EQ(result.ranks, (Ranks{5, 7, 3}));
  EXPECT_EQ(result.diagnostics[0].Get(Diag::kRankConflict).first,
            "recorded rank 5, file name says 4");
  EXPECT_TRUE(result.diagnostics[1].empty());
  EXPECT_TRUE(result.diagnostics[2].empty());
}

TEST(RankNumbers, OneFileNeedsNoRank) {
  const Assigned result = Assign({{}});
  EXPECT_EQ(result.ranks, (Ranks{0}));
  EXPECT_TRUE(result.diagnostics[0].empty());
}

TEST(RankNumbers, FilesWithoutARankAreNumberedInOrder) {
  const Assigned result = Assign({{}, {}, {}});
  EXPECT_EQ(result.ranks, (Ranks{0, 1, 2}));
  EXPECT_EQ(result.diagnostics[2].Get(Diag::kUnnamedRank).first, "now rank 2");
}

TEST(RankNumbers, ADuplicateIsNotMistakenForAMissingRank) {
  const Assigned result = Assign({{0, {}}, {0, {}}, {{}, {}}, {7, {}}});
  EXPECT_EQ(result.ranks, (Ranks{0, 8, 9, 7}));
  EXPECT_EQ(result.diagnostics[1].Get(Diag::kDuplicateRank).first, "another rank 0, now rank 8");
  EXPECT_EQ(result.diagnostics[2].count(Diag::kUnnamedRank), 1U);
}

TEST(RankNumbers, OddNumbersStayDistinct) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(Assign({{kMax, {}}, {kMax, {}}, {{}, {}}}).ranks, (Ranks{kMax, 0, 1}));
  EXPECT_EQ(Assign({{-1, {}}, {-1, {}}}).ranks, (Ranks{-1, 0}));
}

TEST(RankNumbers, ADuplicateTakesNoNumberOfTheJob) {
  EXPECT_EQ(Assign({{0, {}, 8}, {0, {}, 8}, {1, {}, 8}}).ranks, (Ranks{0, 8, 1}));
  EXPECT_EQ(Assign({{{}, {}, 8}, {{}, {}, 8}}).ranks, (Ranks{0, 1}));
}

TEST(MissingRanks, AreNamed) {
  const auto missing = [](const Ranks& ranks, std::optional<int64_t> world_size) {
    const MissingRanks found = FindMissingRanks(ranks, world_size);
    return std::to_string(found.count) + ": " + found.text;
  };
  EXPECT_EQ(missing({0, 1}, 2), "0: ");
  EXPECT_EQ(missing({1, 0, 4, 7}, 8), "4: 4 of 8 ranks loaded; without 2..3, 5..6");
  EXPECT_EQ(missing({0, 1}, 128), "126: 2 of 128 ranks loaded; without 2..127");
  EXPECT_EQ(missing({3}, 4), "3: 1 of 4 ranks loaded; without 0..2");
  // Without the size of the job, or with one that cannot be, only gaps are seen.
  EXPECT_EQ(missing({4, 6}, {}), "1: 2 of 3 ranks loaded; without 5");
  EXPECT_EQ(missing({4, 6}, 2), "1: 2 of 3 ranks loaded; without 5");
  EXPECT_EQ(missing({5}, {}), "0: ");
  EXPECT_EQ(missing({}, 8), "0: ");
  EXPECT_EQ(missing({-1, 3}, 8), "0: ");
}

TEST(MissingRanks, ManyGapsAndLargeNumbers) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  Ranks odd;
  for (int64_t rank = 1; rank < 40; rank += 2) {
    odd.push_back(rank);
  }
  EXPECT_EQ(FindMissingRanks(odd, 40).text,
            "20 of 40 ranks loaded; without 0, 2, 4, 6, 8, 10, 12, 14, ...");
  EXPECT_EQ(FindMissingRanks(Ranks{0, kMax}, {}).count, static_cast<uint64_t>(kMax) - 1);
  EXPECT_EQ(FindMissingRanks(Ranks{0}, kMax).count, static_cast<uint64_t>(kMax) - 1);
}

TEST(RankFromFileNameTest, EverySpelling) {
  EXPECT_EQ(RankFromFileName("rank-34.Jul_15_10_52_41.1074.pt.trace.json"), 34);
  EXPECT_EQ(RankFromFileName("run/rank_7.json.gz"), 7);
  EXPECT_EQ(RankFromFileName("profile_trace_rank0.json"), 0);
  EXPECT_EQ(RankFromFileName("ranking_rank12"), 12);
  EXPECT_EQ(RankFromFileName("rank-99999999999999999999"), 1 << 30);
  EXPECT_EQ(RankFromFileName("rank5/trace.json"), std::nullopt);
  EXPECT_EQ(RankFromFileName("rank.json"), std::nullopt);
  EXPECT_EQ(RankFromFileName("rank--3.json"), std::nullopt);
  EXPECT_EQ(RankFromFileName(""), std::nullopt);
}

}  // namespace
}  // namespace borescope::internal
