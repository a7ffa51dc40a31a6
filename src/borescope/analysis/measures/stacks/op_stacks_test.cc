#include "borescope/analysis/measures/stacks/op_stacks.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "borescope/testing/test_trace.h"

namespace borescope::internal {

namespace {

TEST(CallersTest, NamesOfCallsAreWholeWords) {
  EXPECT_TRUE(IsNameOf("write", "write"));
  EXPECT_TRUE(IsNameOf("__libc_write", "write"));
  EXPECT_TRUE(IsNameOf("fopen@@GLIBC_2", "fopen"));
  EXPECT_TRUE(IsNameOf("cudaError cudaMalloc<double>(double**, unsigned long)", "cudaMalloc"));
  EXPECT_FALSE(IsNameOf("rewrite", "write"));
  EXPECT_FALSE(IsNameOf("writev", "write"));
  EXPECT_FALSE(IsNameOf("write_all", "write"));
  EXPECT_FALSE(IsNameOf("run(write)", "write"));  // a parameter
  EXPECT_FALSE(IsNameOf("run", ""));
}

std::string CallerIn(const std::vector<std::string>& stack) {
  TestTrace trace;
  trace.Runtime("cudaMalloc", {0, 10}).CalledFrom(stack);
  const RankView& view = trace.View();
  const StringId caller = CallerOf(view.trace, HostId{0}, uint32_t{1});
  return caller.valid() ? std::string(view.trace.Text(caller)) : "-";
}

// Frames that are not the program's own are skipped.
TEST(CallersTest, TheInnermostFunctionOfTheProgram) {
  EXPECT_EQ(CallerIn({"_start", "main", "solve", "cudaMalloc", "[libcuda.so]"}), "solve");
  EXPECT_EQ(CallerIn({"main", "std::vector<int>::reserve(int)", "cudaMalloc"}), "main");
  EXPECT_EQ(CallerIn({"main", "void std::sort<int*>(int*)", "__impl", "[a.so]"}), "main");
  EXPECT_EQ(CallerIn({"main", "(anonymous namespace)::grow(std::string)"}),
            "(anonymous namespace)::grow(std::string)");
  EXPECT_EQ(CallerIn({"main", "run<std::less<int>>(int)"}), "run<std::less<int>>(int)");
  EXPECT_EQ(CallerIn({"_start", "[a.out]"}), "-");
  EXPECT_EQ(CallerIn({}), "-");
}

}  // namespace

}  // namespace borescope::internal
