#include "borescope/analysis/core/selection/modules.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace borescope::internal
