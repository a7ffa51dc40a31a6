#include "borescope/verbs/report/report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <variant>
#include <vector>

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
    std::ofstream(path_) << kTrace;
  }
  ~RunReportTest() override { std::filesystem::remove_all(folder_); }

  RunOptions Options() const {
    const std::string inputs[] = {path_};
    RunOptions options;
    options.files = *ExpandInputs(inputs);
    return options;
  }

 private:
  std::string folder_;
  std::string path_;
};

TEST_F(RunReportTest, SectionsHaveTablesOrSayWhatToRecord) {
  const Result<Report> report = RunReport(Options());
  ASSERT_TRUE(report.ok()) << report.error().message;
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

// Nothing is known of the kernel's launch, nor are there steps.
TEST_F(RunReportTest, ARefusedReplayAndMissingStepsAreWhatToRecord) {
  const Result<Report> report = RunReport(Options());
  ASSERT_TRUE(report.ok()) << report.error().message;
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
  ASSERT_TRUE(report.ok()) << report.error().message;
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
  ASSERT_TRUE(report.ok()) << report.error().message;
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
  ASSERT_TRUE(report.ok()) << report.error().message;
  for (const Table& table : report->page.document.tables) {
    EXPECT_LE(table.rows(), 1U) << table.name;
  }
}

}  // namespace
}  // namespace borescope::internal
