#include "borescope/cli/arguments.h"

#include <gtest/gtest.h>

namespace borescope::cli {
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

TEST(Arguments, OptionsMayStandAnywhereAfterTheVerb) {
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

TEST(Arguments, TheLastOfSeveralCounts) {
  EXPECT_EQ(Parse(Words{"kernels", "-f", "csv", "-fjson", "-"})->raw.format, "json");
}

TEST(Arguments, AfterTwoDashesEverythingIsAnInput) {
  EXPECT_EQ(Parse(Words{"info", "--", "-odd.json"})->raw.inputs, (Words{"-odd.json"}));
}

TEST(Arguments, VersionAndHelpNeedNothingElse) {
  EXPECT_TRUE(Parse(Words{"--version"})->version);
  EXPECT_TRUE(Parse(Words{"-h"})->raw.help);
  EXPECT_EQ(Parse(Words{"help", "kernels"})->analyses.front(), FindAnalysis("kernels"));
  EXPECT_TRUE(Parse(Words{"kernels", "--help"})->raw.help);
}

TEST(Arguments, AnExistingFileAsksForItsSummary) {
  const Result<Command> command = Parse(Words{"/dev/null", "--top", "3"});
  ASSERT_TRUE(command.ok());
  EXPECT_EQ(command->analyses.front(), FindAnalysis("summary"));
  EXPECT_EQ(command->raw.inputs, (Words{"/dev/null"}));
}

TEST(Arguments, SlipsAreNamedWithWhatWasProbablyMeant) {
  EXPECT_EQ(Complaint({"kernel", "x"}), "unknown verb 'kernel'; did you mean 'kernels'?");
  EXPECT_EQ(Complaint({"xyzzy"}), "unknown verb 'xyzzy'");
  EXPECT_EQ(Complaint({"x.json"}), "x.json: no such file, and no verb of this name");
  EXPECT_EQ(Complaint({"-f", "csv"}), "'-f' must follow a verb: borescope VERB -f ...");
  EXPECT_EQ(Complaint({"kernels", "--ranks=3", "-"}),
            "unknown option '--ranks'; did you mean '--rank'?");
  EXPECT_EQ(Complaint({"steps", "--all", "-"}), "steps: --all is not defined for it");
  EXPECT_EQ(Complaint({"info", "--step=3", "-"}), "info: --step is not defined for it");
  EXPECT_EQ(Complaint({"kernels", "-", "--top"}), "--top needs a value");
}

TEST(Arguments, EveryValueIsChecked) {
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

TEST(Arguments, SizesHavePrefixes) {
  EXPECT_EQ(*ParseSize("1000000"), 1'000'000U);
  EXPECT_EQ(*ParseSize("1.5GB"), 1'500'000'000U);
  EXPECT_EQ(*ParseSize("512MiB"), 512U << 20);
  EXPECT_EQ(*ParseSize("3Ti"), uint64_t{3} << 40);
  for (const char* bad : {"", "G", "0", "-1G", "1X", "1GX", "nan", "1e30", "0.1"}) {
    EXPECT_FALSE(ParseSize(bad).ok()) << bad;
  }
}

TEST(Arguments, FormatsThatDrawAreForVerbsWithViews) {
  EXPECT_EQ(Complaint({"breakdown", "-", "-f", "svg"}), "");
  EXPECT_EQ(Complaint({"busy,kernels", "-", "-f", "svg"}), "");  // one of them is enough
  EXPECT_TRUE(
      Complaint({"busy", "-", "-f", "svg"}).starts_with("--format svg: nothing of this answer"));
  EXPECT_TRUE(Complaint({"busy", "-", "-o", "x.svg"})
                  .starts_with("--output x.svg: nothing of this answer"));
}

TEST(Arguments, ListsGrowAndOfAllElseTheLastOneCounts) {
  const Result<Command> command =
      Parse(Words{"steps", "--step", "1", "--step", "3..4", "--top", "5", "--top", "6", "-"});
  EXPECT_EQ(command->raw.step, "1,3..4");
  EXPECT_EQ(Parse(Words{"steps", "--rank", "0,,3", "-"})->raw.rank, "0,,3");  // for the parser
  EXPECT_EQ(Parse(Words{"steps", "--instance", "0", "--instance", "2", "-"})->raw.instance, "0,2");
  EXPECT_EQ(command->raw.top, "6");
}

TEST(Arguments, TheEndingOfAFileSaysItsFormat) {
  const auto format = [](const Words& words) {
    return UnderstandOutput(Parse(words)->raw)->writer->name;
  };
  EXPECT_EQ(format({"list"}), "text");
  EXPECT_EQ(format({"list", "-o", "table.csv"}), "csv");
  EXPECT_EQ(format({"list", "-o", "table.json"}), "json");
  EXPECT_EQ(format({"list", "-o", "table.md"}), "text");
  EXPECT_EQ(format({"list", "-o", "table.csv", "-f", "json"}), "json");
  EXPECT_EQ(UnderstandStandardOutput(Parse(Words{"list", "-o", "linked.json"})->raw)->writer->name,
            "text");
}

TEST(Arguments, ColourIsAlwaysNeverOrAsTheTerminalSays) {
  const auto colour = [](std::string_view when) {
    return UnderstandOutput(Parse(Words{"list", "--color", std::string(when)})->raw)->colour;
  };
  EXPECT_TRUE(colour("always"));
  EXPECT_FALSE(colour("never"));
  for (const std::string_view verb : VerbNames()) {
    EXPECT_EQ(Parse(Words{std::string(verb), "--color", "blue"}).error().message,
              "--color: 'blue' is not auto, always or never")
        << verb;
  }
}

}  // namespace
}  // namespace borescope::cli
