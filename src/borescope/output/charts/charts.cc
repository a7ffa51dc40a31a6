#include "borescope/output/charts/charts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "borescope/output/charts/chart_data.h"
#include "borescope/output/charts/scale.h"
#include "borescope/output/utf8.h"
#include "borescope/output/writer.h"

namespace borescope::internal {
namespace {

constexpr double kWidth = 960;
constexpr double kMargin = 24;
constexpr double kSourceSize = 12;
constexpr double kTitleSize = 15;
constexpr double kTitleHeight = 30;
constexpr double kBetweenCharts = 30;

// Drawn by the row of its kind; rows in the order of ViewKind.
using DrawChart = bool (*)(const ChartInput&, ChartPage&);
constexpr DrawChart kCharts[] = {DrawBars, DrawBars,     DrawSeries,   DrawFlame,
                                 DrawHeat, DrawRoofline, DrawIntervals};

struct FoundView {
  const ViewSpec* view;
  const Table* table;
};

std::vector<FoundView> FindViews(const Document& document) {
  std::vector<FoundView> found;
  for (const ViewSpec& view : document.views) {
    const Table* table = FindTable(document.tables, view);
    if (view.kind != ViewKind::kAside && table != nullptr) {
      found.push_back({&view, table});
    }
  }
  return found;
}

Error NothingToDraw(const Document& document) {
  std::vector<std::string_view> names;
  names.reserve(document.tables.size());
  for (const Table& table : document.tables) {
    names.push_back(table.name);
  }
  return {ErrorCode::kMissingData,
          fmt::format("nothing of this answer can be drawn (its tables: {})",
                      names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))),
          "pictures are made of verbs such as breakdown, kernels, roofline and stacks, others with "
          "-f text, csv or json"};
}

void DrawView(const FoundView& found, const Document& document, ChartPage& page) {
  page.canvas.Text({page.left, page.y + kTitleSize}, found.view->title,
                   {.size = kTitleSize, .bold = true});
  page.y += kTitleHeight;
  page.description += fmt::format("{}{}", page.description.empty() ? "" : " ", found.view->title);
  const DrawChart draw = kCharts[static_cast<size_t>(found.view->kind)];
  if (!draw({*found.table, *found.view, document.tables}, page)) {
    const std::string_view why = found.view->kind == ViewKind::kIntervals
                                     ? "no value is known, or all are zero"
                                     : "no value is above zero";
    DrawNote(fmt::format("Nothing to draw: {}.", why), page);
    page.description += fmt::format(": {}.", why);
  }
}

// "breakdown of rank-0.json.gz" in small print above all.
void DrawSource(const std::string& source, ChartPage& page) {
  if (!source.empty()) {
    page.canvas.Text({page.left, page.y + kSourceSize},
                     FitText(ToPrintable(source), page.width(), kSourceSize),
                     {.size = kSourceSize, .tone = Tone::kQuiet});
    page.y += kBetweenCharts;
  }
}

}  // namespace

void DrawNote(std::string_view text, ChartPage& page) {
  constexpr double kSize = 12;
  constexpr double kLineHeight = 17;
  for (const std::string& line : WrapPixels(text, page.width(), kSize)) {
    page.canvas.Text({page.left, page.y + kSize}, line, {.size = kSize, .tone = Tone::kQuiet});
    page.y += kLineHeight;
  }
}

Result<Picture> DrawPicture(const Document& document) {
  const std::vector<FoundView> views = FindViews(document);
  if (views.empty()) {
    return NothingToDraw(document);
  }
  ChartPage page{.canvas = {},
                 .left = kMargin,
                 .right = kWidth - kMargin,
                 .y = kMargin - 4,
                 .description = {}};
  DrawSource(document.source, page);
  std::vector<std::string_view> titles;
  for (const FoundView& found : views) {
    page.y += titles.empty() ? 0 : kBetweenCharts;
    titles.push_back(found.view->title);
    DrawView(found, document, page);
  }
  const PictureSize size{kWidth, std::ceil(page.y + kMargin)};
  const std::string of = document.source.empty() ? "" : ": " + document.source;
  const std::string title = fmt::format("{}{}", fmt::join(titles, ", "), of);
  return Picture{page.canvas.Finish(size.width, size.height, title, page.description), size};
}

Result<void> WriteSvg(const Document& document, const WriteOptions& /*options*/, Sink& sink) {
  BS_ASSIGN(const Picture picture, DrawPicture(document));
  return sink.Write(picture.svg);
}

}  // namespace borescope::internal
