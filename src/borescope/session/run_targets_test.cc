#include "borescope/session/run_targets.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "borescope/analysis/param_specs.h"

namespace borescope {
namespace {

namespace fs = std::filesystem;

TEST(OverlayPathTest, OneFileOrOneForEachInTheFolder) {
  const std::vector<InputFile> one{{"run/rank0.json.gz"}};
  EXPECT_EQ(OverlayPath(one, "out.json", one[0]), "out.json");
  const std::vector<InputFile> two{{"run/rank0.json.gz"}, {"run/rank1.json.zst"}};
  EXPECT_EQ(OverlayPath(two, "out", two[0]), "out/rank0.json.gz");
  EXPECT_EQ(OverlayPath(two, "out", two[1]), "out/rank1.json");
  const std::string folder = fs::temp_directory_path().string();
  EXPECT_EQ(OverlayPath(one, folder, one[0]), (fs::path(folder) / "rank0.json.gz").string());
}

TEST(IsSameFileTest, ByWhateverPathAndBeforeItExists) {
  EXPECT_TRUE(IsSameFile("absent.json", "./absent.json"));
  EXPECT_TRUE(IsSameFile("absent.json", fs::absolute("absent.json").string()));
  EXPECT_TRUE(IsSameFile("/tmp/../absent.json", "/absent.json"));
  EXPECT_FALSE(IsSameFile("absent.json", "absent.csv"));
}

TEST(SavePathTest, InAFolderUnderTheNameOfTheInput) {
  const std::vector<InputFile> one{{"run/rank0.json.gz"}};
  EXPECT_EQ(SavePath(one, "out.graph", one[0]), "out.graph");
  const std::vector<InputFile> two{{"run/rank0.json.gz"}, {"run/rank1.json"}};
  EXPECT_EQ(SavePath(two, "out", two[0]), "out/rank0.graph");
  EXPECT_EQ(SavePath(two, "out", two[1]), "out/rank1.graph");
}

TEST(CheckNoInputTest, NamesWhoWouldOverwriteTheInput) {
  const std::vector<std::string> inputs{"", "-", "a.json"};
  const Result<void> checked = CheckNoInput(inputs, "./a.json", "--output");
  ASSERT_FALSE(checked.ok());
  EXPECT_EQ(checked.error().message, "./a.json: is an input; --output would overwrite it");
  EXPECT_TRUE(CheckNoInput(inputs, "b.json", "link").ok());
  EXPECT_TRUE(CheckNoInput(inputs, "-", "link").ok());
  EXPECT_TRUE(CheckNoInput(inputs, "", "--output").ok());
}

TEST(CheckNoInputTest, OneFileForEachTableMayBeAnInput) {
  const std::vector<std::string> inputs{"run/a.kernels.csv"};
  EXPECT_FALSE(CheckNoInput(inputs, "run/a.csv", *FindTableWriter("csv")).ok());
  EXPECT_TRUE(CheckNoInput(inputs, "run/b.csv", *FindTableWriter("csv")).ok());
  EXPECT_TRUE(CheckNoInput(inputs, "a.csv", *FindTableWriter("csv")).ok());
  EXPECT_TRUE(CheckNoInput(inputs, "run/a.csv", *FindTableWriter("json")).ok());
}

TEST(InputPathsTest, TracesOfBothRunsAndFilesOfOptions) {
  RunOptions options;
  options.files = {{"a.json"}};
  options.test.files = {{"b.json"}};
  options.params.values = {ParseParam(kOperatorParam, "text").value(),
                           ParseParam(kPatternsParam, "p.json").value()};
  EXPECT_EQ(InputPaths(options), (std::vector<std::string>{"a.json", "b.json", "p.json"}));
}

}  // namespace
}  // namespace borescope
