#include "borescope/output.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "borescope/answer.h"
#include "borescope/base/io/temporary_folder.h"

namespace borescope {
namespace {

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
