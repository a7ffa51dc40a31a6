#include "borescope/packs/inductor/bench_output.h"

#include <gtest/gtest.h>

namespace borescope::internal {
namespace {

TEST(BenchOutput, TheLineOfAFileOfItsOwn) {
  const std::vector<BenchLine> lines = ParseBenchOutput("0.123ms    0.456GB    3707.32GB/s\n");
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].ms, 0.123);
  EXPECT_EQ(lines[0].gigabytes, 0.456);
  EXPECT_EQ(lines[0].gigabytes_per_second, 3707.32);
  EXPECT_FALSE(lines[0].registers.has_value());
  EXPECT_EQ(lines[0].config, "");
}

TEST(BenchOutput, LinesByConfigBelowTheirKernel) {
  const std::vector<BenchLine> lines = ParseBenchOutput(
      "mixnet_l             POI cabcdefghi\n"
      "  0.010ms  \t0.004 GB \t  400.00GB/s   32 regs    0 spills     1024 shared mem @ XBLOCK: "
      "1024, num_warps: 4\r\n"
      "  \x1b[31m0.020ms  \t0.004 GB \t  200.00GB/s  128 regs   16 spills        0 shared mem @ "
      "XBLOCK: 128\x1b[0m");
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].registers, 32);
  EXPECT_EQ(lines[0].spills, 0);
  EXPECT_EQ(lines[0].shared_bytes, 1024);
  EXPECT_EQ(lines[0].config, "XBLOCK: 1024, num_warps: 4");
  EXPECT_EQ(lines[1].ms, 0.02);
  EXPECT_EQ(lines[1].gigabytes_per_second, 200);
  EXPECT_EQ(lines[1].spills, 16);
  EXPECT_EQ(lines[1].config, "XBLOCK: 128");
}

TEST(BenchOutput, AConfigThatWasNotTimed) {
  const std::vector<BenchLine> lines =
      ParseBenchOutput("infms  0.004000 GB  255 regs  80 spills  0 shared mem @ XBLOCK: 4096");
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_FALSE(lines[0].ms.has_value());
  EXPECT_EQ(lines[0].gigabytes, 0.004);
  EXPECT_EQ(lines[0].spills, 80);
  EXPECT_EQ(lines[0].config, "XBLOCK: 4096");
}

// With -k, a name, a category and a key come first.
TEST(BenchOutput, TheLineOfAKernelOfAModule) {
  const std::vector<BenchLine> lines =
      ParseBenchOutput("resnet               RED cxyz012345 0.033ms    \t0.050 GB \t1515.15GB/s");
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].ms, 0.033);
  EXPECT_EQ(lines[0].gigabytes, 0.05);
}

TEST(BenchOutput, OtherTextIsNone) {
  EXPECT_TRUE(ParseBenchOutput("").empty());
  EXPECT_TRUE(ParseBenchOutput("Compiling items\n3 dreams\nms\n1.2.3ms\n0.1msec\n").empty());
  EXPECT_TRUE(ParseBenchOutput("\x1b[").empty());
  EXPECT_TRUE(ParseBenchOutput("99999999999999999999999ms").empty());
}

TEST(BenchOutput, TheKernelIsTheFunctionBelowItsDecorators) {
  EXPECT_EQ(TritonKernelIn("import triton\ndef other(): pass\n@triton_heuristics.pointwise(\n)\n"
                           "@triton.jit\ndef triton_poi_fused_add_0(in_ptr0, xnumel):\n    pass\n"),
            "triton_poi_fused_add_0");
  EXPECT_EQ(TritonKernelIn("def call(args): pass"), "");
  EXPECT_EQ(TritonKernelIn("@triton.jit"), "");
  EXPECT_EQ(TritonKernelIn("@triton.jit\ndef "), "");
}

}  // namespace
}  // namespace borescope::internal
