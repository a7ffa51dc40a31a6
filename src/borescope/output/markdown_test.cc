#include "borescope/output/markdown.h"

#include <gtest/gtest.h>

namespace borescope::internal {

namespace {

TEST(MarkupTest, MarkupIsText) {
  EXPECT_EQ(EscapeMarkup("</text><script>alert('1')</script>&\""),
            "&lt;/text&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;&quot;");
}

TEST(MarkupTest, WhatXmlForbidsIsReplaced) {
  EXPECT_EQ(EscapeMarkup(std::string_view("a\0b\x01"
                                          "c\x7f",
                                          6)),
            "a\uFFFDb\uFFFDc\uFFFD");
  EXPECT_EQ(EscapeMarkup("\xEF\xBF\xBE|\xEF\xBF\xBF|\xED\xA0\x80|\xFF"),
            "\uFFFD|\uFFFD|\uFFFD\uFFFD\uFFFD|\uFFFD");
  EXPECT_EQ(EscapeMarkup("line\nend\t!"), "line end !");
}

TEST(MarkupTest, CharactersThatHideOrReorderAreReplaced) {
  EXPECT_EQ(EscapeMarkup("a\u202Eb\u200Bc\u2066d\uFEFFe\u2028f"),
            "a\uFFFDb\uFFFDc\uFFFDd\uFFFDe\uFFFDf");
  EXPECT_EQ(EscapeMarkup("\u6838\u00B5\u2026"), "\u6838\u00B5\u2026");
}

TEST(EscapeMarkdown, LeavesNothingThatMeansSomething) {
  EXPECT_EQ(EscapeMarkdown("a plain text (1.5 ms), 3 %"), "a plain text (1.5 ms), 3 %");
  EXPECT_EQ(EscapeMarkdown("a|b`c`<b>*d*_e_[f](g)!"),
            "a&#124;b&#96;c&#96;&lt;b&gt;&#42;d&#42;&#95;e&#95;&#91;f&#93;(g)&#33;");
  EXPECT_EQ(EscapeMarkdown("a\nb\r\x1b[1m"), "a b \xEF\xBF\xBD&#91;1m");
  EXPECT_EQ(EscapeMarkdown("漢\xFF"), "漢\xEF\xBF\xBD");
}

TEST(EscapeMarkdown, MentionsAndLinksAreBroken) {
  EXPECT_EQ(EscapeMarkdown("@user"), "&#64;&#8203;user");
  EXPECT_EQ(EscapeMarkdown("see #12"), "see #&#8203;12");
  EXPECT_EQ(EscapeMarkdown("https://a www.b"), "https:&#8203;//a www&#8203;.b");
}

TEST(EscapeMarkdown, LongTextsEndWithAWholeCharacter) {
  EXPECT_EQ(EscapeMarkdown("abcdef", 3), "abc…");
  EXPECT_EQ(EscapeMarkdown("a漢字", 3), "a…");
}

TEST(MarkdownCode, IsOneCellAndHoldsTheText) {
  EXPECT_EQ(MarkdownCode("f<int>(@user, *x) #1"), "`f<int>(@user, *x) #1`");
  EXPECT_EQ(MarkdownCode("a`b"), "<code>a&#96;b</code>");
  EXPECT_EQ(MarkdownCode("a\\|b"), "<code>a&#92;&#124;b</code>");
  EXPECT_EQ(MarkdownCode("`</code>@user"), "<code>&#96;&lt;/code&gt;&#64;user</code>");
  EXPECT_EQ(MarkdownCode("a\nb"), "`a b`");
  EXPECT_EQ(MarkdownCode(""), "<code></code>");
}

}  // namespace

}  // namespace borescope::internal
