#include "borescope/output/markup.h"

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

}  // namespace
}  // namespace borescope::internal
