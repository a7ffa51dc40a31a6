#include "borescope/answer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "borescope/base/io/temporary_folder.h"
#include "borescope/output.h"
#include "borescope/run.h"

namespace borescope {

namespace {

// A recording with one kernel of 3 us, whose launch is missing.
Result<Answer> AskOneKernel(std::string_view verb) {
  const auto bytes = std::make_shared<const std::string>(
      R"({"traceEvents":[{"ph":"X","cat":"kernel","name":"ncclDevKernel_AllReduce","pid":0,"tid":7,)"
      R"("ts":10,"dur":3,"args":{"device":0,"stream":7,"correlation":7}}]})");
  const Result<Run> run = Run::Open({Source::Memory("rank-0.json", bytes)});
  EXPECT_TRUE(run.ok());
  return run->Ask(verb);
}

TEST(Answer, IsReadBackFromItsJson) {
  for (const char* verb : {"kernels", "breakdown", "summary", "flame"}) {
    const Result<Answer> answer = AskOneKernel(verb);
    ASSERT_TRUE(answer.ok()) << answer.error().Sentence();
    const Result<Answer> read = Answer::ParseJson(*answer->Render("json"));
    ASSERT_TRUE(read.ok()) << read.error().Sentence();
    EXPECT_EQ(*read->Render("json"), *answer->Render("json"));
    EXPECT_EQ(*read->Render("csv"), *answer->Render("csv"));
    EXPECT_EQ(read->diagnostics().size(), answer->diagnostics().size());
    EXPECT_TRUE(read->files().empty());
  }
}

TEST(Answer, ReadBackHasTheColumnsOfTheOriginal) {
  const Result<Answer> answer = AskOneKernel("kernels");
  ASSERT_TRUE(answer.ok());
  const Result<Answer> read = Answer::ParseJson(*answer->Render("json"));
  ASSERT_TRUE(read.ok());
  Table table;
  Column total;
  ASSERT_TRUE(read->Find("kernels", &table));
  ASSERT_TRUE(table.Find("total_ns", &total));
  EXPECT_EQ(total.Int(0), 3000);
  EXPECT_EQ(total.role(), "sum");
  EXPECT_EQ(total.unit(), "ns");
}

TEST(Answer, OnlyOneTableOrSomeOfItsRows) {
  const Result<Answer> answer = AskOneKernel("kernels");
  ASSERT_TRUE(answer.ok());
  ASSERT_GT(answer->tables().size(), 1U);
  const Answer only = answer->Only("kernels");
  ASSERT_EQ(only.tables().size(), 1U);
  EXPECT_EQ(only.tables()[0].num_rows(), 1U);
  EXPECT_EQ(only.diagnostics().size(), answer->diagnostics().size());
  EXPECT_EQ(only.files().size(), 1U);
  EXPECT_EQ(answer->Only("kernels", 0, 0).tables()[0].num_rows(), 0U);
  EXPECT_EQ(answer->Only("kernels", 1).tables()[0].num_rows(), 0U);
  EXPECT_EQ(answer->Only("kernels", 9, 9).tables()[0].num_rows(), 0U);
  EXPECT_TRUE(answer->Only("no such table").tables().empty());
}

TEST(Answer, OnlyTakesRowsFromTheMiddle) {
  const ListedTable texts[] = {{"letters", "", {{"letter", "", true, {"a", "b", "c", "d"}}}}};
  const Answer middle = Answer::OfTexts(texts).Only("letters", 1, 2);
  const Column letters = middle.tables()[0].column(0);
  ASSERT_EQ(letters.size(), 2U);
  EXPECT_EQ(letters.Text(0), "b");
  EXPECT_EQ(letters.Text(1), "c");
}

TEST(Answer, OtherTextIsAnErrorWithItsPlace) {
  const Result<Answer> cut = Answer::ParseJson(R"({"schema":2,"tables":[)");
  ASSERT_FALSE(cut.ok());
  EXPECT_EQ(cut.error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(cut.error().offset, 22U);
  EXPECT_EQ(cut.error().cause, "the text ends too early");
  const Result<Answer> other = Answer::ParseJson(R"({"traceEvents":[]})");
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().code, ErrorCode::kUnsupportedFormat);
  EXPECT_FALSE(other.error().remedy.empty());
}

Answer TwoShells() {
  const ListedTable shells{"shells",
                           "What there is",
                           {{"name", "Of the shell.", true, {"bash", "fish"}},
                            {"summary", "What it is.", false, {"old", "new"}}}};
  return Answer::OfTexts({&shells, 1});
}

std::string ContentOf(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST(OutputTest, FunctionsAndFilesGetTheBytesOfRender) {
  const internal::TemporaryFolder folder = internal::TemporaryFolder::Make().value();
  const std::string path = folder.path() + "/shells.json";
  const Answer answer = TwoShells();
  std::string bytes;
  const Output function = Output::To([&](std::string_view piece) -> Result<void> {
    bytes += piece;
    return {};
  });
  ASSERT_TRUE(answer.Write("json", function).ok());
  const Result<std::vector<std::string>> files = answer.Write("json", path);
  ASSERT_TRUE(files.ok()) << files.error().Sentence();
  EXPECT_EQ(*files, std::vector<std::string>{path});
  EXPECT_EQ(bytes, *answer.Render("json"));
  EXPECT_EQ(bytes, ContentOf(path));
  EXPECT_NE(bytes.find("fish"), std::string::npos);
}

TEST(OutputTest, TheErrorOfAFunctionEndsTheWriting) {
  const Output full = Output::To([](std::string_view) -> Result<void> {
    return Error{.code = ErrorCode::kIo, .cause = "no room", .remedy = "make some"};
  });
  const Result<std::vector<std::string>> written = TwoShells().Write("csv", full);
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.error().Sentence(), "no room; make some");
  EXPECT_EQ(TwoShells().Write("cvs", full).error().parameter, "format");
}

TEST(OutputTest, AFileThatCannotBeWrittenIsNamed) {
  const Result<std::vector<std::string>> written =
      TwoShells().Write("csv", "/no/such/folder/x.csv");
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.error().file, "/no/such/folder/x.csv");
}

TEST(OutputTest, NoInputMayBeAnOutput) {
  const internal::TemporaryFolder folder = internal::TemporaryFolder::Make().value();
  const std::string input = folder.path() + "/a.json";
  std::ofstream(input) << "{}";
  std::filesystem::create_symlink(input, folder.path() + "/link");
  const std::string inputs[] = {folder.path()};
  EXPECT_TRUE(CheckOutput("", inputs).ok());
  EXPECT_TRUE(CheckOutput(folder.path() + "/b.json", inputs).ok());
  const Result<void> checked = CheckOutput(folder.path() + "/link", inputs);
  ASSERT_FALSE(checked.ok());
  EXPECT_EQ(checked.error().code, ErrorCode::kInvalidArgument);
}

TEST(OutputTest, ADescriptorReportsAReaderThatIsGone) {
  std::signal(SIGPIPE, SIG_IGN);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  DescriptorWriter writer(ends[1], "standard output");
  EXPECT_TRUE(writer.Write("x").ok());
  close(ends[0]);
  EXPECT_FALSE(writer.Write("x").ok());
  EXPECT_TRUE(writer.reader_is_gone());
  close(ends[1]);
}

TEST(OutputTest, DiagnosticsAreTextForPeople) {
  const Diagnostic odd{Severity::kWarning, "unlinked-device-event", 7, "a.json", "", "Counted."};
  const std::string text = RenderDiagnostics({&odd, 1});
  EXPECT_NE(text.find("unlinked-device-event"), std::string::npos);
  EXPECT_NE(text.find('7'), std::string::npos);
  EXPECT_EQ(RenderDiagnostics({}), "");
  EXPECT_TRUE(TwoShells().CarriesDiagnostics("json"));
}

}  // namespace

}  // namespace borescope
