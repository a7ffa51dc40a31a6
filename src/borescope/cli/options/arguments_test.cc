#include "borescope/cli/options/arguments.h"

#include <gtest/gtest.h>

#include "borescope/error.h"

namespace borescope::cli {
namespace {

using Words = std::vector<std::string>;

// The message of the error that Parse or, after it, UnderstandOutput gives; empty when all is well.
std::string Complaint(const Words& words) {
  const Result<Command> command = Parse(words);
  if (!command.ok()) {
    return WithOptions(command.error().Sentence());
  }
  const Result<OutputOptions> output = UnderstandOutput(command->raw, command->analyses);
  return output.ok() ? "" : WithOptions(output.error().Sentence());
}

TEST(Arguments, TheLastOfSeveralCounts) {
  EXPECT_EQ(Parse(Words{"kernels", "-f", "csv", "-fjson", "-"})->raw.Get("format"), "json");
}

TEST(Arguments, AfterTwoDashesEverythingIsAnInput) {
  EXPECT_EQ(Parse(Words{"info", "--", "-odd.json"})->raw.inputs, (Words{"-odd.json"}));
}

TEST(Arguments, VersionAndHelpNeedNothingElse) {
  EXPECT_TRUE(Parse(Words{"--version"})->version);
  EXPECT_TRUE(Parse(Words{"-h"})->raw.Has("help"));
  EXPECT_EQ(Parse(Words{"help", "kernels"})->analyses.front(), FindVerb("kernels"));
  EXPECT_TRUE(Parse(Words{"kernels", "--help"})->raw.Has("help"));
}

TEST(Arguments, AnExistingFileAsksForItsSummary) {
  const Result<Command> command = Parse(Words{"/dev/null", "--top", "3"});
  ASSERT_TRUE(command.ok());
  EXPECT_EQ(command->analyses.front(), FindVerb("summary"));
  EXPECT_EQ(command->raw.inputs, (Words{"/dev/null"}));
}

TEST(Arguments, SlipsAreNamedWithWhatWasProbablyMeant) {
  EXPECT_EQ(Complaint({"kernel", "x"}), "unknown verb 'kernel'; did you mean 'kernels'?");
  EXPECT_EQ(Complaint({"xyzzy"}), "unknown verb 'xyzzy'");
  EXPECT_EQ(
      Complaint({"mcp"}),
      "'mcp' comes with the Python package; `pip install .` in a checkout installs it, and its "
      "command");
  EXPECT_EQ(Complaint({"x.json"}), "x.json: no such file, and no verb of this name");
  EXPECT_EQ(Complaint({"-f", "csv"}), "'-f' must follow a verb: borescope VERB -f ...");
  EXPECT_EQ(Complaint({"kernels", "--ranks=3", "-"}),
            "unknown option '--ranks'; did you mean '--rank'?");
  EXPECT_EQ(Complaint({"steps", "--all", "-"}), "steps: --all is not defined for it");
  EXPECT_EQ(Complaint({"info", "--step=3", "-"}), "info: --step is not defined for it");
  EXPECT_EQ(Complaint({"kernels", "-", "--top"}), "--top needs a value");
}

TEST(Arguments, WhatIsFarFromEveryNameIsNoSlip) {
  EXPECT_EQ(Complaint({"idle,foo", "-"}), "unknown verb 'foo'");
  EXPECT_EQ(Complaint({"summary", "-", "--foo"}), "unknown option '--foo'");
  EXPECT_EQ(Complaint({"summary", "-", "--tpo=3"}),
            "unknown option '--tpo'; did you mean '--top'?");
  EXPECT_EQ(Complaint({"summary", "-", "-step"}), "unknown option '-step'; did you mean '--step'?");
  EXPECT_EQ(Complaint({"summary", "-", "-x"}), "unknown option '-x'");
}

TEST(Arguments, OptionsOfOtherVerbsAreToldWithWhatToWriteInstead) {
  EXPECT_EQ(Complaint({"query", "SELECT 1", "-", "--step=1"}),
            "query: --step is not defined for it; write WHERE step = N in the statement");
  EXPECT_EQ(Complaint({"query", "SELECT 1", "-", "--compat", "hta"}),
            "query: --compat is not defined for it");
  EXPECT_EQ(Complaint({"convert", "a", "b", "--gpu", "1"}), "convert: --gpu is not defined for it");
  EXPECT_EQ(Complaint({"info,doctor", "-", "--step", "1"}),
            "info, doctor: --step is not defined for any of them");
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
  EXPECT_EQ(command->raw.Get("step"), "1,3..4");
  EXPECT_EQ(Parse(Words{"steps", "--rank", "0,,3", "-"})->raw.Get("rank"),
            "0,,3");  // for the parser
  EXPECT_EQ(Parse(Words{"steps", "--instance", "0", "--instance", "2", "-"})->raw.Get("instance"),
            "0,2");
  EXPECT_EQ(command->raw.Get("top"), "6");
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
    EXPECT_EQ(Parse(Words{std::string(verb), "--color", "blue"}).error().cause,
              "--color: 'blue' is not auto, always or never")
        << verb;
  }
}

}  // namespace
}  // namespace borescope::cli
