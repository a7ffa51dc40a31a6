#include "borescope/output/charts/png/png.h"

#include <gtest/gtest.h>

namespace borescope::internal {
namespace {

constexpr std::string_view kMagic("\x89PNG\r\n\x1a\n", 8);

Picture PictureOf(double width, double height) {
  SvgCanvas canvas;
  canvas.Rect({0, 0, 5, 5}, Tone::kComm, "tip");
  canvas.Text({5, 10}, "text & more");
  return {canvas.Finish(width, height, "title", "description"), {width, height}};
}

// A number of four bytes in the head of a PNG file.
uint32_t NumberAt(const std::string& png, size_t at) {
  uint32_t number = 0;
  for (size_t i = 0; i < 4; ++i) {
    number = number << 8 | static_cast<unsigned char>(png[at + i]);
  }
  return number;
}

TEST(PngTest, HasTwicePixelsOfThePicture) {
  if (!CheckPng().ok()) {
    GTEST_SKIP() << CheckPng().error().Sentence();
  }
  const Result<std::string> png = RenderPng(PictureOf(40, 30));
  ASSERT_TRUE(png.ok()) << png.error().Sentence();
  ASSERT_GT(png->size(), 24U);
  EXPECT_EQ(png->substr(0, kMagic.size()), kMagic);
  EXPECT_EQ(NumberAt(*png, 16), 80U);
  EXPECT_EQ(NumberAt(*png, 20), 60U);
}

TEST(PngTest, AVeryHighPictureHasFewer) {
  if (!CheckPng().ok()) {
    GTEST_SKIP() << CheckPng().error().Sentence();
  }
  const Result<std::string> png = RenderPng(PictureOf(10, 64'000));
  ASSERT_TRUE(png.ok()) << png.error().Sentence();
  EXPECT_EQ(NumberAt(*png, 20), 32'000U);
}

TEST(PngTest, WithoutTheLibraryTheErrorNamesTheRemedy) {
  if (CheckPng().ok()) {
    EXPECT_FALSE(RenderPng({"no picture", {10, 10}}).ok());
    return;
  }
  const std::string message = CheckPng().error().Sentence();
  EXPECT_NE(message.find("librsvg"), std::string::npos);
  EXPECT_NE(message.find("`format` svg"), std::string::npos);
}

}  // namespace
}  // namespace borescope::internal
