#include "borescope/run_targets.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "borescope/base/temporary_folder.h"

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
  const auto folder = TemporaryFolder::Make();
  ASSERT_TRUE(folder.ok());
  const std::string path = folder->path() + "/a.json";
  std::ofstream(path) << "x";
  const std::vector<InputFile> files{{"-"}, {path}};
  const Result<void> checked = CheckNoInput(files, folder->path() + "/./a.json", "--output");
  ASSERT_FALSE(checked.ok());
  EXPECT_EQ(checked.error().message,
            folder->path() + "/./a.json: is an input; --output would overwrite it");
  EXPECT_TRUE(CheckNoInput(files, folder->path() + "/b.json", "--output").ok());
  EXPECT_TRUE(CheckNoInput(files, "", "--output").ok());
}

TEST(CheckNoInputTest, OfPathsAlsoWhatIsNotThere) {
  const std::vector<InputFile> files{{"absent.json"}};
  EXPECT_TRUE(CheckNoInput(files, "absent.json", "--output").ok());
  const std::vector<std::string> paths{"", "absent.json"};
  EXPECT_FALSE(CheckNoInput(paths, "./absent.json", "link").ok());
  EXPECT_TRUE(CheckNoInput(paths, "other.json", "link").ok());
}

}  // namespace
}  // namespace borescope
