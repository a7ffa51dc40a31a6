#include "borescope/cli/options/understand.h"

#include <gtest/gtest.h>

#include "borescope/cli/options/arguments.h"

namespace borescope::internal::cli {
namespace {

using Words = std::vector<std::string>;

// The message of the error that Parse or, after it, Understand gives; empty when all is well.
std::string Complaint(const Words& words) {
  const Result<Command> command = Parse(words);
  if (!command.ok()) {
    return command.error().message;
  }
  const Result<OutputOptions> output = UnderstandOutput(command->raw, command->analyses);
  if (!output.ok()) {
    return output.error().message;
  }
  const Result<RunOptions> options = Understand(command->analyses, command->raw);
  return options.ok() ? "" : options.error().message;
}

RunOptions Understood(const Words& words) {
  const Result<Command> command = Parse(words);
  EXPECT_TRUE(command.ok());
  const Result<RunOptions> options = Understand(command->analyses, command->raw);
  EXPECT_TRUE(options.ok());
  return *options;
}

TEST(Understand, OptionsMayStandAnywhereAfterTheVerb) {
  const RunOptions options = Understood({"kernels", "-", "--by", "step,rank, step", "--top=20",
                                         "--rank", "0,2..3", "--all", "--memory-limit", "2G"});
  EXPECT_EQ(options.params.by, (Words{"step", "rank"}));
  EXPECT_EQ(options.top, 20U);
  EXPECT_TRUE(options.ranks.Contains(3));
  EXPECT_FALSE(options.ranks.Contains(1));
  EXPECT_TRUE(options.params.all);
  EXPECT_EQ(options.memory_limit, 2'000'000'000U);
  EXPECT_EQ(options.files.size(), 1U);
}

TEST(Understand, EveryValueIsChecked) {
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
  EXPECT_EQ(Complaint({"kernels", "-", "--compat", "nsys"}),
            "--compat: unknown tool 'nsys'; tools are hta, rpd, inductor, key_averages, pyprof");
  EXPECT_TRUE(Complaint({"kernels", "-", "--rank", "a"}).starts_with("--rank: "));
  EXPECT_TRUE(Complaint({"kernels", "-", "--step", "5..2"}).starts_with("--step: "));
}

TEST(Understand, SizesHavePrefixes) {
  EXPECT_EQ(*ParseSize("1000000"), 1'000'000U);
  EXPECT_EQ(*ParseSize("1.5GB"), 1'500'000'000U);
  EXPECT_EQ(*ParseSize("512MiB"), 512U << 20);
  EXPECT_EQ(*ParseSize("3Ti"), uint64_t{3} << 40);
  for (const char* bad : {"", "G", "0", "-1G", "1X", "1GX", "nan", "1e30", "0.1"}) {
    EXPECT_FALSE(ParseSize(bad).ok()) << bad;
  }
}

}  // namespace
}  // namespace borescope::internal::cli
