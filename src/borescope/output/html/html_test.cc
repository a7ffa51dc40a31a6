#include "borescope/output/html/html.h"

#include <gtest/gtest.h>

#include <random>

#include "borescope/output/markdown.h"

namespace borescope::internal {
namespace {

std::string Safe(std::initializer_list<std::string_view> pieces) {
  StringSink text;
  ScriptJsonSink json(text);
  for (const std::string_view piece : pieces) {
    EXPECT_TRUE(json.Write(piece).ok());
  }
  EXPECT_TRUE(json.Finish().ok());
  return text.text();
}

ReportPage PageOf(std::string_view name) {
  ReportPage page;
  page.title = name;
  Table table{"t", std::string(name), {}};
  Push(AddString(table, "name", Role::kKey, name), name);
  page.document.tables.push_back(table);
  page.document.diagnostics.push_back({Severity::kWarning, "c", 1, std::string(name), "f", "h"});
  page.all_rows = {7};
  page.sections.push_back({"verb", "summary", 0, 1, "", {}});
  return page;
}

std::string Html(const ReportPage& page, std::string_view html_template) {
  StringSink text;
  EXPECT_TRUE(WriteHtml(page, html_template, text).ok());
  return text.text();
}

TEST(ScriptJsonTest, NothingCanEndTheScriptElement) {
  EXPECT_EQ(Safe({"\"</script><!-- <b>\""}), "\"\\u003c/script>\\u003c!-- \\u003cb>\"");
}

TEST(ScriptJsonTest, LineEndsOfUnicodeAreEscapedAcrossPieces) {
  EXPECT_EQ(Safe({"a\xE2\x80\xA8z"}), "a\\u2028z");
  EXPECT_EQ(Safe({"a\xE2", "\x80", "\xA9z"}), "a\\u2029z");
  EXPECT_EQ(Safe({"\xE2\xE2\x80", "\xA8"}), "\xE2\\u2028");
  EXPECT_EQ(Safe({"\xE2\x80", "\xA6 \xE2\x82\xAC"}), "\xE2\x80\xA6 \xE2\x82\xAC");
  EXPECT_EQ(Safe({"cut \xE2\x80"}), "cut \xE2\x80");
}

// What the sink does to the whole text, by plain replacement.
std::string Replaced(std::string text) {
  for (const auto& [from, to] : {std::pair<std::string, std::string>{"<", "\\u003c"},
                                 {"\xE2\x80\xA8", "\\u2028"},
                                 {"\xE2\x80\xA9", "\\u2029"}}) {
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
      text.replace(at, from.size(), to);
    }
  }
  return text;
}

TEST(ScriptJsonTest, AnyPiecesGiveWhatReplacingInTheWholeGives) {
  std::minstd_rand random(1);
  constexpr std::string_view kBytes = "ab<\xE2\x80\xA8\xA9\xE2\x80";
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::string> pieces(1 + random() % 5);
    std::string whole;
    for (std::string& piece : pieces) {
      for (size_t i = random() % 8; i > 0; --i) {
        piece += kBytes[random() % kBytes.size()];
      }
      whole += piece;
    }
    StringSink sink;
    ScriptJsonSink json(sink);
    for (const std::string& piece : pieces) {
      ASSERT_TRUE(json.Write(piece).ok());
    }
    ASSERT_TRUE(json.Finish().ok());
    ASSERT_EQ(sink.text(), Replaced(whole));
  }
}

TEST(HtmlTest, TextIsEscaped) {
  EXPECT_EQ(EscapeMarkup("<a href=\"x\" b='y'>&"),
            "&lt;a href=&quot;x&quot; b=&#39;y&#39;&gt;&amp;");
}

TEST(HtmlTest, MarksAreReplacedInTheTemplateOnly) {
  const std::string html = Html(PageOf("@@borescope-layout@@ <"), "[@@borescope-title@@]");
  EXPECT_EQ(html, "[@@borescope-layout@@ &lt;]");
}

TEST(HtmlTest, ThePlainPageShowsTablesAndIsInert) {
  const std::string hostile = "</script></style><script>alert(1)</script>";
  const std::string html = Html(PageOf(hostile), "");
  EXPECT_EQ(html.find("<script>alert"), std::string::npos);
  EXPECT_EQ(html.find("</script><"), std::string::npos);
  EXPECT_NE(html.find("&lt;script&gt;alert(1)"), std::string::npos);
  EXPECT_NE(html.find("(1 of 7 rows)"), std::string::npos);
  EXPECT_NE(html.find("default-src 'none'"), std::string::npos);
}

TEST(HtmlTest, ThePlainPageNamesTheOtherRun) {
  ReportPage page = PageOf("mine");
  page.against = "<other>";
  page.comparisons = {Comparison::kMatched};
  page.sections[0].other_lack = "no <device> events";
  const std::string html = Html(page, "");
  EXPECT_NE(html.find("<p>against the other run, &lt;other&gt;</p>"), std::string::npos);
  EXPECT_NE(html.find("<p>Not in the other run: no &lt;device&gt; events</p>"), std::string::npos);
  EXPECT_NE(html.find(R"("against":"\u003cother>")"), std::string::npos);
  EXPECT_NE(html.find(R"("comparisons":["matched"])"), std::string::npos);
}

}  // namespace
}  // namespace borescope::internal
