#include "borescope/analysis/core/selection/phases.h"

#include <gtest/gtest.h>

#include "borescope/testing/test_trace.h"

namespace borescope::internal {

namespace {

TEST(ModulesTest, TheClassIsTheNameWithoutTheNumber) {
  EXPECT_EQ(ModuleClassOf("nn.Module: Linear_12"), "Linear");
  EXPECT_EQ(ModuleClassOf("nn.Module: Conv_2_0"), "Conv_2");
  EXPECT_EQ(ModuleClassOf("nn.Module: ResNet50_3"), "ResNet50");
  EXPECT_EQ(ModuleClassOf("nn.Module: Linear"), "Linear");
  EXPECT_EQ(ModuleClassOf("nn.Module: Linear_"), "Linear_");
  EXPECT_EQ(ModuleClassOf("nn.Module: _7"), "_7");
  EXPECT_EQ(ModuleClassOf("nn.Module: 12"), "12");
}

TEST(ModulesTest, OtherFramesHaveNoClass) {
  for (const char* frame : {"", "nn.Module: ", "nn.Module", "train.py(12): main", "Linear_1"}) {
    EXPECT_EQ(ModuleClassOf(frame), "") << frame;
  }
}

// The names of all host rows with their phases.
std::string Phases(TestTrace& trace) {
  const RankView& view = trace.View();
  const std::vector<Phase> phases = HostPhases(view);
  std::string text;
  for (uint32_t row = 0; row < phases.size(); ++row) {
    text += std::string(view.trace.Name(HostId{row})) + " " + std::string(PhaseName(phases[row])) +
            "\n";
  }
  return text;
}

TEST(Phases, ForwardRepeatedInsideBackwardIsRecomputed) {
  TestTrace trace;
  trace.Op("aten::mm", {0, 50}, {.sequence = 3})
      .Op("CheckpointFunctionBackward", {100, 300}, {.forward_thread = 1, .sequence = 7})
      .Op("aten::empty", {105, 3})
      .Op("aten::linear", {110, 60}, {.sequence = 8})
      .Op("aten::addmm", {120, 40})
      .Runtime("cudaLaunchKernel", {130, 10}, 1)
      .Op("MmBackward0", {200, 90}, {.forward_thread = 1, .sequence = 8})
      .Op("aten::t", {210, 30});
  EXPECT_EQ(Phases(trace),
            "aten::mm forward\n"
            "CheckpointFunctionBackward backward\n"
            "aten::empty backward\n"
            "aten::linear recompute\n"
            "aten::addmm recompute\n"
            "cudaLaunchKernel recompute\n"
            "MmBackward0 backward\n"
            "aten::t backward\n");
}

TEST(Phases, AnOptimizerInsideBackwardStaysOne) {
  TestTrace trace;
  trace.Op("AccumulateGrad", {100, 300}, {.forward_thread = 1, .sequence = 7})
      .Annotation("Optimizer.step#SGD.step", {110, 200})
      .Op("aten::add_", {120, 40}, {.sequence = 9});
  EXPECT_EQ(Phases(trace),
            "AccumulateGrad backward\n"
            "Optimizer.step#SGD.step optimizer\n"
            "aten::add_ optimizer\n");
}

}  // namespace

}  // namespace borescope::internal
