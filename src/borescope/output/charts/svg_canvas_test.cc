#include "borescope/output/charts/svg_canvas.h"

#include <gtest/gtest.h>

#include <limits>

namespace borescope::internal {
namespace {

TEST(PixelsTest, ToATenth) {
  EXPECT_EQ(Pixels(12), "12");
  EXPECT_EQ(Pixels(12.34), "12.3");
  EXPECT_EQ(Pixels(-0.01), "0");
  EXPECT_EQ(Pixels(std::numeric_limits<double>::infinity()), "0");
  EXPECT_EQ(Pixels(std::numeric_limits<double>::quiet_NaN()), "0");
}

TEST(SvgCanvasTest, ThePictureIsCompleteInItself) {
  SvgCanvas canvas;
  canvas.Rect({1, 2, 3, 4}, Tone::kComm, "a <tip>");
  canvas.Text({5, 6}, "<b>", {.anchor = TextLook::Anchor::kEnd, .bold = true});
  EXPECT_EQ(
      canvas.Finish(10, 20, "a & b", "c < d"),
      R"(<svg xmlns="http://www.w3.org/2000/svg" width="10" height="20" viewBox="0 0 10 20" role="img" font-family="sans-serif" font-size="12">
<title>a &amp; b</title>
<desc>c &lt; d</desc>
<style>@media (prefers-color-scheme: dark){.f-paper{fill:#14171c}.f-comm{fill:#e9ab26}.f-ink{fill:#e6e8ec}}</style>
<rect width="10" height="20" class="f-paper" fill="#ffffff"/>
<rect x="1" y="2" width="3" height="4" class="f-comm" fill="#e69f00"><title>a &lt;tip&gt;</title></rect>
<text x="5" y="6" class="f-ink" fill="#1b1f26" text-anchor="end" font-weight="600">&lt;b&gt;</text>
</svg>
)");
}

TEST(SvgCanvasTest, EmptyTextIsNotDrawn) {
  SvgCanvas canvas;
  canvas.Text({0, 0}, "");
  EXPECT_EQ(canvas.Finish(1, 1, "", "").find("<text"), std::string::npos);
}

}  // namespace
}  // namespace borescope::internal
