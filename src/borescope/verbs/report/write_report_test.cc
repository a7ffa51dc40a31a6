// What a report is written to: the page, a card and a text, alone and together.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "borescope/run.h"

namespace borescope {
namespace {

constexpr std::string_view kRecording = R"({"schemaVersion":1,"traceEvents":[
{"ph":"X","cat":"kernel","name":"one_kernel","pid":0,"tid":7,"ts":1,"dur":5,
 "args":{"device":0,"stream":7,"correlation":1}}]})";

class ReportOutputsTest : public testing::Test {
 protected:
  ReportOutputsTest()
      : folder_(testing::TempDir() + "report_outputs_" +
                testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::create_directories(folder_);
    std::ofstream(In("trace.json")) << kRecording;
  }
  ~ReportOutputsTest() override { std::filesystem::remove_all(folder_); }

  std::string In(const std::string& name) const { return folder_ + "/" + name; }

  static std::string ReadText(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }

  Result<std::vector<FileInfo>> Write(const ReportOutputs& outputs) const {
    const Result<borescope::Run> run = borescope::Run::Open({In("trace.json")});
    return run.ok() ? run->WriteReport(outputs) : run.error();
  }

  // What went wrong; empty where nothing did.
  std::string FaultOf(const ReportOutputs& outputs) const {
    const Result<std::vector<FileInfo>> written = Write(outputs);
    return written.ok() ? std::string() : written.error().Sentence();
  }

 private:
  std::string folder_;
};

ReportOutputs CardTo(const std::string& path) {
  ReportOutputs outputs;
  outputs.card = path;
  return outputs;
}

TEST_F(ReportOutputsTest, ACardAloneWritesNoPage) {
  EXPECT_EQ(FaultOf(CardTo(In("card.svg"))), "");
  EXPECT_NE(ReadText(In("card.svg")).find("one_kernel"), std::string::npos);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(In("")),
                          std::filesystem::directory_iterator()),
            2);
}

TEST_F(ReportOutputsTest, AllTogetherAreThoseOfEachAlone) {
  ReportOutputs all = CardTo(In("card.svg"));
  all.page = In("page.html");
  std::string markdown;
  all.markdown = Output::To([&](std::string_view bytes) -> Result<void> {
    markdown += bytes;
    return {};
  });
  ASSERT_EQ(FaultOf(all), "");
  EXPECT_NE(markdown.find("| `one_kernel` | "), std::string::npos) << markdown;
  ASSERT_EQ(FaultOf(CardTo(In("again.svg"))), "");
  EXPECT_EQ(ReadText(In("card.svg")), ReadText(In("again.svg")));
  ReportOutputs page;
  page.page = In("again.html");
  ASSERT_EQ(FaultOf(page), "");
  EXPECT_EQ(ReadText(In("page.html")), ReadText(In("again.html")));
}

TEST_F(ReportOutputsTest, RefusesWhatCannotBeWrittenBeforeAnyWork) {
  EXPECT_NE(FaultOf({}).find("needs a page, a card or a Markdown file"), std::string::npos);
  EXPECT_NE(FaultOf(CardTo(In("card.gif"))).find("end it with .svg or .png"), std::string::npos);
  ReportOutputs twice = CardTo(In("same.svg"));
  twice.page = In("same.svg");
  EXPECT_NE(FaultOf(twice).find("another output of the report"), std::string::npos);
  ReportOutputs input;
  input.markdown = In("trace.json");
  EXPECT_NE(FaultOf(input).find("trace.json"), std::string::npos) << FaultOf(input);
  EXPECT_EQ(ReadText(In("trace.json")), kRecording);
  EXPECT_FALSE(std::filesystem::exists(In("same.svg")));
}

TEST_F(ReportOutputsTest, OfPartsIsTheSame) {
  const Result<borescope::Run> run = borescope::Run::Open({In("trace.json")});
  ASSERT_TRUE(run.ok()) << run.error().Sentence();
  ASSERT_TRUE(run->MapInto(In("parts"), "report").ok());
  const std::string inputs[] = {In("parts")};
  const Result<FoundParts> found = FindParts(inputs);
  ASSERT_TRUE(found.ok()) << found.error().Sentence();
  const Result<std::vector<FileInfo>> written =
      WriteReportOf(found->parts, CardTo(In("parts.svg")));
  ASSERT_TRUE(written.ok()) << written.error().Sentence();
  ASSERT_EQ(FaultOf(CardTo(In("whole.svg"))), "");
  EXPECT_EQ(ReadText(In("parts.svg")), ReadText(In("whole.svg")));
}

}  // namespace
}  // namespace borescope
