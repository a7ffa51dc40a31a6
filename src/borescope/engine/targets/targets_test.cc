#include "borescope/engine/targets/targets.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <fstream>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/base/sanitized_testing.h"

namespace borescope::internal {
namespace {

namespace fs = std::filesystem;
using Paths = std::vector<std::string>;

// A folder that is empty.
class TargetsTest : public testing::Test {
 protected:
  TargetsTest() {
    std::string name = (fs::temp_directory_path() / "borescope_targets_XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~TargetsTest() override { fs::remove_all(folder_); }

  // The path of a file of this name.
  std::string In(const std::string& name) const { return (folder_ / name).string(); }
  std::string Put(const std::string& name) const {
    std::ofstream(In(name)) << name;
    return In(name);
  }

  fs::path folder_;
};

TEST(OverlayPathTest, OneFileOrOneForEachInTheFolder) {
  const std::vector<InputFile> one{{"run/rank0.json.gz"}};
  EXPECT_EQ(*OverlayPath(one, "out.json", one[0]), "out.json");
  const std::vector<InputFile> two{{"run/rank0.json.gz"}, {"run/rank1.json.zst"}};
  EXPECT_EQ(*OverlayPath(two, "out", two[0]), "out/rank0.json.gz");
  EXPECT_EQ(*OverlayPath(two, "out", two[1]), "out/rank1.json");
  const std::string folder = fs::temp_directory_path().string();
  EXPECT_EQ(*OverlayPath(one, folder, one[0]), (fs::path(folder) / "rank0.json.gz").string());
}

TEST(FileLookupTest, ByWhateverPathAndBeforeItExists) {
  const FileLookup lookup = *FileLookup::Of(Paths{"other.json", "absent.json", "/absent.json"});
  EXPECT_EQ(*lookup.Find("./absent.json"), 1U);
  EXPECT_EQ(*lookup.Find(fs::absolute("absent.json").string()), 1U);
  EXPECT_EQ(*lookup.Find("/tmp/../absent.json"), 2U);
  EXPECT_EQ(*lookup.Find("absent.csv"), std::nullopt);
}

TEST(FileLookupTest, NothingAndStandardInputLeadToNoFile) {
  const FileLookup lookup = *FileLookup::Of(Paths{"", "-"});
  EXPECT_EQ(*lookup.Find(""), std::nullopt);
  EXPECT_EQ(*lookup.Find("-"), std::nullopt);
  EXPECT_EQ(*FileLookup().Find("a.json"), std::nullopt);
}

TEST_F(TargetsTest, LinksOfBothKindsLeadToTheFile) {
  const std::string file = Put("a.json");
  const Paths paths{Put("b.json"), file};
  fs::create_hard_link(file, In("hard.json"));
  fs::create_symlink(file, In("soft.json"));
  fs::create_symlink(In("absent.json"), In("nowhere.json"));
  const FileLookup lookup = *FileLookup::Of(paths);
  EXPECT_EQ(*lookup.Find(In("hard.json")), 1U);
  EXPECT_EQ(*lookup.Find(In("soft.json")), 1U);
  EXPECT_EQ(*lookup.Find(In("nowhere.json")), std::nullopt);
  EXPECT_EQ(*FileLookup::Of(Paths{In("absent.json")})->Find(In("nowhere.json")), 0U);
}

TEST(SavePathTest, InAFolderUnderTheNameOfTheInput) {
  const std::vector<InputFile> one{{"run/rank0.json.gz"}};
  EXPECT_EQ(*SavePath(one, "out.graph", one[0]), "out.graph");
  const std::vector<InputFile> two{{"run/rank0.json.gz"}, {"run/rank1.json"}};
  EXPECT_EQ(*SavePath(two, "out", two[0]), "out/rank0.graph");
  EXPECT_EQ(*SavePath(two, "out", two[1]), "out/rank1.graph");
}

TEST(CheckNoInputTest, NamesWhoWouldOverwriteTheInput) {
  const std::vector<std::string> inputs{"", "-", "a.json"};
  const Result<void> checked = CheckNoInput(inputs, "./a.json", "`output`");
  ASSERT_FALSE(checked.ok());
  EXPECT_EQ(checked.error().Sentence(), "./a.json: is an input; `output` would overwrite it");
  EXPECT_TRUE(CheckNoInput(inputs, "b.json", "link").ok());
  EXPECT_TRUE(CheckNoInput(inputs, "-", "link").ok());
  EXPECT_TRUE(CheckNoInput(inputs, "", "`output`").ok());
}

// As in convert - a.json < a.json.
TEST_F(TargetsTest, StandardInputMayBeTheTarget) {
  const std::string path = Put("a.json");
  const int before = dup(STDIN_FILENO);
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(dup2(file, STDIN_FILENO), STDIN_FILENO);
  EXPECT_FALSE(CheckNoInput(Paths{"-"}, path, "convert").ok());
  EXPECT_TRUE(CheckNoInput(Paths{"-"}, Put("b.json"), "convert").ok());
  dup2(before, STDIN_FILENO);
  close(before);
  close(file);
}

TEST_F(TargetsTest, WordsStandForTheFilesBehindThem) {
  fs::create_directory(In("run"));
  const std::string file = Put("run/a.et");
  EXPECT_EQ(*PathsBehind(Paths{In("run")}), (Paths{file}));
  EXPECT_EQ(*PathsBehind(Paths{In("run/*.et"), In("none/*.et"), In("b.et")}),
            (Paths{file, In("b.et")}));
}

TEST(CheckNoTargetTest, NamesBothWhoWouldWriteTheFile) {
  RunOptions options;
  options.files = {{"run/a.json"}};
  options.save = "a.graph";
  const Paths output{"a.txt", "./a.graph"};
  const Result<void> checked = CheckNoTarget(options, output);
  ASSERT_FALSE(checked.ok());
  EXPECT_EQ(checked.error().Sentence(), "a.graph: `output` and `save` would both write it");
  EXPECT_TRUE(CheckNoTarget(options, {output.data(), 1}).ok());
}

TEST_F(TargetsTest, AnOverlayOverAnInputIsRefused) {
  RunOptions options;
  options.files = {{Put("a.json")}, {Put("b.json")}};
  fs::create_directory(In("out"));
  options.overlay = In("out");
  EXPECT_TRUE(CheckTargets(options).ok());
  fs::create_hard_link(In("a.json"), In("out/b.json"));
  EXPECT_EQ(CheckTargets(options).error().Sentence(),
            In("out/b.json") + ": is an input; `overlay` would overwrite it");
}

// Of processor time, for the overlays of that many files that are not there.
double SecondsToCheck(int files, const std::string& folder) {
  RunOptions options;
  for (int i = 0; i < files; ++i) {
    options.files.push_back({"run/rank" + std::to_string(i) + ".json"});
  }
  options.overlay = folder;
  const std::clock_t begin = std::clock();
  EXPECT_TRUE(CheckTargets(options).ok());
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

// Each target was compared with each input, which took ten seconds. On a slow machine four times
// the files take four times as long, not sixteen times.
TEST_F(TargetsTest, ManyFilesAreNotComparedTwoByTwo) {
  constexpr double kSoon = testkit::kSanitized ? 10 : 1;
  constexpr int kFiles = 1200;
  const double seconds = SecondsToCheck(kFiles, folder_.string());
  if (seconds >= kSoon) {
    EXPECT_LT(seconds, 8 * SecondsToCheck(kFiles / 4, folder_.string()));
  }
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
}  // namespace borescope::internal
