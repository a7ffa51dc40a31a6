#include "borescope/output/read_json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "borescope/output/sink/sink.h"
#include "borescope/output/writer.h"

namespace borescope::internal {
namespace {

using Limits = std::numeric_limits<int64_t>;

std::string Written(const Document& document, std::string_view format = "json") {
  StringSink sink;
  EXPECT_TRUE(FindTableWriter(format)->write(document, {}, sink).ok());
  return sink.text();
}

Document Read(std::string_view json) {
  Result<Document> read = ReadJson(json);
  EXPECT_TRUE(read.ok()) << read.error().Sentence() << "\n" << json;
  return read.ok() ? std::move(*read) : Document();
}

std::string CauseOf(std::string_view json) {
  const Result<Document> read = ReadJson(json);
  return read.ok() ? "none" : read.error().Sentence();
}

// Reads what is written, and expects the same bytes of the result.
Document RoundTrip(const Document& document) {
  const std::string json = Written(document);
  Document read = Read(json);
  EXPECT_EQ(Written(read), json);
  return read;
}

// A text of schema 2 with one column in one table.
std::string OneColumn(std::string_view members) {
  return R"({"schema":2,"tables":[{"name":"t","title":"","columns":[{)" + std::string(members) +
         R"(}]}],"diagnostics":[]})";
}

// A column of that type with these values.
std::string Cells(std::string_view type, std::string_view values) {
  return OneColumn(R"("name":"a","type":")" + std::string(type) +
                   R"(","unit":null,"role":"key","doc":"","values":)" + std::string(values));
}

Document EveryKind() {
  Document document;
  Table& table = document.tables.emplace_back(Table{"kinds", "Every kind \"of\" column\n", {}});
  table.columns.reserve(5);
  Column& whole = AddInt(table, "a_ns", Unit::kNanoseconds, Role::kSum, "Sum.");
  for (const int64_t cell : {Limits::min(), Limits::max(), int64_t{0}}) Push(whole, cell);
  PushMissing(whole);
  Column& number = AddFloat(table, "value", Unit::kOfRow, Role::kDerived, "");
  for (const double cell : {0.1, -0.0, 1e300, 5e-324}) Push(number, cell);
  Column& text = AddString(table, "unit", Role::kMax, "\u00e9");
  for (const char* cell : {"", "\"\\/\b\f\n\r\t\x01", "\u20ac \U0001F600"}) Push(text, cell);
  PushMissing(text);
  Column& flag = AddBool(table, "flag", Role::kMin, "");
  for (const bool cell : {true, false, true}) Push(flag, cell);
  PushMissing(flag);
  document.tables.push_back(Table{"empty", "", {}});
  AddInt(document.tables.emplace_back(Table{"no rows", "", {}}), "b", Unit::kBytes, Role::kKey, "");
  document.diagnostics = {
      {Severity::kInfo, "a", 0, "", "", ""},
      {Severity::kError, "b", std::numeric_limits<uint64_t>::max(), "x.json", "byte 7: k", "Why."}};
  return document;
}

TEST(ReadJson, EveryKindOfColumnComesBack) {
  const Document read = RoundTrip(EveryKind());
  ASSERT_EQ(read.tables.size(), 3U);
  const std::vector<Column>& columns = read.tables[0].columns;
  EXPECT_EQ(read.tables[0].title, "Every kind \"of\" column\n");
  EXPECT_EQ(std::get<IntValues>(columns[0].values)[1], Limits::max());
  EXPECT_EQ(columns[0].role, Role::kSum);
  EXPECT_EQ(columns[0].doc, "Sum.");
  EXPECT_TRUE(columns[0].IsMissing(3));
  EXPECT_TRUE(columns[1].missing.empty());
  EXPECT_EQ(columns[1].unit, Unit::kOfRow);
  EXPECT_TRUE(std::signbit(std::get<FloatValues>(columns[1].values)[1]));
  EXPECT_EQ(std::get<StringValues>(columns[2].values)[1], "\"\\/\b\f\n\r\t\x01");
  EXPECT_EQ(std::get<BoolValues>(columns[3].values), (BoolValues{1, 0, 1, 0}));
  EXPECT_EQ(read.diagnostics[1].count, std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(read.diagnostics[1].severity, Severity::kError);
  EXPECT_EQ(read.diagnostics[1].first, "byte 7: k");
}

TEST(ReadJson, NumbersThatAreNotFiniteAreMissing) {
  Document document;
  Table& table = document.tables.emplace_back(Table{"t", "", {}});
  Column& column = AddFloat(table, "share", Unit::kShare, Role::kDerived, "");
  for (const double cell : {std::nan(""), HUGE_VAL, -HUGE_VAL, 0.5}) Push(column, cell);
  const Column read = RoundTrip(document).tables[0].columns[0];
  EXPECT_TRUE(read.IsMissing(0) && read.IsMissing(1) && read.IsMissing(2));
  EXPECT_EQ(std::get<FloatValues>(read.values)[3], 0.5);
}

TEST(ReadJson, HintsComeBack) {
  Document document;
  Table& table = document.tables.emplace_back(Table{"t", "", {}});
  Column& name = AddString(table, "name", Role::kKey, "");
  name.hints = {.palette = Palette::kWork, .names = true};
  for (const char* cell : {"gemm", "ncclKernel", "Memcpy HtoD"}) Push(name, cell);
  PushMissing(name);
  Column& idle = AddInt(table, "idle_ns", Unit::kNanoseconds, Role::kSum, "");
  idle.hints.tone = Tone::kIdle;
  for (const int64_t cell : {1, 2, 3, 4}) Push(idle, cell);
  const Table read = RoundTrip(document).tables[0];
  EXPECT_EQ(read.columns[0].hints, (ColumnHints{{}, Palette::kWork, true}));
  EXPECT_EQ(read.columns[1].hints.tone, Tone::kIdle);
}

TEST(ReadJson, SchemaOneHasNoRoles) {
  const Document read = Read(
      R"({"borescope":"0.1.0","schema":1,"tables":[{"name":"t","title":"T","columns":[
      {"name":"a","type":"int","unit":"ns","doc":"D","role":"what?","values":[1]}]}],"diagnostics":[]})");
  EXPECT_EQ(read.tables[0].columns[0].role, Role::kDerived);
  EXPECT_EQ(read.tables[0].columns[0].unit, Unit::kNanoseconds);
  RoundTrip(read);
}

TEST(ReadJson, MembersComeInAnyOrderAndUnknownOnesAreIgnored) {
  const Document read = Read(
      R"( {"diagnostics" : [], "new": {"a": [1, {"b": null}]}, "tables": [{"columns": [
      {"values": [1, null], "ro\u006ce": "max", "doc": "", "unit": null, "type": "float", "name": "a",
       "hints": {"tone": "of tomorrow", "palette" : "of tomorrow", "tones": 7, "more": true}}],
      "title": "", "name": "t"}], "schema": 2} )");
  const Column& column = read.tables[0].columns[0];
  EXPECT_EQ(column.role, Role::kMax);
  EXPECT_EQ(column.hints, ColumnHints());
  EXPECT_EQ(std::get<FloatValues>(column.values)[0], 1.0);
}

TEST(ReadJson, OtherTextsAreRefused) {
  const std::string_view other = "this is JSON, but not of tables; `format` json writes such";
  for (const char* text : {"[]", "7", "{}", R"({"schema":"1.1","nodes":[]})", R"({"schema":2})",
                           R"({"schema":1.5,"tables":[]})"}) {
    EXPECT_EQ(CauseOf(text), other) << text;
  }
  const Result<Document> read = ReadJson(R"({"schema":3,"tables":[],"diagnostics":[]})");
  EXPECT_EQ(read.error().code, ErrorCode::kUnsupportedFormat);
  EXPECT_TRUE(read.error().Sentence().starts_with("tables of schema 3")) << read.error().Sentence();
  EXPECT_EQ(CauseOf(""), "byte 0: the text ends too early");
  EXPECT_EQ(CauseOf("{} {}"), "byte 3: this is no JSON");
  EXPECT_EQ(CauseOf("NaN"), "byte 0: this is no JSON");
  EXPECT_EQ(CauseOf(R"({"schema":2,"tables":[)"), "byte 22: the text ends too early");
  EXPECT_EQ(CauseOf(std::string(100'000, '[')), "byte 1000: this is no JSON");
  EXPECT_EQ(CauseOf(std::string(70'000, ' ') + "x"), "byte 70000: this is no JSON");
}

TEST(ReadJson, CellsOfAnotherTypeAreNamedWithTheirPlace) {
  const std::string head = Cells("int", "");
  const size_t begin = head.find(R"("values":)") + 9;
  const auto cause = [&](std::string_view type, std::string_view values, size_t shift) {
    const size_t place = begin + shift + type.size() - 3;
    const std::string found = CauseOf(Cells(type, values));
    const std::string at = "byte " + std::to_string(place) + ": ";
    EXPECT_TRUE(found.starts_with(at)) << found << ", not " << at;
    return found.substr(std::min(at.size(), found.size()));
  };
  EXPECT_EQ(cause("int", "[1,1.5]", 3), "'1.5' is no whole number of 64 bits");
  EXPECT_EQ(cause("int", "[9223372036854775808]", 1),
            "'9223372036854775808' is no whole number of 64 bits");
  EXPECT_EQ(cause("int", R"(["1"])", 1), R"('"1"' is no whole number of 64 bits)");
  EXPECT_EQ(cause("float", "[1e999]", 1), "'1e999' is no number that a double holds");
  EXPECT_EQ(cause("float", "[[]]", 1), "'[]' is no number that a double holds");
  EXPECT_EQ(cause("string", "[1]", 1), "'1' is no text");
  EXPECT_EQ(cause("string", R"(["\ud800"])", 1), "a text that is not valid UTF-8");
  EXPECT_EQ(cause("string", "[\"\xff\"]", 1), "a text that is not valid UTF-8");
  EXPECT_EQ(cause("bool", "[0]", 1), "'0' is no truth value");
  EXPECT_EQ(cause("int", "7", 0), "'7' is no list");
  EXPECT_EQ(cause("int", "[{\"" + std::string(100, 'x') + "\":1}]", 1),
            "'{\"" + std::string(38, 'x') + "...' is no whole number of 64 bits");
}

TEST(ReadJson, PropertiesThatAreNoneAreRefused) {
  const auto ends = [](std::string_view members, std::string_view with) {
    const std::string cause = CauseOf(OneColumn(members));
    EXPECT_TRUE(cause.starts_with("byte ") && cause.ends_with(with)) << cause;
  };
  const std::string good = R"("name":"a","doc":"","values":[])";
  ends(good + R"(,"type":"int","unit":null)", R"(there is no member "role")");
  ends(good + R"(,"type":"int","unit":"parsec","role":"key")", R"('"parsec"' is no unit)");
  ends(good + R"(,"type":"int","unit":null,"role":"sums")", R"('"sums"' is no role)");
  ends(good + R"(,"type":"date","unit":null,"role":"key")", R"('"date"' is no type of a column)");
  ends(good + R"(,"type":"int","unit":null,"role":"key","name":"b")", R"(a second member "name")");
  ends(good + R"(,"type":"string","unit":null,"role":"sum")",
       R"(table "t" has sums that are no numbers)");
  ends(good + R"(,"type":"int","unit":null,"role":"key","hints":[])", "'[]' is no object");
  ends(good + R"(,"type":"int","unit":null,"role":"key","hints":{"names":1})",
       "'1' is no truth value");
}

TEST(ReadJson, ColumnsMustMakeATable) {
  const std::string column =
      R"({"name":"a","type":"int","unit":null,"role":"key","doc":"","values":)";
  const auto two = [&](std::string_view first, std::string_view second) {
    return R"({"schema":2,"tables":[{"name":"t","title":"","columns":[)" + column +
           std::string(first) + "}," + column + std::string(second) + R"(}]}],"diagnostics":[]})";
  };
  EXPECT_EQ(CauseOf(two("[1]", "[]")), "byte 22: table \"t\" has columns of 1 and of 0 rows");
  EXPECT_EQ(CauseOf(two("[1]", "[2]")), "byte 22: table \"t\" has two columns of one name");
}

// Whatever was read can be written in every format, and what cannot be read names its place.
void ReadAndWrite(const std::string& json) {
  const Result<Document> read = ReadJson(json);
  if (!read.ok()) {
    EXPECT_TRUE(read.error().code == ErrorCode::kUnsupportedFormat ||
                read.error().Sentence().starts_with("byte "))
        << read.error().Sentence();
    return;
  }
  for (const char* format : {"json", "csv", "text"}) {
    Written(*read, format);
  }
}

TEST(ReadJson, DamageAnywhereIsAnErrorOrATable) {
  const std::string json = Written(EveryKind());
  for (size_t at = 0; at < json.size(); ++at) {
    ReadAndWrite(json.substr(0, at));
    for (const char c : std::string_view("\"[{}],:0n\\\xff\x01")) {
      std::string damaged = json;
      damaged[at] = c;
      ReadAndWrite(damaged);
    }
    ReadAndWrite(std::string(json).erase(at, 1));
    ReadAndWrite(std::string(json).insert(at, json, at / 2, 7));
  }
}

// Writers know some columns by their names; here these have every other type and unit.
TEST(ReadJson, ColumnsOfKnownNamesMayHoldAnything) {
  for (const char* name : {"ts_ns", "begin_ns", "end_unix_ns", "x_offset_ns", "depth", "rank",
                           "unit", "share", "name", "elapsed_ns"}) {
    for (const char* unit : {R"("row")", R"("ns")", R"("share")", R"("percent")", "null"}) {
      for (const auto& [type, values] :
           {std::pair{"int", "[-9223372036854775808,9223372036854775807,null]"},
            {"float", "[-1e308,1e308,null]"},
            {"string", R"(["share","",null])"},
            {"bool", "[true,false,null]"}}) {
        const std::string column = R"("name":")" + std::string(name) + R"(","type":")" + type +
                                   R"(","unit":)" + unit + R"(,"role":"key","doc":"","values":)" +
                                   values;
        ReadAndWrite(OneColumn(column));
        ReadAndWrite(OneColumn(column + R"(},{"name":"other","type":"string","unit":null,)" +
                               R"("role":"key","doc":"","values":["a","b",null])"));
      }
    }
  }
}

}  // namespace
}  // namespace borescope::internal
