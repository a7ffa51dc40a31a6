#include "borescope/output/text/text.h"

#include <gtest/gtest.h>

#include "borescope/output/writer.h"

namespace borescope::internal {

namespace {

Table Kernels() {
  Table table{"kernels", "Kernels", {}, 1};
  table.columns.reserve(3);
  Column& index = AddInt(table, "Idx", Unit::kNone, Role::kDerived, "");
  Column& name = AddString(table, "Direction", Role::kKey, "");
  Column& share = AddFloat(table, "share", Unit::kShare, Role::kDerived, "");
  Push(index, int64_t{1});
  Push(name, "forward \"f\"");
  Push(share, 0.5);
  Push(index, int64_t{123456});
  Push(name, "\xC3\xA4\xC3\xB6");
  PushMissing(share);
  return table;
}

std::string Lines(const LineStyle& style) {
  StringSink sink;
  EXPECT_TRUE(WriteLines(Kernels(), style, sink).ok());
  return sink.text();
}

TEST(TextLinesTest, SpacedHasOneBlankBetweenValues) {
  EXPECT_EQ(Lines({.form = LineForm::kSpaced}),
            "Idx Direction share\n1 forward \"f\" 0.5\n123456 \xC3\xA4\xC3\xB6 -\n");
}

TEST(TextLinesTest, BareHasNoHeading) {
  EXPECT_EQ(Lines({.form = LineForm::kBare}), "1 forward \"f\" 0.5\n123456 \xC3\xA4\xC3\xB6 -\n");
}

TEST(TextLinesTest, QuotedDoublesQuotes) {
  EXPECT_EQ(Lines({.form = LineForm::kQuoted}),
            "\"Idx\",\"Direction\",\"share\"\n\"1\",\"forward \"\"f\"\"\",\"0.5\"\n"
            "\"123456\",\"\xC3\xA4\xC3\xB6\",\"-\"\n");
}

TEST(TextLinesTest, FixedCutsTextsAndHeadingsButNoNumbers) {
  EXPECT_EQ(Lines({.form = LineForm::kFixed, .widths = {3, 5, 6}}),
            "Idx Direc share  \n"
            "  1 forwa    0.5 \n"
            "123456 \xC3\xA4\xC3\xB6         - \n");
}

TEST(TextLinesTest, ColumnsWithoutAWidthAreAsWideAsTheirValues) {
  EXPECT_EQ(Lines({.form = LineForm::kFixed, .widths = {3}}).substr(0, 21),
            "Idx Direction   share");
}

// Other programs read them: every row, and nothing else.
TEST(TextLinesTest, TextHoldsAllRowsAndNoDiagnostics) {
  Document document{{Kernels()}, {{Severity::kWarning, "clock-jump", 3, "a.json", "", "Why."}}};
  const TableWriter& text = *FindTableWriter("text");
  EXPECT_TRUE(CarriesDiagnostics(text, document));
  document.lines = {.form = LineForm::kSpaced, .table = "kernels"};
  EXPECT_FALSE(CarriesDiagnostics(text, document));
  EXPECT_TRUE(CarriesDiagnostics(*FindTableWriter("json"), document));
  StringSink sink;
  EXPECT_TRUE(text.write(document, {}, sink).ok());
  EXPECT_EQ(sink.text(), Lines(document.lines));
}

}  // namespace

}  // namespace borescope::internal
