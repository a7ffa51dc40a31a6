#include "borescope/engine/analyse_bytes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "borescope/catalog/catalog.h"
#include "borescope/engine/check_request.h"
#include "borescope/engine/map_files.h"
#include "borescope/index/trace_index.h"
#include "borescope/ingest/load.h"
#include "borescope/output/text/text_layout.h"

namespace borescope::internal {
namespace {

constexpr std::string_view kTrace =
    R"({"distributedInfo":{"rank":0},"traceEvents":[{"ph":"X","cat":"kernel","name":"k","pid":0,)"
    R"("tid":7,"ts":10,"dur":5,"args":{"device":0,"stream":7,"correlation":1}}]})";

TEST(AnalyseBytes, RunsEveryAnalysisInEveryModeInTurn) {
  size_t modes = 0;
  for (const AnalysisSpec* spec : Analyses()) {
    modes += AllModes(*spec).size();
  }
  std::set<std::string> tables;
  for (size_t which = 0; which < modes; ++which) {
    const Result<Document> document = AnalyseBytes(kTrace, "x.json", 1, which);
    ASSERT_TRUE(document.ok()) << document.error().Sentence();
    for (const Table& table : document->tables) {
      tables.insert(table.name);
    }
    const Result<Document> again = AnalyseBytes(kTrace, "x.json", 1, which + modes);
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(again->tables.size(), document->tables.size()) << which;
  }
  for (const char* table : {"breakdown", "kernels", "critical_path_summary", "top"}) {
    EXPECT_TRUE(tables.contains(table)) << table;
  }
  EXPECT_FALSE(AnalyseBytes("", "x.json", 1, 0).ok());
}

// As text shows them: with the unit below, and not in the heading.
TEST(AnalyseBytes, NoTwoColumnsOfATableHaveOneHeading) {
  size_t modes = 0;
  for (const AnalysisSpec* spec : Analyses()) {
    modes += AllModes(*spec).size();
  }
  for (size_t which = 0; which < modes; ++which) {
    const Result<Document> document = AnalyseBytes(kTrace, "x.json", 1, which);
    ASSERT_TRUE(document.ok()) << document.error().Sentence();
    for (const Table& table : document->tables) {
      std::set<std::string> headings;
      for (const TextColumn& column : MakeColumns(table, 80)) {
        EXPECT_TRUE(headings.insert(column.heading).second) << table.name << ": " << column.heading;
        const bool is_time = column.source->unit == Unit::kNanoseconds;
        EXPECT_FALSE(is_time && column.heading == "calls") << table.name;
      }
    }
  }
}

bool HasOption(const std::vector<Params>& modes, std::string_view option) {
  return std::any_of(modes.begin(), modes.end(), [&](const Params& mode) {
    return std::any_of(mode.values.begin(), mode.values.end(),
                       [&](const ParamValue& value) { return value.name == option; });
  });
}

// Else fuzzing would pass over what the options lead to.
TEST(AllModes, AreWhatAnalysesTakeAndHoldEveryOption) {
  for (const AnalysisSpec* spec : Analyses()) {
    const std::vector<Params> modes = AllModes(*spec);
    for (const Params& mode : modes) {
      const Result<void> checked = CheckOptions(*spec, mode);
      EXPECT_TRUE(checked.ok()) << spec->name << ": " << checked.error().Sentence();
    }
    for (const ParamSpec* option : spec->params) {
      EXPECT_TRUE(HasOption(modes, option->name)) << spec->name << " --" << option->name;
    }
  }
}

// Of every type, and none of those that analyses have today.
constexpr ParamSpec kNewOptions[] = {
    {"flag", "", "", ParamType::kFlag},
    {"count", "N", "", ParamType::kCount, 1},
    {"number", "N", "", ParamType::kNumber},
    {"time", "TIME", "", ParamType::kTime, 30'000},
    {"times", "TIMES", "", ParamType::kTimes, 0, "10us,1ms"},
    {"share", "SHARE", "", ParamType::kShare},
    {"choice", "one|two|three", "", ParamType::kChoice, 0, "one"},
    {"only", "one", "", ParamType::kChoice, 0, "one"},
    {"file", "FILE", "", ParamType::kFile},
    {"folder", "DIR", "", ParamType::kFolder},
    {"text", "TEXT", "", ParamType::kText},
};

// A new option needs nothing here but its row and its name in AnalysisSpec::params.
TEST(AllModes, AskForNewOptionsOfEveryType) {
  std::vector<const ParamSpec*> params;
  for (const ParamSpec& option : kNewOptions) {
    params.push_back(&option);
  }
  AnalysisSpec spec;
  spec.name = "new";
  spec.params = params;
  const std::vector<Params> modes = AllModes(spec);
  for (const ParamSpec& option : kNewOptions) {
    EXPECT_TRUE(HasOption(modes, option.name)) << option.name;
  }
  const bool is_other = std::any_of(modes.begin(), modes.end(), [](const Params& mode) {
    return mode.Text(kNewOptions[6]) == "two";
  });
  EXPECT_TRUE(is_other) << "a choice is asked for as something else than its default";
}

TEST(AllModes, FailOnlyWhereDataIsMissing) {
  const Trace trace = std::move(LoadBytes(kTrace, "x.json", {})).value();
  const TraceIndex index = BuildIndex(trace, 1);
  for (const AnalysisSpec* spec : Analyses()) {
    for (const Params& mode : AllModes(*spec)) {
      const Result<Tables> findings = MapTrace(*spec, mode, {0, trace, index});
      EXPECT_TRUE(findings.ok() || findings.error().code == ErrorCode::kMissingData)
          << spec->name << ": " << findings.error().Sentence();
    }
  }
}

}  // namespace
}  // namespace borescope::internal
