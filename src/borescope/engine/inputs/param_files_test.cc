#include "borescope/engine/inputs/param_files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/catalog/catalog.h"

namespace borescope::internal {
namespace {

// A file of its own for each test.
std::string WriteFile(const std::string& text) {
  const std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
  const auto path = std::filesystem::path(::testing::TempDir()) / ("param_files_" + name);
  std::ofstream(path) << text;
  return path.string();
}

Result<void> Read(Params& params) {
  const AnalysisSpec* const specs[] = {FindAnalysis("busy"), FindAnalysis("kernels")};
  return ReadParamFiles(specs, params);
}

TEST(ParamFilesTest, TheTextIsInTheValue) {
  Params params;
  params.values.push_back(ParseParam(kPatternsParam, WriteFile("{}\n")).value());
  ASSERT_TRUE(Read(params).ok());
  EXPECT_EQ(*params.Content(kPatternsParam), "{}\n");
}

TEST(ParamFilesTest, ErrorsNameOptionAndFile) {
  Params params;
  params.values.push_back(ParseParam(kPatternsParam, "/no/such/file").value());
  const Result<void> missing = Read(params);
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().Sentence(),
            "`patterns`: /no/such/file: No such file or directory; check the name and its "
            "permissions");
  params.values.back().text = WriteFile(std::string((1 << 20) + 1, ' '));
  const Result<void> large = Read(params);
  ASSERT_FALSE(large.ok());
  EXPECT_EQ(large.error().Sentence(), "`patterns`: " + params.values.back().text +
                                          ": larger than 1 MiB; is it the right file?");
}

TEST(ParamFilesTest, NothingIsReadThatWasNotAskedFor) {
  Params params;
  EXPECT_TRUE(Read(params).ok());
  EXPECT_EQ(params.Content(kPatternsParam), nullptr);
}

}  // namespace
}  // namespace borescope::internal
