#include "borescope/cli/options/values.h"

#include <gtest/gtest.h>

#include "borescope/cli/questions.h"
#include "borescope/cli/verbs.h"
#include "borescope/error.h"

namespace borescope::cli {
namespace {

using Words = std::vector<std::string>;

// The wording of the error of this command line, before any file is read; empty when all is well.
std::string Complaint(const Words& words) {
  const Result<Command> command = Parse(words);
  if (!command.ok()) {
    return WithOptions(command.error().Sentence());
  }
  const Result<OutputOptions> output = UnderstandOutput(command->raw, command->analyses);
  if (!output.ok()) {
    return WithOptions(output.error().Sentence());
  }
  const Result<Answer> answer = AskQuestion(*command, *output);
  return answer.ok() ? "" : WithOptions(answer.error().Sentence());
}

TEST(Values, OptionsMayStandAnywhereAfterTheVerb) {
  const Result<Command> command = Parse(Words{"kernels", "-", "--by", "step,rank, step", "--top=20",
                                              "--rank", "0,2..3", "--all", "--memory-limit", "2G"});
  ASSERT_TRUE(command.ok());
  EXPECT_EQ(command->raw.Get("by"), "step,rank, step");
  EXPECT_EQ(command->raw.Get("top"), "20");
  EXPECT_EQ(command->raw.Get("rank"), "0,2..3");
  EXPECT_EQ(command->raw.Get("all"), "true");
  EXPECT_EQ(command->raw.Get("memory-limit"), "2G");
  EXPECT_EQ(command->raw.inputs, (Words{"-"}));
}

TEST(Values, EveryValueIsChecked) {
  EXPECT_EQ(Complaint({"kernels"}),
            "no INPUT; name a trace file, a directory of them, or - for standard input");
  EXPECT_EQ(Complaint({"kernels", "-", "-f", "xml"}),
            "--format: unknown format 'xml'; formats are text, csv, json, svg, png");
  EXPECT_EQ(Complaint({"kernels", "-", "--top", "0"}),
            "--top: '0' is no number between 1 and 1000000000");
  EXPECT_EQ(Complaint({"kernels", "-", "--threads", "2x"}),
            "--threads: '2x' is no number between 1 and 1024");
  EXPECT_EQ(Complaint({"kernels", "-", "--instance", "1"}),
            "--instance counts occurrences of an annotation; name it with --annotation");
  EXPECT_TRUE(Complaint({"kernels", "-", "--rank", "a"}).starts_with("--rank: "));
  EXPECT_TRUE(Complaint({"kernels", "-", "--step", "5..2"}).starts_with("--step: "));
}

TEST(Values, ToolsAreNamed) {
  if (FindVerb("prof") == nullptr) GTEST_SKIP() << "a build without packs";
  EXPECT_EQ(Complaint({"kernels", "-", "--compat", "nsys"}),
            "--compat: unknown tool 'nsys'; tools are hta, rpd, inductor, key_averages, pyprof");
}

TEST(Values, WhatIsAtAPath) {
  using std::filesystem::file_type;
  EXPECT_EQ(*TypeOfPath("/"), file_type::directory);
  EXPECT_EQ(*TypeOfPath("/dev/null"), file_type::character);
  EXPECT_EQ(*TypeOfPath("/proc/self/exe"), file_type::regular);
  for (const std::string& none : {std::string(), std::string("/dev/null/a"), std::string("/none"),
                                  "/" + std::string(5000, 'x')}) {
    EXPECT_FALSE(*Exists(none)) << none;
    EXPECT_FALSE(WhatHides(none)) << none;
  }
}

TEST(Values, SizesHavePrefixes) {
  EXPECT_EQ(*ParseSize("memory-limit", "1000000"), 1'000'000U);
  EXPECT_EQ(*ParseSize("memory-limit", "1.5GB"), 1'500'000'000U);
  EXPECT_EQ(*ParseSize("memory-limit", "512MiB"), 512U << 20);
  EXPECT_EQ(*ParseSize("memory-limit", "3Ti"), uint64_t{3} << 40);
  for (const char* bad : {"", "G", "0", "-1G", "1X", "1GX", "nan", "1e30", "0.1"}) {
    EXPECT_FALSE(ParseSize("memory-limit", bad).ok()) << bad;
  }
}

}  // namespace
}  // namespace borescope::cli
