#include <gtest/gtest.h>

#include "borescope/analysis/verbs/diff/run_sums.h"

namespace borescope::internal {
namespace {

std::string Python(std::string_view name) { return MatchedHostName(name, HostKind::kPython); }
std::string Op(std::string_view name) { return MatchedHostName(name, HostKind::kOp); }
std::string Annotation(std::string_view name) {
  return MatchedHostName(name, HostKind::kAnnotation);
}

TEST(MatchedNamesTest, LinesOfFunctionsGo) {
  EXPECT_EQ(Python("torch/profiler/profiler.py(821): step"), "torch/profiler/profiler.py: step");
  EXPECT_EQ(Python("a(b)/c.py(7): <lambda>"), "a(b)/c.py: <lambda>");
  EXPECT_EQ(Python("<string>(2): __init__"), "<string>: __init__");
  for (const char* name :
       {"nn.Module: Linear_3", "f(12)", "a(): b", "a(x1): b", "): ", "12): b", "", "<built-in>"}) {
    EXPECT_EQ(Python(name), name);
  }
  EXPECT_EQ(Op("model.py(821): forward"), "model.py(821): forward");
}

TEST(MatchedNamesTest, AddressesGo) {
  EXPECT_EQ(Python("<built-in method f of PyCapsule object at 0x7f3bd5e4f0c0>"),
            "<built-in method f of PyCapsule object at 0x*>");
  EXPECT_EQ(Op("0x7f3bd5e4f0c0 and 0xABCDEF"), "0x* and 0x*");
  EXPECT_EQ(Op("mask 0xff"), "mask 0xff");
  EXPECT_EQ(Op("ends in 0x"), "ends in 0x");
  EXPECT_EQ(MatchedWorkName("kernel_0x7f3bd5e4f0c0"), "kernel_0x*");
  EXPECT_EQ(MatchedWorkName("void k<int>(0x1, char(821): b)"), "void k<int>(0x1, char(821): b)");
}

TEST(MatchedNamesTest, StepsAreOneName) {
  EXPECT_EQ(Annotation("ProfilerStep#17"), "ProfilerStep#*");
  EXPECT_EQ(Annotation("execute_context_1(888_788544)_generation_0(0)"),
            "execute_context_*(*_*)_generation_*(*)");
  EXPECT_EQ(Annotation("step[DECODE bs=16]"), "step[DECODE bs=*]");
  EXPECT_EQ(Annotation("epoch 3"), "epoch 3");
}

}  // namespace
}  // namespace borescope::internal
