#include "borescope/verbs/open/input_watch.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "borescope/base/io/temporary_folder.h"

namespace borescope::internal {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

class InputWatchTest : public testing::Test {
 protected:
  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(run_ + "/" + name) << text;
  }

  // The names of what has settled at that time, and how many grow.
  std::string Look(int64_t ms) {
    const SettledFiles seen = watch_.Look(begin_ + milliseconds(ms));
    std::string names;
    for (const auto& [path, look] : seen.files) {
      names += fs::path(path).filename().string() + " ";
    }
    return names + "+" + std::to_string(seen.growing);
  }

  const TemporaryFolder folder_ = TemporaryFolder::Make().value();
  const std::string run_ = folder_.path() + "/run";
  const bool is_made_ = fs::create_directory(run_);
  FileWatch watch_{{run_}, milliseconds(1000)};
  const FileWatch::Clock::time_point begin_ = FileWatch::Clock::now();
};

TEST_F(InputWatchTest, AFileThatGrowsHasNotSettled) {
  EXPECT_EQ(Look(0), "+0");
  Write("a.json", "1");
  EXPECT_EQ(Look(250), "+1");
  EXPECT_EQ(Look(1249), "+1");
  Write("a.json", "12");
  EXPECT_EQ(Look(1250), "+1");
  EXPECT_EQ(Look(2249), "+1");
  EXPECT_EQ(Look(2250), "a.json +0");
  Write("a.json", "123");
  EXPECT_EQ(Look(2500), "+1");
}

TEST_F(InputWatchTest, JsonThatEndsInTheMiddleIsBeingWritten) {
  Write("a.json", R"({"traceEvents": [{"name": "]}\"", "ts": 1})");
  Look(0);
  EXPECT_EQ(Look(1000), "+1");
  EXPECT_EQ(Look(9000), "+1");
  Write("a.json", R"({"traceEvents": [{"name": "]}\"", "ts": 1}]})");
  EXPECT_EQ(Look(9250), "+1");
  EXPECT_EQ(Look(10'250), "a.json +0");
}

// Whoever wrote it has given up: the report says what is wrong with it.
TEST_F(InputWatchTest, JsonThatWasCutLongAgoIsAsItIs) {
  Write("a.json", R"({"traceEvents": [)");
  Look(0);
  EXPECT_EQ(Look(1000), "+1");
  fs::last_write_time(run_ + "/a.json",
                      fs::file_time_type::clock::now() - std::chrono::seconds(61));
  Look(1250);
  EXPECT_EQ(Look(2250), "a.json +0");
}

TEST_F(InputWatchTest, WhatIsWholeIsSeenByItsBrackets) {
  const auto is_whole = [&](const std::string& text) {
    Write("b", text);
    return IsWholeJson(run_ + "/b");
  };
  EXPECT_TRUE(is_whole("no JSON {"));
  EXPECT_TRUE(is_whole("{}"));
  EXPECT_TRUE(is_whole("\xef\xbb\xbf [1, {\"a\": \"[\"}]\n"));
  EXPECT_FALSE(is_whole("[1, {\"a\": \"[\"}"));
  EXPECT_FALSE(is_whole("{\"a\": \"b}"));
  EXPECT_FALSE(is_whole("{\"a\": \"b\\\"}"));
  EXPECT_TRUE(is_whole("{\"a\": \"b\\\\\"}"));
  // Longer than what is read at once.
  const std::string text = "[\"" + std::string(size_t{3} << 20U, 'x') + "\"";
  EXPECT_FALSE(is_whole(text));
  EXPECT_TRUE(is_whole(text + "]"));
  EXPECT_TRUE(IsWholeJson(run_ + "/nothing"));
}

TEST_F(InputWatchTest, OldFilesHaveSettledAtTheFirstLook) {
  Write("old.json", "1");
  fs::last_write_time(run_ + "/old.json", fs::file_time_type::clock::now() - std::chrono::hours(1));
  Write("new.json", "1");
  EXPECT_EQ(Look(0), "old.json +1");
  EXPECT_EQ(Look(1000), "new.json old.json +0");
}

TEST_F(InputWatchTest, TemporaryNamesAndEmptyFilesAreNone) {
  for (const char* name : {"a.json.tmp", "b.json.part", "c.json~", ".d.json"}) {
    Write(name, "1");
  }
  Write("empty.json", "");
  EXPECT_EQ(Look(0), "+1");
  EXPECT_EQ(Look(5000), "+1");
  fs::rename(run_ + "/a.json.tmp", run_ + "/a.json");
  EXPECT_EQ(Look(5250), "+2");
  EXPECT_EQ(Look(6250), "a.json +1");
}

TEST_F(InputWatchTest, WhatGoesIsGone) {
  Write("a.json", "1");
  Look(0);
  EXPECT_EQ(Look(1000), "a.json +0");
  fs::remove_all(run_);
  EXPECT_EQ(Look(1250), "+0");
}

TEST_F(InputWatchTest, AFolderThatCannotBeListedIsNotEmpty) {
  Write("a.json", "1");
  Look(0);
  EXPECT_EQ(Look(1000), "a.json +0");
  {
    fs::rename(run_, folder_.path() + "/away");
    fs::create_symlink(run_, run_);  // a loop, which no permission of the one who tests passes over
    const SettledFiles seen = watch_.Look(begin_ + milliseconds(1250));
    ASSERT_TRUE(seen.failure.has_value());
    EXPECT_EQ(seen.failure->code, ErrorCode::kIo);
    EXPECT_EQ(seen.files.size(), 1U);
    fs::remove(run_);
    fs::rename(folder_.path() + "/away", run_);
  }
  EXPECT_EQ(Look(1500), "a.json +0");  // at once: it was not forgotten
  EXPECT_FALSE(watch_.Look(begin_ + milliseconds(1750)).failure.has_value());
}

TEST_F(InputWatchTest, AFolderWithoutAFileSaysSo) {
  fs::create_directory(run_ + "/rank0");
  const SettledFiles seen = watch_.Look(begin_);
  ASSERT_TRUE(seen.failure.has_value());
  EXPECT_EQ(seen.failure->code, ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace borescope::internal
