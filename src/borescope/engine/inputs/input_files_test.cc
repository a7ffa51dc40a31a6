#include "borescope/engine/inputs/input_files.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include "borescope/ingest/recording/recording_test_log.h"

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

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

class RecordingGroups : public testing::Test {
 protected:
  RecordingGroups() {
    std::string name = (fs::temp_directory_path() / "borescope_groups_XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~RecordingGroups() override { fs::remove_all(folder_); }

  std::string Path(const std::string& name) const { return (folder_ / name).string(); }

  // Logs start in the order of their process numbers.
  void AddLog(const std::string& name, uint32_t pid, int32_t rank, uint32_t flags = 0) const {
    recording::LogHeader header = TestLogHeader(rank, pid);
    header.mono_ns = pid;
    header.flags = flags;
    std::ofstream(folder_ / name, std::ios::binary) << TestLog(header, {});
  }

  // "first: all of them" for each input, names of files.
  static Names Expand(const Names& inputs) {
    Names groups;
    const Result<std::vector<InputFile>> files = ExpandInputs(inputs);
    for (const InputFile& file : *files) {
      std::string text = fs::path(file.path).filename().string() + ":";
      for (const std::string& log : file.logs) {
        text += " " + fs::path(log).filename().string();
      }
      groups.push_back(text);
    }
    return groups;
  }

  fs::path folder_;
};

TEST_F(RecordingGroups, LogsOfARankAreOneInput) {
  AddLog("a.bsl", 12, 0);
  AddLog("b.bsl", 11, 0);
  AddLog("c.bsl", 13, 1);
  AddLog("launcher.bsl", 1, -1, recording::kIsLauncher);
  std::ofstream(folder_ / "control") << "BSCT";
  std::ofstream(folder_ / "run.rpd") << "x";
  const Names both = {"b.bsl: b.bsl a.bsl launcher.bsl", "c.bsl: c.bsl"};
  EXPECT_EQ(Expand({folder_.string()}), both);
  EXPECT_EQ(Expand({Path("*.bsl")}), both);
  EXPECT_EQ(Expand({Path("a.bsl"), folder_.string()}), both);
}

// What is damaged is reported by the loader, and not left out with what else lies there.
TEST_F(RecordingGroups, ADamagedLogIsAnInputOfItsOwn) {
  AddLog("a.bsl", 12, 0);
  std::ofstream(folder_ / "cut.bsl") << "BSLG";
  std::ofstream(folder_ / "empty.bsl") << "";
  std::ofstream(folder_ / "notes.txt") << "x";
  EXPECT_EQ(Expand({folder_.string()}), (Names{"a.bsl: a.bsl", "cut.bsl:", "empty.bsl:"}));
}

TEST_F(RecordingGroups, OneLogIsThatProcessAlone) {
  AddLog("a.bsl", 12, 0);
  AddLog("b.bsl", 11, 0);
  EXPECT_EQ(Expand({Path("a.bsl")}), Names{"a.bsl: a.bsl"});
}

TEST_F(RecordingGroups, TheLauncherIsOfTheProcessesWithoutARank) {
  AddLog("a.bsl", 12, -1);
  AddLog("c.bsl", 13, 1);
  AddLog("launcher.bsl", 1, -1, recording::kIsLauncher);
  EXPECT_EQ(Expand({folder_.string()}), (Names{"a.bsl: a.bsl launcher.bsl", "c.bsl: c.bsl"}));
}

TEST_F(RecordingGroups, ARunInWhichNothingWasRecordedIsSaid) {
  const auto expect_nothing = [](const Names& inputs, const fs::path& run) {
    const Result<std::vector<InputFile>> files = ExpandInputs(inputs);
    ASSERT_FALSE(files.ok());
    EXPECT_EQ(files.error().code, ErrorCode::kMissingData);
    EXPECT_EQ(files.error().file, run.string());
  };
  const auto add_page = [&] { std::ofstream(folder_ / "control") << "BSCT and more"; };
  add_page();
  expect_nothing({folder_.string()}, folder_);
  expect_nothing({Path("control")}, folder_);
  // Also beside a run in which there is something.
  const fs::path other = folder_ / "other";
  fs::create_directory(other);
  std::ofstream(other / "rank0.json") << "{}";
  expect_nothing({other.string(), folder_.string()}, folder_);
  // What somebody put beside the page is read; another file of that name is a file like all.
  std::ofstream(folder_ / "trace.json") << "{}";
  EXPECT_EQ(Expand({folder_.string()}), Names{"trace.json:"});
  std::ofstream(folder_ / "control") << "{}";
  EXPECT_EQ(Expand({folder_.string()}), (Names{"control:", "trace.json:"}));
}

TEST_F(RecordingGroups, FilesThatAreNoLogsStayAsTheyAre) {
  std::ofstream(folder_ / "rank0.json") << "{}";
  std::ofstream(folder_ / "rank1.json") << "{}";
  EXPECT_EQ(Expand({folder_.string()}), (Names{"rank0.json:", "rank1.json:"}));
}

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

class RunInputs : public testing::Test {
 protected:
  RunInputs() {
    std::string name = (fs::temp_directory_path() / "borescope_inputs_XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~RunInputs() override { fs::remove_all(folder_); }

  void Touch(const std::string& name) const { std::ofstream(folder_ / name) << "x"; }
  std::string Path(const std::string& name) const { return (folder_ / name).string(); }

  // File names of the expansion, or the message of its error.
  static Names Expand(const Names& inputs) {
    const auto files = ExpandInputs(inputs);
    if (!files.ok()) {
      return {files.error().Sentence()};
    }
    Names names;
    for (const InputFile& file : *files) {
      names.push_back(fs::path(file.path).filename().string());
    }
    return names;
  }

  fs::path folder_;
};

TEST_F(RunInputs, ADirectoryIsItsFilesInNaturalOrder) {
  for (const char* name : {"rank10.json", "rank2.json", "rank1.json", ".hidden"}) {
    Touch(name);
  }
  fs::create_directory(folder_ / "deeper");
  Touch("deeper/rank3.json");
  EXPECT_EQ(Expand({folder_.string()}), (Names{"rank1.json", "rank2.json", "rank10.json"}));
  EXPECT_TRUE(ExpandInputs(Names{folder_.string()})->front().from_directory);
  EXPECT_EQ(ExpandInputs(Names{folder_.string()})->front().bytes, 1U);
}

TEST_F(RunInputs, GlobsAreExpandedUnlessAFileHasThatName) {
  for (const char* name : {"a1.json", "a2.json", "b.json", "a[12].json"}) {
    Touch(name);
  }
  EXPECT_EQ(Expand({Path("a*.json")}), (Names{"a1.json", "a2.json", "a[12].json"}));
  EXPECT_EQ(Expand({Path("a[12].json")}), (Names{"a[12].json"}));
  EXPECT_EQ(Expand({Path("c*")}), (Names{Path("c*") + ": no file matches this pattern"}));
}

TEST_F(RunInputs, AFileNamedTwiceCountsOnce) {
  Touch("a.json");
  EXPECT_EQ(Expand({Path("a.json"), Path("./a.json"), folder_.string()}), (Names{"a.json"}));
}

TEST_F(RunInputs, AMissingFileIsLeftToTheLoader) {
  EXPECT_EQ(Expand({Path("absent.json"), "-"}), (Names{"absent.json", "-"}));
}

TEST_F(RunInputs, AnEmptyDirectoryIsAnError) {
  EXPECT_TRUE(Expand({folder_.string()})[0].ends_with(
      ": no file in this directory; give a directory of trace files, one a rank"));
}

// Subfolders are reported, as nothing else says that they are not searched.
TEST_F(RunInputs, ADirectoryOfDirectoriesNamesTheRemedy) {
  fs::create_directory(folder_ / "rank0");
  fs::create_directory(folder_ / ".hidden");
  EXPECT_EQ(Expand({folder_.string() + "/"})[0],
            folder_.string() +
                "/: no file in this directory, and its subfolder is not searched; "
                "give it as " +
                folder_.string() + "/*");
  fs::create_directory(folder_ / "rank1");
  EXPECT_EQ(Expand({folder_.string()})[0],
            folder_.string() +
                ": no file in this directory, and its 2 subfolders are not searched; "
                "if they are one run, give them as " +
                folder_.string() + "/*");
}

TEST_F(RunInputs, AGlobThatMatchesFoldersAloneIsTheirFiles) {
  for (const char* name : {"rank10", "rank2", "empty"}) {
    fs::create_directory(folder_ / name);
  }
  Touch("rank2/trace2.json");
  Touch("rank10/trace10.json");
  EXPECT_EQ(Expand({Path("rank*")}), (Names{"trace2.json", "trace10.json"}));
  EXPECT_TRUE(ExpandInputs(Names{Path("rank*")})->front().from_directory);
  EXPECT_EQ(Expand({Path("*")}), (Names{"trace2.json", "trace10.json"}));
  EXPECT_FALSE(ExpandInputs(Names{Path("em*")}).ok());
  Touch("rank.json");
  EXPECT_EQ(Expand({Path("rank*")}), (Names{"rank.json"}));
}

// They are ranks of the run that cannot be read, which the loader reports.
TEST_F(RunInputs, WhatLeadsNowhereIsNotLeftOut) {
  Touch("rank0.json");
  fs::create_symlink("rank1.json", folder_ / "rank1.json");
  fs::create_symlink("removed.json", folder_ / "rank2.json");
  const Names all = {"rank0.json", "rank1.json", "rank2.json"};
  EXPECT_EQ(Expand({folder_.string()}), all);
  EXPECT_EQ(Expand({Path("rank*.json")}), all);
  EXPECT_EQ(Expand({Path("rank1.json")}), Names{"rank1.json"});
}

TEST(NaturalOrder, ComparesNumbersByValue) {
  EXPECT_TRUE(NaturalLess("rank2", "rank10"));
  EXPECT_FALSE(NaturalLess("rank10", "rank2"));
  EXPECT_TRUE(NaturalLess("a", "b"));
  EXPECT_TRUE(NaturalLess("a", "a1"));
  EXPECT_TRUE(NaturalLess("x1y2", "x1y10"));
  EXPECT_TRUE(NaturalLess("x01", "x1") != NaturalLess("x1", "x01"));
  EXPECT_FALSE(NaturalLess("same", "same"));
}

TEST_F(RunInputs, ARunIsCalledAfterItsFileOrFolder) {
  EXPECT_EQ(NameOfRun(std::vector<InputFile>{{"a/rank-0.json.gz", false, 1}}), "rank-0.json.gz");
  EXPECT_EQ(NameOfRun(std::vector<InputFile>{{"a/x.json", false, 1}, {"b/y.json", false, 1}}),
            "x.json and 1 more");
  EXPECT_EQ(NameOfRun(std::vector<InputFile>{{"a/run/x.json", true, 1}, {"a/run/y.json", true, 1}}),
            "run");
  EXPECT_EQ(NameOfRun(std::vector<InputFile>{{"a/run/x.json", true, 1}, {"b/run/y.json", true, 1}}),
            "x.json and 1 more");
  EXPECT_EQ(NameOfRun(std::vector<InputFile>{
                {"a/rank-10.json", false, 1}, {"c/rank-2.json", false, 1}, {"b/rank-9.json"}}),
            "rank-2.json and 2 more");
  EXPECT_EQ(NameOfRun(std::vector<InputFile>{{"-", false, 0}}), "standard input");
  EXPECT_EQ(NameOfRun({}), "standard input");
}

}  // namespace

}  // namespace borescope::internal
