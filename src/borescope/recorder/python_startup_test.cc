#include "borescope/recorder/python_startup.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace borescope::internal {
namespace {

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

}  // namespace
}  // namespace borescope::internal
