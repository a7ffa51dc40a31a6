#include "borescope/engine/inputs/recording_groups.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "borescope/ingest/recording/recording_test_log.h"

namespace borescope::internal {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

class RecordingGroups : public testing::Test {
 protected:
  RecordingGroups() {
    std::string name = (fs::temp_directory_path() / "borescope_groups_XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~RecordingGroups() override { fs::remove_all(folder_); }

  std::string Path(const std::string& name) const { return (folder_ / name).string(); }

  // Logs start in the order of their process numbers.
  void AddLog(const std::string& name, uint32_t pid, int32_t rank, uint32_t flags = 0) const {
    recording::LogHeader header = TestLogHeader(rank, pid);
    header.mono_ns = pid;
    header.flags = flags;
    std::ofstream(folder_ / name, std::ios::binary) << TestLog(header, {});
  }

  // "first: all of them" for each input, names of files.
  static Names Expand(const Names& inputs) {
    Names groups;
    const Result<std::vector<InputFile>> files = ExpandInputs(inputs);
    for (const InputFile& file : *files) {
      std::string text = fs::path(file.path).filename().string() + ":";
      for (const std::string& log : file.logs) {
        text += " " + fs::path(log).filename().string();
      }
      groups.push_back(text);
    }
    return groups;
  }

  fs::path folder_;
};

TEST_F(RecordingGroups, LogsOfARankAreOneInput) {
  AddLog("a.bsl", 12, 0);
  AddLog("b.bsl", 11, 0);
  AddLog("c.bsl", 13, 1);
  AddLog("launcher.bsl", 1, -1, recording::kIsLauncher);
  std::ofstream(folder_ / "control") << "BSCT";
  std::ofstream(folder_ / "run.rpd") << "x";
  const Names both = {"b.bsl: b.bsl a.bsl launcher.bsl", "c.bsl: c.bsl"};
  EXPECT_EQ(Expand({folder_.string()}), both);
  EXPECT_EQ(Expand({Path("*.bsl")}), both);
  EXPECT_EQ(Expand({Path("a.bsl"), folder_.string()}), both);
}

TEST_F(RecordingGroups, OneLogIsThatProcessAlone) {
  AddLog("a.bsl", 12, 0);
  AddLog("b.bsl", 11, 0);
  EXPECT_EQ(Expand({Path("a.bsl")}), Names{"a.bsl: a.bsl"});
}

TEST_F(RecordingGroups, TheLauncherIsOfTheProcessesWithoutARank) {
  AddLog("a.bsl", 12, -1);
  AddLog("c.bsl", 13, 1);
  AddLog("launcher.bsl", 1, -1, recording::kIsLauncher);
  EXPECT_EQ(Expand({folder_.string()}), (Names{"a.bsl: a.bsl launcher.bsl", "c.bsl: c.bsl"}));
}

TEST_F(RecordingGroups, FilesThatAreNoLogsStayAsTheyAre) {
  std::ofstream(folder_ / "rank0.json") << "{}";
  std::ofstream(folder_ / "rank1.json") << "{}";
  EXPECT_EQ(Expand({folder_.string()}), (Names{"rank0.json:", "rank1.json:"}));
}

}  // namespace
}  // namespace borescope::internal
