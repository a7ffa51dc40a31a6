#include "borescope/engine/question/question.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>

#include "borescope/analysis/core/param_specs.h"
#include "borescope/catalog/catalog.h"
#include "borescope/catalog/pack.h"
#include "borescope/engine/question/registry.h"

namespace borescope::internal {
namespace {

// A value of every parameter that parts keep as text, as people write it.
const std::map<std::string_view, std::string>& Examples() {
  static const std::map<std::string_view, std::string> examples = {
      {"rank", "0,2..4"}, {"step", "3"},   {"step-rule", "time"},     {"step-pattern", "it.*"},
      {"gpu", "0..1"},    {"stream", "7"}, {"annotation", "forward"}, {"instance", "0,2"},
      {"begin", "10%"},   {"end", "-5ms"}, {"by", "step,rank"},       {"compat", "hta"},
      {"all", "true"}};
  return examples;
}

std::map<std::string, std::string> TextsOf(const RunOptions& asked) {
  std::map<std::string, std::string> texts;
  for (const ParameterText& each : SharedTexts(asked.params, asked.ranks)) {
    texts.emplace(each.name, each.text);
  }
  return texts;
}

TEST(Registry, WhatWasReadIsWrittenAsTheSameText) {
  RunOptions asked;
  for (const ParameterRow& row : SharedParameters()) {
    if (row.text == nullptr) continue;
    const auto example = Examples().find(row.name);
    ASSERT_NE(example, Examples().end()) << row.name << " has no example";
    ASSERT_TRUE(row.read(example->second, asked).ok()) << row.name;
  }
  const std::map<std::string, std::string> texts = TextsOf(asked);
  for (const auto& [name, text] : Examples()) {
    EXPECT_EQ(texts.at(std::string(name)), text) << name;
  }
}

TEST(Registry, EachNameIsThereOnce) {
  std::map<std::string_view, int> names;
  for (const ParameterRow& row : SharedParameters()) {
    EXPECT_EQ(++names[row.name], 1) << row.name;
    EXPECT_NE(row.applies, nullptr) << row.name;
    EXPECT_NE(row.read, nullptr) << row.name;
  }
}

TEST(Registry, TasksThatParametersNameAreThere) {
  for (const ParameterRow& row : SharedParameters()) {
    for (std::string_view rest = row.tasks; !rest.empty();) {
      const std::string_view task = rest.substr(0, rest.find(' '));
      rest.remove_prefix(std::min(task.size() + 1, rest.size()));
      EXPECT_NE(FindTask(task), nullptr) << row.name << ": " << task;
    }
  }
}

std::string FaultOf(const Question& question) {
  RunOptions ignored;
  const Result<void> read = ReadQuestion(question, ignored);
  return read.ok() ? "" : read.error().Sentence();
}

TEST(ReadQuestionTest, OfSeveralValuesTheLastCounts) {
  RunOptions asked;
  const Question question("idle", {{"step", "1"},
                                   {"kernel-wait", "5us"},
                                   {"step", "2..3"},
                                   {"kernel_wait", "7us"},
                                   {"top", "4"}});
  ASSERT_TRUE(ReadQuestion(question, asked).ok());
  EXPECT_EQ(TextsOf(asked).at("step"), "2..3");
  ASSERT_EQ(asked.params.values.size(), 1U);
  EXPECT_EQ(asked.params.values[0].number, 7000);
  EXPECT_EQ(asked.top, 4U);
}

TEST(ReadQuestionTest, AFlagCanBeTakenBack) {
  RunOptions asked;
  ASSERT_TRUE(ReadQuestion(Question("kernels", {{"all", "true"}, {"all", "0"}}), asked).ok());
  EXPECT_FALSE(asked.params.all);
  EXPECT_EQ(FaultOf(Question("kernels", {{"all", "maybe"}})),
            "`all`: 'maybe' is neither true nor false");
}

TEST(ReadQuestionTest, OfTwoRunsTheOwnSelectionGoesFirst) {
  RunOptions asked;
  ASSERT_TRUE(
      ReadQuestion(Question("diff", {{"test_rank", "9"}, {"rank", "1"}, {"base_step", "2"}}), asked)
          .ok());
  EXPECT_TRUE(asked.ranks.Contains(1));
  EXPECT_TRUE(asked.test.ranks.Contains(9));
  EXPECT_FALSE(asked.test.ranks.Contains(1));
  EXPECT_TRUE(asked.params.selection.steps.Contains(2));
  EXPECT_TRUE(asked.test.steps.empty());
}

TEST(ReadQuestionTest, TheTimelineIsOfTheReportAlone) {
  RunOptions asked;
  ASSERT_TRUE(ReadQuestion(Question("report", {{"timeline", "full"}}), asked).ok());
  EXPECT_EQ(asked.timeline, "full");
  EXPECT_EQ(FaultOf(Question("report", {{"timeline", "all"}})),
            "`timeline`: 'all' is not one of window, full, off");
  EXPECT_NE(FaultOf(Question("summary", {{"timeline", "full"}})), "");
}

TEST(ReadQuestionTest, TasksRefuseWhatTheyDoNotUse) {
  for (const std::string task : {"report", "check"}) {
    for (const std::string name : {"sort", "price", "compat"}) {
      const std::string fault = FaultOf(Question(task, {{name, "true"}}));
      EXPECT_TRUE(fault.starts_with("`" + name + "`: no such parameter of " + task)) << fault;
    }
    EXPECT_EQ(FaultOf(Question(task, {{"step", "3"}, {"plain_step", "5ms"}})), "");
  }
  EXPECT_EQ(FaultOf(Question("report", {{"top", "3"}})), "");
}

TEST(ReadQuestionTest, MistakesAreNamed) {
  EXPECT_EQ(FaultOf("idel"), "unknown verb 'idel'; did you mean 'idle'?");
  EXPECT_EQ(FaultOf(Question("idle", {{"kernel_wiat", "1us"}})),
            "`kernel_wiat`: no such parameter of idle; did you mean 'kernel_wait'?");
  EXPECT_EQ(FaultOf(Question("idle", {{"instance", "0"}})),
            "`instance` counts occurrences of an annotation; name it with `annotation`");
}

TEST(ReadQuestionTest, ToolsAreNamed) {
  if (Packs().empty()) GTEST_SKIP() << "a build without packs";
  EXPECT_EQ(FaultOf(Question("idle", {{"compat", "vtune"}})),
            "`compat`: unknown tool 'vtune'; tools are hta, rpd, inductor, key_averages, pyprof");
}

// A file of its own for each test.
std::string WriteFile(const std::string& text) {
  const std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
  const auto path = std::filesystem::path(::testing::TempDir()) / ("param_files_" + name);
  std::ofstream(path) << text;
  return path.string();
}

Result<void> Read(Params& params) {
  const AnalysisSpec* const specs[] = {FindAnalysis("busy"), FindAnalysis("kernels")};
  return ReadParamFiles(specs, params);
}

TEST(ParamFilesTest, TheTextIsInTheValue) {
  Params params;
  params.values.push_back(ParseParam(kPatternsParam, WriteFile("{}\n")).value());
  ASSERT_TRUE(Read(params).ok());
  EXPECT_EQ(*params.Content(kPatternsParam), "{}\n");
}

TEST(ParamFilesTest, ErrorsNameOptionAndFile) {
  Params params;
  params.values.push_back(ParseParam(kPatternsParam, "/no/such/file").value());
  const Result<void> missing = Read(params);
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().Sentence(),
            "`patterns`: /no/such/file: No such file or directory; check the name and its "
            "permissions");
  params.values.back().text = WriteFile(std::string((1 << 20) + 1, ' '));
  const Result<void> large = Read(params);
  ASSERT_FALSE(large.ok());
  EXPECT_EQ(large.error().Sentence(), "`patterns`: " + params.values.back().text +
                                          ": larger than 1 MiB; is it the right file?");
}

TEST(ParamFilesTest, NothingIsReadThatWasNotAskedFor) {
  Params params;
  EXPECT_TRUE(Read(params).ok());
  EXPECT_EQ(params.Content(kPatternsParam), nullptr);
}

}  // namespace
}  // namespace borescope::internal
