#include "borescope/convert/convert.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "borescope/testing/test_trace.h"
#include "borescope/testing/trace_maker.h"

namespace borescope::internal {
namespace {

namespace fs = std::filesystem;
using testkit::TraceMaker;

class ConvertFiles : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  // The message of the error, or "".
  std::string Write(std::string_view to, const std::string& path) {
    TraceMaker maker;
    maker.Op("op", 1, {0, 10});
    const Trace trace = maker.Finish();
    const TraceIndex index = BuildIndex(trace, 1);
    const Result<const ConvertTarget*> target = ChooseTarget(to, path);
    EXPECT_TRUE(target.ok());
    const Result<ConvertCounts> counts = WriteConverted({trace, index, {}, {}}, **target, path);
    return counts.ok() ? "" : counts.error().Sentence();
  }
  std::string In(const std::string& name) const { return (folder_ / name).string(); }
  size_t Files() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  // Tests run concurrently.
  fs::path folder_ = fs::path(testing::TempDir()) /
                     (std::string("borescope_convert_") +
                      testing::UnitTest::GetInstance()->current_test_info()->name());
};

std::string Content(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

TEST(ChooseTarget, GoesByTheEnding) {
  const auto name = [](const char* path) { return (*ChooseTarget("", path))->name; };
  EXPECT_EQ(name("a/b.json"), "chrome");
  EXPECT_EQ(name("b.json.gz"), "chrome");
  EXPECT_EQ(name("b.pftrace"), "perfetto");
  EXPECT_EQ(name("b.perfetto-trace.gz"), "perfetto");
  EXPECT_EQ(name("b.rpd"), "rpd");
  EXPECT_EQ(name("b.csv"), "csv");
  EXPECT_EQ((*ChooseTarget("rpd", "b.json"))->name, "rpd");
  EXPECT_FALSE(ChooseTarget("", "b.txt").ok());
  EXPECT_FALSE(ChooseTarget("", "json").ok());
  EXPECT_FALSE(ChooseTarget("sqlite", "b.json").ok());
}

TEST_F(ConvertFiles, EachTargetWritesOneFile) {
  size_t files = 0;
  for (const ConvertTarget& target : ConvertTargets()) {
    for (const std::string_view ending : target.extensions) {
      EXPECT_EQ(Write("", In("out" + std::string(ending))), "");
      EXPECT_EQ(Files(), ++files);
    }
  }
}

TEST_F(ConvertFiles, EqualInputGivesEqualBytes) {
  for (const ConvertTarget& target : ConvertTargets()) {
    EXPECT_EQ(Write(target.name, In("a")), "");
    EXPECT_EQ(Write(target.name, In("b")), "");
    EXPECT_EQ(Content(In("a")), Content(In("b"))) << target.name;
  }
}

TEST_F(ConvertFiles, FailuresLeaveNothingBehind) {
  for (const ConvertTarget& target : ConvertTargets()) {
    EXPECT_NE(Write(target.name, In("absent/out")), "");
    EXPECT_NE(Write(target.name, folder_.string()), "");
    EXPECT_NE(Write(target.name, "/dev/full"), "");
    EXPECT_EQ(Files(), 0U) << target.name;
  }
}

TEST_F(ConvertFiles, DatabasesAreFilesOfTheirOwn) {
  const std::string remedy = ": a database needs an ordinary file, not compressed; name it .rpd";
  EXPECT_EQ(Write("rpd", In("out.gz")), In("out.gz") + remedy);
  EXPECT_EQ(Write("rpd", "/dev/null"), "/dev/null" + remedy);
  EXPECT_EQ(Files(), 0U);
}

TEST_F(ConvertFiles, ReplacesWhatIsThere) {
  std::ofstream(In("out.rpd")) << "old";
  EXPECT_EQ(Write("", In("out.rpd")), "");
  EXPECT_TRUE(Content(In("out.rpd")).starts_with("SQLite format 3"));
  EXPECT_EQ(Files(), 1U);
}

// No format holds them, and none loses them silently.
TEST_F(ConvertFiles, SampledStacksAndPausesAreCountedAsLeftOut) {
  TestTrace trace;
  trace.Op("op", {0, 100}).Pause({10, 5}).Sample(20, {"main"}).Sample(90, {"main"});
  const RankView& view = trace.View();
  for (const ConvertTarget& target : ConvertTargets()) {
    const ConvertInput input{view.trace, view.index, {.begin_ns = 0, .end_ns = 50}, {}};
    const Result<ConvertCounts> counts = WriteConverted(input, target, In("out"));
    ASSERT_TRUE(counts.ok()) << counts.error().Sentence();
    EXPECT_EQ(counts->unplaced, 2U) << target.name;
    EXPECT_EQ(counts->outside, 1U) << target.name;
  }
}

TEST_F(ConvertFiles, CompressesWhatIsNamedSo) {
  EXPECT_EQ(Write("", In("out.json.gz")), "");
  EXPECT_TRUE(Content(In("out.json.gz")).starts_with("\x1f\x8b"));
}

}  // namespace
}  // namespace borescope::internal
