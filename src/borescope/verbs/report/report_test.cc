#include "borescope/verbs/report/report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "borescope/base/io/byte_source.h"
#include "borescope/catalog/report_sections.h"
#include "borescope/output/sink/sink.h"
#include "borescope/output/writer.h"

namespace borescope::internal {
namespace {

// A kernel of which nothing but its time is known.
constexpr std::string_view kTrace = R"({"schemaVersion":1,"traceEvents":[
{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":5,
 "args":{"device":0,"stream":7,"correlation":1}}]})";

class RunReportTest : public testing::Test {
 protected:
  // A folder for each test: several run at once.
  RunReportTest()
      : folder_(testing::TempDir() + "run_report_test_" +
                testing::UnitTest::GetInstance()->current_test_info()->name()),
        path_(folder_ + "/run_report_test.json") {
    std::filesystem::create_directories(folder_);
    Record(kTrace);
  }
  ~RunReportTest() override { std::filesystem::remove_all(folder_); }

  RunOptions Options() const {
    const std::string inputs[] = {path_};
    RunOptions options;
    options.files = *ExpandInputs(inputs);
    return options;
  }

  void Record(std::string_view trace) const { std::ofstream(path_) << trace; }

 private:
  std::string folder_;
  std::string path_;
};

TEST_F(RunReportTest, SectionsHaveTablesOrSayWhatToRecord) {
  const Result<Report> report = RunReport(Options());
  ASSERT_TRUE(report.ok()) << report.error().Sentence();
  const ReportPage& page = report->page;
  EXPECT_EQ(page.title, "run_report_test.json");
  EXPECT_EQ(page.all_rows.size(), page.document.tables.size());
  size_t tables = 0;
  for (const ReportSection& section : page.sections) {
    EXPECT_NE(section.table_count == 0, section.lack.empty()) << section.name;
    EXPECT_EQ(section.table_count == 0 ? tables : section.first_table, tables);
    tables += section.table_count;
  }
  EXPECT_EQ(tables, page.document.tables.size());
}

const std::string& LackOf(std::string_view verb, const ReportPage& page) {
  const auto found =
      std::find_if(page.sections.begin(), page.sections.end(),
                   [&](const ReportSection& section) { return section.name == verb; });
  EXPECT_NE(found, page.sections.end());
  return found->lack;
}

// An operator that launches a kernel and waits for it, in two steps.
constexpr std::string_view kSteps = R"({"traceEvents":[
{"ph":"X","cat":"user_annotation","name":"ProfilerStep#1","pid":1,"tid":1,"ts":0,"dur":50},
{"ph":"X","cat":"user_annotation","name":"ProfilerStep#2","pid":1,"tid":1,"ts":50,"dur":50},
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":2,"dur":45,"args":{"External id":1}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":4,"dur":3,
 "args":{"correlation":1}},
{"ph":"X","cat":"cuda_runtime","name":"cudaDeviceSynchronize","pid":1,"tid":1,"ts":8,"dur":30,
 "args":{"correlation":2}},
{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":10,"dur":25,
 "args":{"device":0,"stream":7,"correlation":1}}]})";

std::string Json(const Table& table) {
  Document document;
  document.tables.push_back(table);
  StringSink sink;
  EXPECT_TRUE(FindTableWriter("json")->write(document, {}, sink).ok());
  return sink.text();
}

// What is left without rows for the page is not on it.
TEST_F(RunReportTest, OfWhatThePageShowsTheVerbSaysTheSame) {
  Record(kSteps);
  size_t compared = 0;
  size_t spared = 0;
  for (const SectionSpec& section : ReportSections()) {
    RunOptions options = Options();
    options.params = ReportParams();
    options.params.for_page = false;
    const Result<AnswerData> verb = RunAnalysis(*section.analysis, options);
    options.params.for_page = true;
    const Result<AnswerData> page = RunAnalysis(*section.analysis, options);
    ASSERT_EQ(verb.ok(), page.ok()) << section.analysis->name;
    for (size_t i = 0; verb.ok() && i < verb->document.tables.size(); ++i) {
      const Table& table = verb->document.tables[i];
      const bool is_shown = section.tables.empty() ||
                            std::find(section.tables.begin(), section.tables.end(), table.name) !=
                                section.tables.end();
      const std::string asked = Json(page->document.tables[i]);
      compared += is_shown ? 1 : 0;
      spared += Json(table) == asked ? 0 : 1;
      EXPECT_TRUE(!is_shown || Json(table) == asked) << table.name;
    }
  }
  EXPECT_GT(compared, 20U);
  EXPECT_GE(spared, 3U);  // the path, slack, launches
}

// Nothing is known of the kernel's launch, nor are there steps.
TEST_F(RunReportTest, ARefusedReplayAndMissingStepsAreWhatToRecord) {
  const Result<Report> report = RunReport(Options());
  ASSERT_TRUE(report.ok()) << report.error().Sentence();
  EXPECT_TRUE(LackOf("whatif", report->page)
                  .starts_with("no answer: the replay does not give this recording back"))
      << LackOf("whatif", report->page);
  EXPECT_NE(LackOf("whatif", report->page).find("has no recorded launch"), std::string::npos);
  EXPECT_NE(LackOf("variance", report->page), "");
}

TEST_F(RunReportTest, SectionsThatNeedAllOfTheRecordingSaySoOfASelection) {
  RunOptions options = Options();
  options.params.selection.gpus.ranges = {{0, 0}};
  const Result<Report> report = RunReport(options);
  ASSERT_TRUE(report.ok()) << report.error().Sentence();
  EXPECT_TRUE(LackOf("whatif", report->page).starts_with("whatif: a replay needs all"));
  EXPECT_TRUE(LackOf("critical-path", report->page).starts_with("critical-path: --gpu"));
}

TEST_F(RunReportTest, NothingSelectedIsAnError) {
  RunOptions options = Options();
  options.params.selection.steps.ranges = {{7, 7}};
  const Result<Report> report = RunReport(options);
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().code, ErrorCode::kMissingData);
}

const Table* FindTable(const ReportPage& page, std::string_view name) {
  for (const Table& table : page.document.tables) {
    if (table.name == name) {
      return &table;
    }
  }
  return nullptr;
}

TEST_F(RunReportTest, ComparesEverySectionWithAnotherRun) {
  RunOptions options = Options();
  options.test.files = options.files;
  const Result<Report> report = RunReport(options);
  ASSERT_TRUE(report.ok()) << report.error().Sentence();
  const ReportPage& page = report->page;
  EXPECT_EQ(page.sections[1].name, "diff");
  EXPECT_EQ(page.against, "run_report_test.json");
  EXPECT_EQ(report->files.size(), 2U);
  ASSERT_EQ(page.comparisons.size(), page.document.tables.size());
  ASSERT_EQ(page.all_rows.size(), page.document.tables.size());
  for (const ReportSection& section : page.sections) {
    for (size_t i = 0; i < section.table_count; ++i) {
      const size_t at = section.first_table + i;
      const bool is_matched = page.comparisons[at] == Comparison::kMatched;
      ASSERT_EQ(page.comparisons[at] == Comparison::kNone, section.name == "diff");
      const Table& table = page.document.tables[at];
      EXPECT_TRUE(section.name == "diff" || table.Find(is_matched ? kRunsColumn : kRunColumn))
          << table.name;
    }
  }
  const Table* kernels = FindTable(page, "kernels");
  ASSERT_NE(kernels, nullptr);
  EXPECT_EQ(std::get<IntValues>(kernels->Find("against_total_ns")->values), IntValues{5000});
  EXPECT_EQ(std::get<IntValues>(kernels->Find("change_total_ns")->values), IntValues{0});
}

// Its questions come in two turns; bytes are read in one.
TEST_F(RunReportTest, EachOfTwoRunsIsLoadedOnce) {
  const auto counted = [](std::vector<InputFile> files, int& count) {
    for (InputFile& file : files) {
      file.content = [&count] {
        ++count;
        return Result<std::unique_ptr<ByteSource>>(OpenMemory(kTrace));
      };
    }
    return files;
  };
  int mine = 0;
  int other = 0;
  RunOptions options = Options();
  options.test.files = counted(options.files, other);
  options.files = counted(options.files, mine);
  const Result<Report> report = RunReport(options);
  ASSERT_TRUE(report.ok()) << report.error().Sentence();
  EXPECT_EQ(mine, 1);
  EXPECT_EQ(other, 1);
}

TEST_F(RunReportTest, ProgressOfTwoRunsIsThatOfOneWork) {
  RunOptions options = Options();
  options.test.files = options.files;
  std::vector<Progress> told;
  options.progress = [&](const Progress& progress) { told.push_back(progress); };
  ASSERT_TRUE(RunReport(options).ok());
  ASSERT_FALSE(told.empty());
  for (size_t i = 1; i < told.size(); ++i) {
    EXPECT_GE(told[i].done_bytes, told[i - 1].done_bytes);
    EXPECT_EQ(told[i].total_files, 2U);
  }
  EXPECT_EQ(told.back().done_files, 2U);
}

TEST_F(RunReportTest, TopLimitsEveryTable) {
  RunOptions options = Options();
  options.top = 1;
  const Result<Report> report = RunReport(options);
  ASSERT_TRUE(report.ok()) << report.error().Sentence();
  for (const Table& table : report->page.document.tables) {
    EXPECT_LE(table.rows(), 1U) << table.name;
  }
}

}  // namespace
}  // namespace borescope::internal
