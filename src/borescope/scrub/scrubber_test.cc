#include "borescope/scrub/scrubber.h"

#include <gtest/gtest.h>

#include "borescope/index/names/kernel_class.h"

namespace borescope::internal {

namespace {

ScrubRules Rules(bool names, uint64_t key = 1) { return {{key, 2}, names}; }

std::string Clean(std::string_view text, TextUse use, bool names = false) {
  Scrubber scrubber(Rules(names));
  return std::string(scrubber.Clean(text, use));
}

TEST(KeyedHash, IsSipHash) {
  // The first vector of the authors' reference.
  const HashKey key{0x0706050403020100, 0x0f0e0d0c0b0a0908};
  EXPECT_EQ(KeyedHash(key, ""), 0x726fdb47dd0e0e31U);
  EXPECT_EQ(KeyedHash(key, std::string_view("\0", 1)), 0x74f839c593dc67fdU);
}

TEST(Scrubber, WhatIsReplacedStaysDistinct) {
  Scrubber scrubber(Rules(false));
  const std::string one(scrubber.Clean("/data/alice/a.py(1): f", TextUse::kFrame));
  const std::string two(scrubber.Clean("/data/bob/a.py(1): f", TextUse::kFrame));
  EXPECT_NE(one, two);
  EXPECT_TRUE(one.ends_with("/a.py(1): f"));
  EXPECT_EQ(scrubber.Clean("/data/alice/a.py(1): f", TextUse::kFrame), one);
  EXPECT_EQ(Clean(one, TextUse::kFrame), one);  // cleaning again changes nothing
  EXPECT_NE(Scrubber(Rules(false, 7)).Clean("/data/bob/a.py", TextUse::kFrame), two);
}

TEST(Scrubber, ByUse) {
  EXPECT_EQ(Clean("thread 12 (python)", TextUse::kThread), "thread 12 (python)");
  EXPECT_TRUE(Clean("thread 12 (node7)", TextUse::kThread).starts_with("thread 12 (name-"));
  EXPECT_TRUE(Clean("alice", TextUse::kThread).starts_with("thread-"));
  EXPECT_EQ(Clean("[1, 2]", TextUse::kValue), "[1, 2]");
  EXPECT_EQ(Clean("cuda:0", TextUse::kValue), "cuda:0");
  EXPECT_TRUE(Clean("none of this", TextUse::kValue).starts_with("text-"));
  EXPECT_TRUE(Clean("10.1.2.3", TextUse::kValue).starts_with("text-"));
  EXPECT_EQ(Clean("0x7f00", TextUse::kPlace), "0x7f00");
  EXPECT_EQ(Clean("NVIDIA H100 80GB HBM3", TextUse::kWord), "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(Clean("/usr/lib/libcuda.so.1", TextUse::kModule), "libcuda.so.1");
}

TEST(Scrubber, NewNamesKeepWhatAnalysesLookAt) {
  Scrubber scrubber(Rules(true));
  for (const KernelRule& rule : KernelRules()) {
    const std::string name(scrubber.Clean(rule.example, TextUse::kKernel));
    EXPECT_EQ(ClassifyKernel(name), ClassifyKernel(rule.example)) << rule.example << " " << name;
  }
  EXPECT_EQ(scrubber.Clean("ProfilerStep#12", TextUse::kAnnotation), "ProfilerStep#12");
  EXPECT_EQ(scrubber.Clean("aten::mm", TextUse::kOperator), "aten::mm");
  const std::string name(scrubber.Clean("my_alice_gemm_kernel", TextUse::kKernel));
  EXPECT_EQ(name.find("alice"), std::string::npos);
  EXPECT_NE(name.find("gemm_kernel"), std::string::npos);
  EXPECT_EQ(scrubber.names().at(name), "my_alice_gemm_kernel");
}

TEST(Scrubber, DigitsDoNotSpellAName) {
  EXPECT_EQ(Clean("a1l2i3c4e5", TextUse::kKernel, true).find("1l2i3c4"), std::string::npos);
}

}  // namespace

}  // namespace borescope::internal
