#include "borescope/output/charts/legend.h"

#include "borescope/output/charts/scale.h"
#include "borescope/output/utf8.h"

namespace borescope::internal {
namespace {

constexpr double kSize = 12.5;
constexpr double kSwatch = 10;
constexpr double kSwatchGap = 6;
constexpr double kDetailGap = 6;
constexpr double kItemGap = 14;
constexpr double kLineHeight = 20;
constexpr double kBelow = 8;

}  // namespace

void DrawLegend(std::span<const LegendItem> items, ChartPage& page) {
  std::vector<std::string> names;
  names.reserve(items.size());
  for (const LegendItem& item : items) {
    names.push_back(item.label);
  }
  const std::vector<std::string> labels = FitTexts(names, page.width() / 2, kSize);
  double x = page.left;
  for (size_t i = 0; i < items.size(); ++i) {
    const LegendItem& item = items[i];
    const std::string& label = labels[i];
    const double label_width = TextWidth(label, kSize);
    const double detail_width =
        item.detail.empty() ? 0 : kDetailGap + TextWidth(item.detail, kSize);
    const double width = kSwatch + kSwatchGap + label_width + detail_width;
    if (x > page.left && x + width > page.right) {
      x = page.left;
      page.y += kLineHeight;
    }
    const double text = x + kSwatch + kSwatchGap;
    page.canvas.Rect({x, page.y + 2, kSwatch, kSwatch}, item.tone);
    page.canvas.Text({text, page.y + kSize - 1}, label, {.size = kSize});
    page.canvas.Text({text + label_width + kDetailGap, page.y + kSize - 1}, item.detail,
                     {.size = kSize, .tone = Tone::kQuiet});
    x += width + kItemGap;
  }
  page.y += items.empty() ? 0 : kLineHeight + kBelow;
}

std::vector<std::string> WrapPixels(std::string_view text, double width, double size) {
  std::vector<std::string> lines(1);
  while (!text.empty()) {
    const size_t blank = text.find(' ');
    const std::string word = FitText(text.substr(0, blank), width, size);
    text.remove_prefix(blank == std::string_view::npos ? text.size() : blank + 1);
    const std::string longer = lines.back().empty() ? word : lines.back() + " " + word;
    if (lines.back().empty() || TextWidth(longer, size) <= width) {
      lines.back() = longer;
    } else {
      lines.push_back(word);
    }
  }
  return lines;
}

}  // namespace borescope::internal
