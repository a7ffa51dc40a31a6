#include "borescope/cli/launch/launch_job.h"

#include <glob.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace borescope::cli {

namespace {

namespace fs = std::filesystem;

std::vector<std::string> Matches(const std::string& pattern) {
  glob_t found{};
  const int status = glob(pattern.c_str(), 0, nullptr, &found);
  std::vector<std::string> paths;
  for (size_t i = 0; status == 0 && i < found.gl_pathc; ++i) {
    paths.emplace_back(found.gl_pathv[i]);
  }
  globfree(&found);
  return paths;
}

TEST(LaunchJob, PatternMatchesThePartsOfItsDivisionAlone) {
  const fs::path root = fs::path(testing::TempDir()) / "launch_job_test";
  for (const char* const name : {"parts", "a*b", "[a-c]?", R"(a\*)", "]", "{x,y}", "it's"}) {
    LaunchJob job;
    job.folder = (root / name).string();
    job.shards = 64;
    fs::create_directories(job.folder);
    for (const char* const part : {"00003-of-00064.part", "00003-of-00063.part", "answer.txt"}) {
      std::ofstream(job.folder + "/" + part) << "part";
    }
    EXPECT_EQ(Matches(job.PartsPattern()),
              std::vector<std::string>{job.folder + "/00003-of-00064.part"});
  }
  fs::remove_all(root);
}

TEST(ShellWords, WhatIsSpecialNowhereStandsAsItIs) {
  EXPECT_EQ(ShellWord("run/rank-0.json.gz"), "run/rank-0.json.gz");
  EXPECT_EQ(ShellWord("--step=3,5"), "--step=3,5");
  EXPECT_EQ(ShellWord("s3://bucket@2/50%"), "s3://bucket@2/50%");
}

TEST(ShellWords, AllElseIsQuoted) {
  EXPECT_EQ(ShellWord(""), "''");
  EXPECT_EQ(ShellWord("a b"), "'a b'");
  EXPECT_EQ(ShellWord("$(id) `id`"), "'$(id) `id`'");
  EXPECT_EQ(ShellWord("~"), "'~'");
  EXPECT_EQ(ShellWord("é"), "'é'");
}

TEST(ShellWords, QuotesStandBetweenQuotedPieces) {
  EXPECT_EQ(ShellWord("it's"), R"('it'\''s')");
  EXPECT_EQ(SingleQuoted("plain"), "'plain'");
}

TEST(ShellWords, NoWordAssigns) {
  EXPECT_EQ(ShellWord("PATH=."), "'PATH=.'");
  EXPECT_EQ(ShellWord("=ls"), "'=ls'");
}

TEST(YamlText, QuotesAndBackslashesAreEscaped) {
  EXPECT_EQ(YamlText("no"), R"("no")");
  EXPECT_EQ(YamlText(R"(a "b" \n: # é)"), R"("a \"b\" \\n: # é")");
}

TEST(YamlText, KubernetesPutsNoVariablesIntoArguments) {
  EXPECT_EQ(ContainerArgument("$(HOME) $$ $x"), R"("$$(HOME) $$$$ $$x")");
}

}  // namespace

}  // namespace borescope::cli
