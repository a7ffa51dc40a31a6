#include "borescope/recorder/program.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace borescope::internal {

namespace {

const InjectionPlan kPlan{
    .library = "/opt/libborescope_record.so", .folder = "/data/run.bsr", .options = "no-roctx"};

TEST(ProgramEnvironmentTest, WhatAPostmortemNeedsIsSetUnlessItIs) {
  Environment environment{{"TORCH_FR_BUFFER_SIZE", "7"}, {"TORCH_NCCL_DUMP_ON_TIMEOUT", "0"}};
  AddPostmortem("/run/x.postmortem", environment);
  EXPECT_EQ(environment["TORCH_FR_BUFFER_SIZE"], "7");
  EXPECT_FALSE(environment.contains("TORCH_NCCL_TRACE_BUFFER_SIZE"));
  EXPECT_EQ(environment["TORCH_NCCL_DUMP_ON_TIMEOUT"], "0");
  EXPECT_EQ(environment["TORCH_FR_DUMP_TEMP_FILE"], "/run/x.postmortem/trace_rank_");
  EXPECT_EQ(environment["TORCH_NCCL_DEBUG_INFO_TEMP_FILE"], "/run/x.postmortem/trace_rank_");
  EXPECT_EQ(environment["TORCHELASTIC_ERROR_FILE"], "/run/x.postmortem/error.json");
}

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

namespace fs = std::filesystem;

// A library with the Python package where an installation has it.
class PythonStartupTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string folder = (fs::temp_directory_path() / "borescope-startup-XXXXXX").string();
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    folder_ = folder;
    startup_ = folder_ / "python/borescope_record/startup";
    fs::create_directories(startup_);
    std::ofstream(startup_ / "sitecustomize.py") << "\n";
    library_ = (folder_ / "libborescope_record.so").string();
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path folder_, startup_;
  std::string library_;
  Environment environment_;
};

TEST_F(PythonStartupTest, NothingIsAddedForNothing) {
  EXPECT_TRUE(AddPython({}, library_, environment_).ok());
  EXPECT_TRUE(environment_.empty());
}

TEST_F(PythonStartupTest, TheFolderIsTheFirstOfThePath) {
  environment_["PYTHONPATH"] = "/mine";
  const PythonPlan plan{.ops = "profile", .ops_steps = 5, .functions = "calls"};
  ASSERT_TRUE(AddPython(plan, library_, environment_).ok());
  EXPECT_EQ(environment_["PYTHONPATH"], fs::canonical(startup_).string() + ":/mine");
  EXPECT_EQ(environment_["BORESCOPE_RECORD_PYTHON"], "ops=profile;steps=5;functions=calls");
  EXPECT_FALSE(environment_.contains("LD_LIBRARY_PATH"));
}

TEST_F(PythonStartupTest, RpdsLibraryIsFoundByItsName) {
  ASSERT_TRUE(AddPython({.rpd_compat = true}, library_, environment_).ok());
  EXPECT_EQ(environment_["LD_LIBRARY_PATH"], (folder_ / "rpd").string());
}

TEST_F(PythonStartupTest, WhatCannotBeIsRefused) {
  const Result<void> ops = AddPython({.ops = "all"}, library_, environment_);
  ASSERT_FALSE(ops.ok());
  EXPECT_NE(ops.error().Sentence().find("all"), std::string::npos);
  EXPECT_FALSE(AddPython({.functions = "lines"}, library_, environment_).ok());
  EXPECT_FALSE(AddPython({.shapes = true}, library_, environment_).ok());
  EXPECT_FALSE(AddPython({.ops = "nvtx", .ops_steps = 2}, library_, environment_).ok());
}

TEST_F(PythonStartupTest, AMissingPackageIsSaid) {
  fs::remove_all(folder_ / "python");
  const Result<void> added = AddPython({.ops = "nvtx"}, library_, environment_);
  ASSERT_FALSE(added.ok());
  EXPECT_EQ(added.error().code, ErrorCode::kMissingData);
}

TEST_F(PythonStartupTest, StepsOfOptimizersAreCountedWhereThePackageIs) {
  ASSERT_TRUE(AddPython({.counts_steps = true}, library_, environment_).ok());
  EXPECT_EQ(environment_["BORESCOPE_RECORD_PYTHON"], "count-steps");
  fs::remove_all(folder_ / "python");
  Environment without;
  EXPECT_TRUE(AddPython({.counts_steps = true}, library_, without).ok());
  EXPECT_TRUE(without.empty());
}

namespace fs = std::filesystem;

class RocmInstallationTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string folder = (fs::temp_directory_path() / "borescope-rocm-XXXXXX").string();
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    folder_ = folder;
    setenv("ROCM_PATH", folder.c_str(), 1);
  }
  void TearDown() override {
    unsetenv("ROCM_PATH");
    fs::remove_all(folder_);
  }

  fs::path folder_;
};

TEST_F(RocmInstallationTest, OneWithEitherLibraryIsAllRight) {
  fs::create_directories(folder_ / "lib");
  for (const char* const name : {"librocprofiler-sdk.so.0", "libroctracer64.so.4"}) {
    std::ofstream(folder_ / "lib" / name) << "";
    EXPECT_EQ(WhyNoRocm(), "");
    fs::remove(folder_ / "lib" / name);
  }
}

TEST_F(RocmInstallationTest, OneWithoutThemIsNamedWithItsVersion) {
  fs::create_directories(folder_ / ".info");
  fs::create_directories(folder_ / "lib");
  std::ofstream(folder_ / "lib" / "libamdhip64.so.6") << "";
  std::ofstream(folder_ / ".info" / "version") << "6.1.2-115\n";
  const std::string why = WhyNoRocm();
  EXPECT_NE(why.find("ROCm 6.1.2 in " + folder_.string()), std::string::npos) << why;
  EXPECT_NE(why.find("neither rocprofiler-sdk"), std::string::npos);
}

// A loop of links in place of the folder, for root as for anybody.
TEST_F(RocmInstallationTest, AFolderThatCannotBeListedIsNotCalledEmpty) {
  fs::create_directory_symlink("lib", folder_ / "lib");
  const std::string why = WhyNoRocm();
  EXPECT_NE(why.find("lib: Too many levels of symbolic links"), std::string::npos) << why;
  EXPECT_EQ(why.find("has neither"), std::string::npos) << why;
}

// Two processors and two GPUs, of which the tenth comes after the second, and folders of others.
TEST_F(RocmInstallationTest, GpusAreListedInOrderWithoutProcessors) {
  const auto add = [&](const char* name, const char* properties) {
    fs::create_directories(folder_ / name);
    std::ofstream(folder_ / name / "properties") << properties;
  };
  EXPECT_EQ(RocmGpus(folder_), "");
  add("0", "cpu_cores_count 64\nsimd_count 0\n");
  add("1", "cpu_cores_count 64\n");
  EXPECT_EQ(RocmGpus(folder_), "");
  add("10", "simd_count 416\nsimd_per_cu 4\nwave_front_size 64\ngfx_target_version 90010\n");
  add("2", "simd_count 1216\nsimd_per_cu 4\nwave_front_size 64\ngfx_target_version 90402\nx y\n");
  add("3", "");
  add("generation_id", "simd_count 9\n");
  EXPECT_EQ(RocmGpus(folder_), "2:90402:304:64,10:90010:104:64");
  EXPECT_EQ(RocmGpus(folder_ / "nowhere"), "");
}

TEST_F(RocmInstallationTest, NoneIsSaid) {
  fs::remove_all(folder_);
  EXPECT_NE(WhyNoRocm().find("there is no ROCm in " + folder_.string()), std::string::npos);
}

TEST(ProgramEndTest, AStatusAndASignal) {
  const Result<pid_t> exits = StartProgram({"sh", "-c", "exit 7"}, OwnEnvironment());
  ASSERT_TRUE(exits.ok()) << exits.error().Sentence();
  const ProgramEnd exited = WaitForProgram(*exits);
  EXPECT_EQ(exited.status, 7);
  EXPECT_EQ(exited.signal, 0);
  const Result<pid_t> dies = StartProgram({"sh", "-c", "kill -KILL $$"}, OwnEnvironment());
  ASSERT_TRUE(dies.ok()) << dies.error().Sentence();
  const ProgramEnd died = WaitForProgram(*dies);
  EXPECT_EQ(died.status, 0);
  EXPECT_EQ(died.signal, SIGKILL);
}

// A process that ignores SIGCHLD never learns how its children end.
TEST(ProgramEndTest, WhatTheSystemDoesNotSayIsNoSuccess) {
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  const Result<pid_t> program = StartProgram({"sh", "-c", "exit 7"}, OwnEnvironment());
  const ProgramEnd end = program.ok() ? WaitForProgram(*program) : ProgramEnd();
  std::signal(SIGCHLD, before);
  EXPECT_EQ(end.status, -1);
  EXPECT_EQ(end.signal, 0);
}

}  // namespace

}  // namespace borescope::internal
