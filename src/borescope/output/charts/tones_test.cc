#include "borescope/output/charts/tones.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
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

}  // namespace
}  // namespace borescope::internal
