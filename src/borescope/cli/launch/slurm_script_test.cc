#include "borescope/cli/launch/slurm_script.h"

#include <gtest/gtest.h>

namespace borescope::cli {

namespace {

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

}  // namespace

}  // namespace borescope::cli
