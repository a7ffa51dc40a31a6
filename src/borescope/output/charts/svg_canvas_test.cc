#include "borescope/output/charts/svg_canvas.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <limits>
#include <set>
#include <string>

namespace borescope::internal {

namespace {

TEST(TonesTest, LinesOfOneChartDiffer) {
  std::set<Tone> tones;
  for (size_t i = 0; i < kMostLines; ++i) {
    tones.insert(LineTone(i));
  }
  EXPECT_EQ(tones.size(), kMostLines);
  EXPECT_EQ(LineTone(kMostLines), LineTone(0));
}

TEST(TonesTest, ThePageHasTheSameShades) {
  std::ifstream file(BORESCOPE_PAGE_STYLE);
  const std::string style{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  ASSERT_FALSE(style.empty());
  for (size_t i = 0; i < static_cast<size_t>(Tone::kCount); ++i) {
    const ToneRow& row = GetToneRow(static_cast<Tone>(i));
    std::string rule = "--" + std::string(ToneName(row.tone)) + ": light-dark(";
    rule += std::string(row.light) + ", " + std::string(row.dark) + ");";
    EXPECT_NE(style.find(rule), std::string::npos) << rule;
  }
}

TEST(TonesTest, ColoursOfDataDifferEverywhere) {
  std::set<std::string_view> light;
  std::set<std::string_view> dark;
  std::set<int> cube;
  for (auto i = static_cast<size_t>(Tone::kCompute); i <= static_cast<size_t>(Tone::kUnknown);
       ++i) {
    const ToneRow& row = GetToneRow(static_cast<Tone>(i));
    light.insert(row.light);
    dark.insert(row.dark);
    cube.insert(row.cube);
  }
  EXPECT_EQ(light.size(), 11U);
  EXPECT_EQ(dark.size(), 11U);
  EXPECT_EQ(cube.size(), 11U);
}

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
