#include "borescope/recorder/program_environment.h"

#include <gtest/gtest.h>

namespace borescope::internal {
namespace {

const InjectionPlan kPlan{
    .library = "/opt/libborescope_record.so", .folder = "/data/run.bsr", .options = "no-roctx"};

TEST(ProgramEnvironmentTest, TheLibraryIsFoundByEveryLoader) {
  Environment environment{{"LD_PRELOAD", "libother.so"}};
  ASSERT_TRUE(AddInjection(kPlan, environment).ok());
  EXPECT_EQ(environment["LD_PRELOAD"], kPlan.library + ":libother.so");
  EXPECT_EQ(environment["NVTX_INJECTION64_PATH"], kPlan.library);
  EXPECT_EQ(environment["CUDA_INJECTION64_PATH"], kPlan.library);
  EXPECT_EQ(environment["BORESCOPE_RECORD"], kPlan.folder);
  EXPECT_EQ(environment["BORESCOPE_RECORD_OPTIONS"], "no-roctx");
}

TEST(ProgramEnvironmentTest, ToolsOfRocprofilerEndWithAColon) {
  InjectionPlan plan = kPlan;
  plan.with_rocm = true;
  Environment environment;
  ASSERT_TRUE(AddInjection(plan, environment).ok());
  EXPECT_EQ(environment["ROCP_TOOL_LIBRARIES"], "/opt/libborescope_record_rocm.so:");
  ASSERT_TRUE(AddInjection(plan, environment).ok());
  EXPECT_EQ(environment["ROCP_TOOL_LIBRARIES"], "/opt/libborescope_record_rocm.so:");
  environment["ROCP_TOOL_LIBRARIES"] = "/opt/other.so";
  ASSERT_TRUE(AddInjection(plan, environment).ok());
  EXPECT_EQ(environment["ROCP_TOOL_LIBRARIES"], "/opt/libborescope_record_rocm.so:/opt/other.so:");
}

TEST(ProgramEnvironmentTest, AddedTwiceItIsThereOnce) {
  Environment environment;
  ASSERT_TRUE(AddInjection(kPlan, environment).ok());
  ASSERT_TRUE(AddInjection(kPlan, environment).ok());
  EXPECT_EQ(environment["LD_PRELOAD"], kPlan.library);
}

TEST(ProgramEnvironmentTest, AnotherToolIsNamedAndKept) {
  const Environment before{{"CUDA_INJECTION64_PATH", "/opt/other/libtool.so"}};
  Environment environment = before;
  const Result<void> added = AddInjection(kPlan, environment);
  ASSERT_FALSE(added.ok());
  EXPECT_NE(added.error().Sentence().find("/opt/other/libtool.so"), std::string::npos);
  EXPECT_NE(added.error().Sentence().find("`force`"), std::string::npos);
  InjectionPlan forced = kPlan;
  forced.replaces_others = true;
  EXPECT_TRUE(AddInjection(forced, environment).ok());
  InjectionPlan without = kPlan;
  without.with_cuda = false;
  environment = before;
  EXPECT_TRUE(AddInjection(without, environment).ok());
  EXPECT_EQ(environment["CUDA_INJECTION64_PATH"], "/opt/other/libtool.so");
}

TEST(ProgramEnvironmentTest, APathThatCannotBePreloadedIsRefused) {
  InjectionPlan plan = kPlan;
  plan.library = "/my libraries/libborescope_record.so";
  Environment environment;
  EXPECT_FALSE(AddInjection(plan, environment).ok());
}

}  // namespace
}  // namespace borescope::internal
