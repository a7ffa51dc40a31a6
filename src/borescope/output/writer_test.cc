#include "borescope/output/writer.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>

#include "borescope/base/version.h"

namespace borescope::internal {
namespace {

namespace fs = std::filesystem;
using Paths = std::vector<std::string>;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Document SmallDocument() {
  Document document;
  Table& table = document.tables.emplace_back(Table{"kernels", "Device time per kernel", {}});
  table.columns.reserve(4);
  Column& name = AddString(table, "name", Role::kKey, "Name as recorded.");
  Column& total = AddInt(table, "total_ns", Unit::kNanoseconds, Role::kSum, "Sum of durations.");
  Column& share = AddFloat(table, "share", Unit::kShare, Role::kDerived, "Part of all.");
  Column& linked = AddBool(table, "linked", Role::kDerived, "Has a launch.");
  Push(name, "void f<int, \"x\">()");
  Push(total, int64_t{1500});
  Push(share, 1.0);
  Push(linked, true);
  Push(name, "g\n\xFF");
  PushMissing(total);
  Push(share, kNan);
  Push(linked, false);
  document.diagnostics = {{Severity::kWarning, "clock-jump", 3, "rank0.json", "byte 7: k", "Why."}};
  return document;
}

std::string Written(std::string_view format, const Document& document) {
  StringSink sink;
  EXPECT_TRUE(FindTableWriter(format)->write(document, {}, sink).ok());
  return sink.text();
}

TEST(Writer, JsonHasTheShapeOfTheContract) {
  Document document = SmallDocument();
  std::vector<Column>& columns = document.tables[0].columns;
  std::get<StringValues>(columns[0].values) = {};
  Push(columns[0], "ncclDevKernel()");
  Push(columns[0], "g\n\xFF");
  columns[0].hints = {.palette = Palette::kWork, .names = true};
  columns[1].hints.tone = Tone::kIdle;
  const std::string head = "{\"borescope\":\"" + std::string(Version()) + "\",\"schema\":2,\n";
  EXPECT_EQ(Written("json", document), head + R"json( "tables":[
  {"name":"kernels","title":"Device time per kernel","columns":[
    {"name":"name","type":"string","unit":null,"role":"key","doc":"Name as recorded.","hints":{"palette":"work","tones":{"ncclDevKernel()":"comm"},"names":true},"values":["ncclDevKernel()","g\n)json"
                                              "\uFFFD"
                                              R"json("]},
    {"name":"total_ns","type":"int","unit":"ns","role":"sum","doc":"Sum of durations.","hints":{"tone":"idle"},"values":[1500,null]},
    {"name":"share","type":"float","unit":"share","role":"derived","doc":"Part of all.","values":[1.0,null]},
    {"name":"linked","type":"bool","unit":null,"role":"derived","doc":"Has a launch.","values":[true,false]}]}],
 "diagnostics":[
  {"code":"clock-jump","severity":"warning","count":3,"file":"rank0.json","first":"byte 7: k","help":"Why."}]}
)json");
  EXPECT_EQ(Written("json", {}), head + " \"tables\":[],\n \"diagnostics\":[]}\n");
}

// In the page texts that recur are there once; few rows, and texts that differ, are unchanged.
TEST(Writer, PackedJsonHasRecurringTextsOnce) {
  Document document;
  Table& table = document.tables.emplace_back(Table{"t", "T", {}});
  table.columns.reserve(2);
  Column& kind = AddString(table, "kind", Role::kKey, "");
  Column& name = AddString(table, "name", Role::kKey, "");
  for (int64_t row = 0; row < 8; ++row) {
    row == 2 ? PushMissing(kind) : Push(kind, row % 2 == 0 ? "gemm" : "</copy>");
    Push(name, std::string_view("k" + std::to_string(row)));
  }
  StringSink packed;
  ASSERT_TRUE(WritePackedJson(document, packed).ok());
  EXPECT_NE(packed.text().find(R"("texts":["gemm","</copy>",""],"cells":[0,1,null,1,0,1,0,1])"),
            std::string::npos)
      << packed.text();
  EXPECT_NE(packed.text().find(R"("values":["k0","k1","k2","k3","k4","k5","k6","k7"])"),
            std::string::npos)
      << packed.text();
  StringSink small;
  StringSink plain;
  ASSERT_TRUE(WritePackedJson(SmallDocument(), small).ok());
  ASSERT_TRUE(WriteJson(SmallDocument(), {}, plain).ok());
  EXPECT_EQ(small.text(), plain.text());
}

TEST(Writer, CsvQuotesAndLeavesMissingCellsEmpty) {
  EXPECT_EQ(Written("csv", SmallDocument()),
            "# kernels\n"
            "name,total_ns,share,linked\n"
            "\"void f<int, \"\"x\"\">()\",1500,1.0,true\n"
            "\"g\n\uFFFD\",,,false\n");
}

TEST(Writer, CsvForATerminalHasNoControlCharacters) {
  Table table{"names", "Names", {}};
  Column& names = AddString(table, "name", Role::kKey, "");
  for (const char* name : {"\x1b[31mred", "=1+1", "a=1"}) {
    Push(names, name);
  }
  const auto written = [&](const WriteOptions& options) {
    StringSink sink;
    EXPECT_TRUE(WriteCsvTable(table, options, sink).ok());
    return sink.text();
  };
  EXPECT_EQ(written({}), "name\n\x1b[31mred\n=1+1\na=1\n");
  EXPECT_EQ(written({.printable = true}), "name\n\uFFFD[31mred\n=1+1\na=1\n");
  EXPECT_EQ(written({.guard_formulas = true}), "name\n\x1b[31mred\n'=1+1\na=1\n");
}

// As it is for programs that read it; marked where it was asked to be safe to show.
TEST(Writer, CommandsOfBuildServersInCsv) {
  Table table{"names", "Names", {}};
  Column& names = AddString(table, "name", Role::kKey, "");
  for (const char* name : {"::error a", "a ##vso[b]##[c]", "::at::f", "## a ##"}) {
    Push(names, name);
  }
  const auto written = [&](const WriteOptions& options) {
    StringSink sink;
    EXPECT_TRUE(WriteCsvTable(table, options, sink).ok());
    return sink.text();
  };
  EXPECT_EQ(written({}), "name\n::error a\na ##vso[b]##[c]\n::at::f\n## a ##\n");
  EXPECT_EQ(written({.guard_formulas = true}),
            "name\n'::error a\na #'#vso[b]#'#[c]\n::at::f\n## a ##\n");
  // Lines begin within a text, too, after blanks, and where readers differ about what ends one.
  Table lines{"lines", "Lines", {}};
  Column& texts = AddString(lines, "name", Role::kKey, "");
  for (const char* text :
       {"\n::set-output name=a::b", "\v::error::c", "\r::stop-commands::d", "e\n \t::error::f",
        "\u0085::error::g", "h::error::i", "::Error::j", "\u3000::ADD-MASK::k", "l ##VSO[m]"}) {
    Push(texts, text);
  }
  StringSink sink;
  EXPECT_TRUE(WriteCsvTable(lines, {.guard_formulas = true}, sink).ok());
  EXPECT_EQ(sink.text(),
            "name\n\"\n'::set-output name=a::b\"\n\v'::error::c\n\"'\r'::stop-commands::d\"\n"
            "\"e\n \t'::error::f\"\n\u0085'::error::g\nh::error::i\n'::Error::j\n"
            "\u3000'::ADD-MASK::k\nl #'#VSO[m]\n");
}

TEST(Writer, JsonForATerminalShowsWhatItHolds) {
  Document document = SmallDocument();
  document.tables.front().name = "a\u009b31m\u202eb\U000E0041\u00e4";
  StringSink plain;
  ASSERT_TRUE(WriteJson(document, {}, plain).ok());
  EXPECT_NE(plain.text().find("a\u009b31m\u202eb\U000E0041\u00e4"), std::string::npos);
  StringSink shown;
  ASSERT_TRUE(WriteJson(document, {.printable = true}, shown).ok());
  EXPECT_NE(shown.text().find("a\\u009b31m\\u202eb\\udb40\\udc41\u00e4"), std::string::npos)
      << shown.text().substr(0, 300);
}

TEST(Writer, TextEndsWithTheQualityOfTheData) {
  EXPECT_EQ(Written("text", SmallDocument()),
            "Device time per kernel\n"
            "name                total  share  linked\n"
            "                       us      %\n"
            "────────────────────────────────────────\n"
            "void f<int, \"x\">()  1.500  100.0     yes\n"
            "g \uFFFD                     -      -      no\n"
            "\n"
            "Data quality\n"
            "severity  count  what              first\n"
            "────────────────────────────────────────────\n"
            "warning       3  clock-jump  Why.  byte 7: k\n");
}

TEST(Writer, QualityJoinsFilesAndPutsTheWorstFirst) {
  Document document;
  Diagnostics a;
  a.CountMany(Diag::kStreamOverlap, 2);
  a.Count(Diag::kTruncatedFile, 812, "inside \"traceEvents\"");
  Diagnostics b;
  b.CountMany(Diag::kStreamOverlap, 1000, Diagnostics::kNoByte, "on stream 7");
  AppendDiagnostics(a, "a.json", document.diagnostics);
  AppendDiagnostics(b, "b.json", document.diagnostics);
  ASSERT_EQ(document.diagnostics.size(), 3U);
  EXPECT_EQ(document.diagnostics[0].first, "byte 812: inside \"traceEvents\"");
  const std::string text = Written("text", document);
  const size_t error = text.find("error         1  truncated-file      1\n");
  const size_t info = text.find("info      1,002  stream-overlap      2\n");
  EXPECT_NE(error, std::string::npos) << text;
  EXPECT_NE(info, std::string::npos) << text;
  EXPECT_LT(error, info);
  EXPECT_NE(text.find("first: a.json: byte 812: inside"), std::string::npos) << text;
}

TEST(Writer, KnowsTheFilesBeforeItWritesThem) {
  const TableWriter& csv = *FindTableWriter("csv");
  Document document = SmallDocument();
  EXPECT_EQ(OutputPaths(csv, document, "run/out.csv"), (Paths{"run/out.csv"}));
  document.tables.push_back(document.tables.front());
  document.tables.back().name = "more";
  EXPECT_EQ(OutputPaths(csv, document, "run/out.csv"),
            (Paths{"run/out.kernels.csv", "run/out.more.csv"}));
  EXPECT_EQ(OutputPaths(csv, document, "out"), (Paths{"out.kernels", "out.more"}));
  EXPECT_EQ(OutputPaths(*FindTableWriter("json"), document, "run/out.csv"), (Paths{"run/out.csv"}));
  EXPECT_EQ(OutputPaths(csv, {}, "run/out.csv"), Paths());
}

TEST(Writer, EveryRowIsFoundByItsName) {
  for (const TableWriter& row : TableWriters()) {
    EXPECT_EQ(FindTableWriter(row.name), &row);
    EXPECT_FALSE(row.summary.empty());
  }
  EXPECT_EQ(FindTableWriter("xml"), nullptr);
}

class WriteFilesTest : public testing::Test {
 protected:
  WriteFilesTest() {
    std::string name = (fs::temp_directory_path() / "borescope_writer_XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~WriteFilesTest() override { fs::remove_all(folder_); }

  std::vector<std::string> Write(std::string_view format, const Document& document) {
    const auto paths =
        WriteFiles(*FindTableWriter(format), document, {}, (folder_ / "out.x").string());
    EXPECT_TRUE(paths.ok());
    std::vector<std::string> names;
    for (const std::string& path : *paths) {
      names.push_back(fs::path(path).filename().string());
    }
    return names;
  }

  std::string Read(std::string_view name) const {
    std::ifstream file(folder_ / name);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  fs::path folder_;
};

TEST_F(WriteFilesTest, ACsvFileHoldsOneTable) {
  Document document = SmallDocument();
  EXPECT_EQ(Write("csv", document), (std::vector<std::string>{"out.x"}));
  EXPECT_TRUE(Read("out.x").starts_with("name,total_ns"));
  document.tables.push_back(document.tables.front());
  document.tables.back().name = "more";
  EXPECT_EQ(Write("csv", document), (std::vector<std::string>{"out.kernels.x", "out.more.x"}));
  EXPECT_EQ(Read("out.more.x"), Read("out.x"));
}

TEST_F(WriteFilesTest, AJsonFileHoldsThemAll) {
  Document document = SmallDocument();
  document.tables.push_back(document.tables.front());
  EXPECT_EQ(Write("json", document), (std::vector<std::string>{"out.x"}));
  EXPECT_EQ(Read("out.x"), Written("json", document));
}

}  // namespace
}  // namespace borescope::internal
