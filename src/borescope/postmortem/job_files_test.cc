#include "borescope/postmortem/job_files.h"

#include <gtest/gtest.h>

namespace borescope::internal {
namespace {

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
