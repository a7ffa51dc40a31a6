// A part of a recording: verbs answer of the file that `convert` cut out what they answer of that
// part of the whole recording.

#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "borescope/base/io/temporary_folder.h"
#include "borescope/base/sanitized_testing.h"
#include "borescope/catalog/catalog.h"
#include "borescope/convert.h"
#include "borescope/engine/run_analyses.h"
#include "borescope/output/json_writer.h"
#include "borescope/output/writer.h"
#include "tests/oracle/random.h"
#include "tests/support/scenario.h"

namespace borescope::internal::testkit {
namespace {

// All whose answers are about the part and not about its surroundings.
constexpr std::string_view kVerbs[] = {"breakdown", "steps", "idle", "busy",
                                       "kernels",   "gaps",  "ops",  "queue"};

std::string MakeTrace(uint64_t seed) {
  scenario::ScenarioConfig config;
  config.seed = seed;
  config.with_shapes = true;
  config.size_bytes = kSanitized ? 300'000 : 1'000'000;
  std::string text;
  const auto open = [&](const scenario::RankInfo&) {
    return std::make_unique<scenario::StringSink>(&text);
  };
  EXPECT_TRUE(scenario::RunScenario(config, open).is_ok);
  return text;
}

// What `convert` and verbs are asked for.
struct Part {
  std::string begin, end, steps;

  std::string Words() const { return begin + " to " + end + " of steps " + steps; }
};

class PartTest : public testing::TestWithParam<uint64_t> {
 protected:
  PartTest() : trace_(folder_.path() + "/trace.json") {
    std::ofstream(trace_) << MakeTrace(GetParam());
  }

  std::string Convert(const std::string& from, const std::string& name, const Part& part) const {
    ConvertOptions options;
    options.inputs = {from};
    options.output = folder_.path() + "/" + name;
    options.begin = part.begin;
    options.end = part.end;
    options.steps = part.steps;
    options.threads = 1;
    const Result<ConvertReport> report = borescope::Convert(options);
    EXPECT_TRUE(report.ok()) << report.error().Sentence();
    return options.output;
  }

  // As JSON, or the error without the name of the file.
  static std::string Ask(std::string_view verb, const std::string& file, const Part& part) {
    RunOptions run;
    run.files.push_back({.path = file});
    run.threads = 1;
    run.params.selection.range = TimeRange::Parse(part.begin, part.end).value();
    if (!part.steps.empty()) {
      run.params.selection.steps = NumberRanges::Parse(part.steps).value();
    }
    const Result<AnswerData> answer = RunAnalysis(*FindAnalysis(verb), run);
    if (!answer.ok()) {
      return "error";
    }
    Document document;
    document.tables = answer->document.tables;
    // When a step begins and ends depends on the completion of the step before and on clocks that
    // all waits of a recording determine, which no part holds.
    for (Table& table : document.tables) {
      std::erase_if(table.columns, [](const Column& column) {
        return column.name == "length_ns" || column.name == "waiting_ns" || column.name == "end_ns";
      });
    }
    StringSink sink;
    EXPECT_TRUE(FindTableWriter("json")->write(document, {}, sink).ok());
    return sink.text();
  }

  void ExpectSame(const std::string& whole, const std::string& cut, const Part& part) const {
    for (const std::string_view verb : kVerbs) {
      SCOPED_TRACE(std::string(verb) + ", " + part.Words() + ", " + cut);
      const std::string expected = Ask(verb, whole, part);
      EXPECT_EQ(Ask(verb, cut, {}), expected);
      EXPECT_EQ(Ask(verb, cut, part), expected);
    }
  }

  void Check(const Part& part) const {
    ExpectSame(trace_, Convert(trace_, "cut.json", part), part);
    const std::string whole = Convert(trace_, "whole.rpd", {});
    ExpectSame(whole, Convert(whole, "cut.rpd", part), part);
  }

  const TemporaryFolder folder_ = TemporaryFolder::Make().value();
  const std::string trace_;
};

INSTANTIATE_TEST_SUITE_P(Seeds, PartTest, testing::Values(1, 2));

TEST_P(PartTest, AnswersAreThoseOfTheWholeInAnyWindow) {
  Random random(GetParam());
  const int windows = kSanitized ? 3 : 12;
  for (int i = 0; i < windows; ++i) {
    const int64_t first = random.Between(0, 9'000);
    const int64_t length = random.Between(1, i % 2 == 0 ? 100 : 4'000);
    const auto percent = [](int64_t hundredths) {
      std::string text = std::to_string(hundredths % 100);
      text.insert(0, text.size() == 1 ? "0" : "");
      return std::to_string(hundredths / 100) + "." + text + "%";
    };
    Check({percent(first), percent(std::min<int64_t>(first + length, 10'000)), ""});
  }
}

TEST_P(PartTest, AnswersAreThoseOfTheSteps) {
  Check({"", "", "1"});
  Check({"", "", "1..2"});
  Check({"20%", "70%", "1..3"});
}

// Everything is a part, too; and so is a part of a part.
TEST_P(PartTest, PartsOfPartsAreParts) {
  const Part wide{"10%", "80%", ""};
  const Part narrow{"30%", "55%", ""};
  const std::string cut = Convert(trace_, "wide.json", wide);
  ExpectSame(trace_, Convert(cut, "narrow.json", narrow), narrow);
  ExpectSame(trace_, Convert(trace_, "all.json", {"0%", "100%", ""}), {"0%", "100%", ""});
}

TEST_P(PartTest, WhatIsOutsideOfItIsAnError) {
  const std::string cut = Convert(trace_, "part.json", {"10%", "20%", ""});
  RunOptions run;
  run.files.push_back({.path = cut});
  run.params.selection.range = TimeRange::Parse("50%", "60%").value();
  const Result<AnswerData> answer = RunAnalysis(*FindAnalysis("breakdown"), run);
  ASSERT_FALSE(answer.ok());
  EXPECT_NE(answer.error().Sentence().find("part of a recording"), std::string::npos)
      << answer.error().Sentence();
}

}  // namespace
}  // namespace borescope::internal::testkit
