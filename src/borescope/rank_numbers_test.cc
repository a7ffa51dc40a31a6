#include "borescope/rank_numbers.h"

#include <gtest/gtest.h>

#include <limits>

namespace borescope {
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

}  // namespace
}  // namespace borescope
