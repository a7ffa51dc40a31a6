#include "borescope/postmortem/findings.h"

#include <gtest/gtest.h>

#include <vector>

#include "borescope/postmortem/job_files.h"
#include "borescope/postmortem/program_line.h"

namespace borescope::internal {
namespace {

TEST(FindingsTest, RanksInWords) {
  EXPECT_EQ(RankList(std::vector<int32_t>{0, 1, 2, 3, 5, 6, 9}), "0..3,5,6,9");
  EXPECT_EQ(RankList(std::vector<int32_t>{}), "");
  EXPECT_EQ(RankWords(std::vector<int32_t>{9}), "rank 9");
  EXPECT_EQ(RankWords(std::vector<int32_t>{9, 14}), "ranks 9 and 14");
  EXPECT_EQ(RankWords(std::vector<int32_t>{0, 1, 2, 9, 14}), "ranks 0..2, 9 and 14");
  EXPECT_EQ(ClockTime(1'700'000'000'123'456'789), "22:13:20.123 UTC");
}

TEST(FindingsTest, TheVerdictIsInTheOrderOfCauses) {
  JobFinding hang;
  hang.order = CauseRank::kHang;
  hang.finding = "hang";
  JobFinding death;
  death.order = CauseRank::kDeath;
  death.finding = "death";
  const Table table = VerdictTable({hang, death, hang});
  const auto& names = std::get<StringValues>(table.Find("finding")->values);
  EXPECT_EQ(names[0], "death");
  EXPECT_EQ(names[1], "hang");
  EXPECT_EQ(table.rows(), 3U);
}

TEST(JobFilesTest, RanksOfNames) {
  EXPECT_EQ(RankOfName("a/b7/_dump_9"), 9);
  EXPECT_EQ(RankOfName("nccl_trace_rank_12"), 12);
  EXPECT_EQ(RankOfName("trace_3.pickle.gz"), 3);
  EXPECT_EQ(RankOfName("trace_3.json"), 3);
  EXPECT_EQ(RankOfName("snapshot_rank3_20261128.pickle"), 3);
  EXPECT_EQ(RankOfName("Rank-4.pkl.zst"), 4);
  EXPECT_EQ(RankOfName("frankly.pickle"), std::nullopt);
  EXPECT_EQ(RankOfName("trace_99999999999"), std::nullopt);
}

TEST(JobFilesTest, RanksOfNamesOfSnapshots) {
  EXPECT_EQ(RankOfSnapshotName("a/snapshot_3.pickle.gz"), 3);
  EXPECT_EQ(RankOfSnapshotName("7.pickle"), 7);
  EXPECT_EQ(RankOfSnapshotName("memrank12.pickle"), 12);
  EXPECT_EQ(RankOfSnapshotName("leak2.pickle"), std::nullopt);
  EXPECT_EQ(RankOfSnapshotName("snapshot_20261128.pickle"), std::nullopt);
}

TEST(ProgramLineTest, TheInnermostFrameOfTheUser) {
  const std::vector<ProgramFrame> frames = {
      {"/opt/site-packages/torch/distributed/c10d.py", "all_reduce", 7},
      {"/opt/site-packages/megatron/core.py", "reduce", 5},
      {"/app/wrap.py", "sync", 3},
      {"/app/train.py", "step", 2}};
  EXPECT_EQ(LineFinder::Make("")->LineOf(frames), "/app/wrap.py:3 sync");
  EXPECT_EQ(LineFinder::Make("wrap")->LineOf(frames), "/app/train.py:2 step");
  EXPECT_EQ(LineFinder::Make("/app/")->LineOf(frames),
            "/opt/site-packages/megatron/core.py:5 reduce");
  EXPECT_EQ(LineFinder::Make("")->LineOf({frames[0]}), "");
  // What is left out never is the line, also where nothing of the user is left.
  EXPECT_EQ(LineFinder::Make("wrap")->LineOf({frames[2], frames[1]}),
            "/opt/site-packages/megatron/core.py:5 reduce");
  EXPECT_EQ(LineFinder::Make("wrap")->LineOf({frames[2]}), "");
  EXPECT_FALSE(LineFinder::Make("(").ok());
}

TEST(Findings, LongListsOfRanksAreCutForPeople) {
  std::vector<int32_t> ranks;
  for (int32_t rank = 0; rank < 3000; rank += 3) ranks.push_back(rank);
  EXPECT_EQ(RankWords(ranks), "ranks 0, 3, 6, 9, 12, 15, 18, 21, 24, 27 and others, 1000 in all");
  EXPECT_EQ(ShownRanks(RankList(ranks)), "0,3,6,9,12,15,18,21,24,27 and others, 1000 in all");
  ranks.resize(10);
  EXPECT_EQ(ShownRanks(RankList(ranks)), RankList(ranks));
  EXPECT_EQ(RankWords(ranks), "ranks 0, 3, 6, 9, 12, 15, 18, 21, 24 and 27");
}

}  // namespace
}  // namespace borescope::internal
