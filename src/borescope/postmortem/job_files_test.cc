#include "borescope/postmortem/job_files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "borescope/base/io/temporary_folder.h"

namespace borescope::internal {
namespace {

namespace fs = std::filesystem;

// Links that lead out of the folder or to nothing are not followed, which is kept for the answer;
// a folder whose names cannot be read is an error.
TEST(JobFilesTest, WhatIsNotLookedAtIsKept) {
  const TemporaryFolder outside = TemporaryFolder::Make().value();
  const TemporaryFolder job = TemporaryFolder::Make().value();
  const fs::path root = fs::path(job.path()) / "job";
  fs::create_directory(root);
  std::ofstream(fs::path(outside.path()) / "trace_1") << "{}";
  std::ofstream(root / "rank0.log") << "x";
  fs::create_symlink("rank0.log", root / "same.log");
  const std::vector<std::string> paths = {root.string()};
  UnsearchedPlaces left_out;
  EXPECT_EQ(FindJobFiles(paths, 1, &left_out)->size(), 2U);
  EXPECT_EQ(left_out.link, "");
  fs::create_symlink(fs::path(outside.path()) / "trace_1", root / "trace_1");
  EXPECT_EQ(FindJobFiles(paths, 1, &left_out)->size(), 2U);
  EXPECT_EQ(left_out.link, (root / "trace_1").string());
  EXPECT_EQ(left_out.too_deep, "");
  fs::create_symlink("removed", root / "first");
  EXPECT_EQ(FindJobFiles(paths, 1, &left_out)->size(), 2U);
  EXPECT_EQ(left_out.link, (root / "first").string());
  fs::create_symlink("loop", root / "loop");
  const Result<std::vector<JobFile>> looped = FindJobFiles(paths, 1);
  ASSERT_FALSE(looped.ok());
  EXPECT_EQ(looped.error().file, (root / "loop").string());
}

TEST(JobFilesTest, WhatIsNamedLikeADump) {
  for (const char* const name : {"trace_0", "a/_dump_15", "nccl_trace_rank_3", "TRACE_2.pickle.gz",
                                 "dump_rank2_0.pickle", "trace_7.json"}) {
    EXPECT_TRUE(IsDumpName(name)) << name;
  }
  // Of the folder nothing follows; these are texts, or leave no rank.
  for (const char* const name : {"trace", "traces_1/rank0", "rank0.json", "checkpoint_100",
                                 "core_dump_12", "stack_trace_3", "trace_3.log", "dump3.txt"}) {
    EXPECT_FALSE(IsDumpName(name)) << name;
  }
}

}  // namespace
}  // namespace borescope::internal
