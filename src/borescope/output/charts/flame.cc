// Nested frames, each as wide as its time. Children lie side by side from the start of their
// parent.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "borescope/output/charts/chart_data.h"
#include "borescope/output/charts/charts.h"
#include "borescope/output/charts/scale.h"

namespace borescope::internal {
namespace {

constexpr double kRowHeight = 20;
constexpr size_t kMostLevels = 40;
constexpr double kLeastWidth = 0.7;  // narrower frames cannot be seen
constexpr double kTextSize = 11.5;
constexpr double kLeastText = 44;
constexpr size_t kKeptAbove = 2;      // frames of the trunk that are drawn
constexpr double kTrunkShare = 0.99;  // a frame with so much of all is one of the trunk
constexpr double kPadding = 4;
constexpr size_t kMostTold = 8;

struct Frame {
  size_t row = 0;
  size_t depth = 0;
  double begin = 0;  // in the unit of the value
  double value = 0;
};

struct FrameTree {
  const Column* value = nullptr;
  std::vector<Frame> frames;  // in preorder
  double whole = 0;
};

// Rows in preorder; a depth that leaves out a level counts as the next one.
FrameTree MakeTree(const Table& table, const Column* value) {
  const Column* const depths = table.Find("depth");
  FrameTree tree{value, {}, 0};
  std::vector<double> ends = {0};  // where the next child of each level on the path starts
  for (size_t row = 0; row < table.rows(); ++row) {
    const auto wanted = static_cast<size_t>(std::max(0.0, NumberAt(depths, row)));
    const size_t depth = std::min(wanted, ends.size() - 1);
    const double length = std::max(0.0, NumberAt(value, row));
    ends.resize(depth + 1);
    tree.frames.push_back({row, depth, ends[depth], length});
    ends.push_back(ends[depth]);
    ends[depth] += length;
  }
  tree.whole = ends.front();
  return tree;
}

// Of the first value that is anywhere above zero.
FrameTree FirstTree(const ChartInput& input) {
  FrameTree tree;
  for (const std::string_view name : input.view.values) {
    if (const Column* value = input.table.Find(name); value != nullptr && tree.whole <= 0) {
      tree = MakeTree(input.table, value);
    }
  }
  return tree;
}

Tone ToneOfKind(const Column* kinds, std::string_view kind) {
  return kinds == nullptr ? Tone::kFlameOther
                          : ToneOfCell(kinds->hints.palette, kind).value_or(Tone::kFlameOther);
}

void DrawFrame(const Box& box, std::string_view name, Tone tone, std::string_view tip,
               SvgCanvas& canvas) {
  canvas.Rect({box.x, box.y, std::max(0.5, box.width - 1), kRowHeight - 1}, tone, tip);
  if (box.width >= kLeastText) {
    canvas.Text({box.x + kPadding, box.y + kRowHeight - 6},
                FitMono(name, box.width - 2 * kPadding, kTextSize),
                {.size = kTextSize, .mono = true});
  }
}

// How many frames from the top down, each below the other, hold nearly all samples: where a program
// starts says little, and a picture cannot be zoomed.
size_t TrunkOf(const FrameTree& tree) {
  size_t trunk = 0;
  for (const Frame& frame : tree.frames) {
    const bool holds_all = frame.value >= kTrunkShare * tree.whole;
    trunk = frame.depth == trunk && holds_all ? trunk + 1 : trunk;
  }
  return trunk;
}

// Frames of the trunk that are left out.
size_t SkippedLevels(const FrameTree& tree) {
  const size_t trunk = TrunkOf(tree);
  return trunk > kKeptAbove + 1 ? trunk - kKeptAbove : 0;
}

// Returns how many levels were drawn, and whether there are more of them below.
struct DrawnLevels {
  size_t count = 1;
  bool has_more = false;
};
DrawnLevels DrawFrames(const ChartInput& input, const FrameTree& tree, const NumberFormat& format,
                       ChartPage& page) {
  const Column* const names = input.table.Find("name");
  const Column* const kinds = input.table.Find("kind");
  const double pixels = page.width() / tree.whole;
  const size_t skipped = SkippedLevels(tree);
  DrawnLevels levels;
  for (const Frame& frame : tree.frames) {
    const double width = frame.value * pixels;
    if (width < kLeastWidth || frame.depth < skipped) {
      continue;
    }
    const size_t level = frame.depth - skipped + 1;
    if (level >= kMostLevels) {
      levels.has_more = true;
      continue;
    }
    const std::string name = TextAt(names, frame.row);
    const double top = page.y + kRowHeight * static_cast<double>(level);
    DrawFrame({page.left + frame.begin * pixels, top, width, kRowHeight}, name,
              ToneOfKind(kinds, TextAt(kinds, frame.row)),
              fmt::format("{}: {}, {}", name, Amount(frame.value, format),
                          ShareText(frame.value, tree.whole)),
              page.canvas);
    levels.count = std::max(levels.count, level + 1);
  }
  return levels;
}

// The kinds that are there, in order of first appearance.
void DrawKinds(const ChartInput& input, ChartPage& page) {
  const Column* const kinds = input.table.Find("kind");
  std::vector<LegendItem> items;
  for (size_t row = 0; row < input.table.rows(); ++row) {
    const std::string kind = TextAt(kinds, row);
    const bool is_known = std::any_of(items.begin(), items.end(),
                                      [&](const LegendItem& item) { return item.label == kind; });
    if (!kind.empty() && !is_known && items.size() < kMostTold) {
      items.push_back({ToneOfKind(kinds, kind), kind, ""});
    }
  }
  DrawLegend(items, page);
}

std::string Describe(const ChartInput& input, const FrameTree& tree, const NumberFormat& format) {
  std::vector<Frame> top;
  std::copy_if(tree.frames.begin(), tree.frames.end(), std::back_inserter(top),
               [](const Frame& frame) { return frame.depth == 0 && frame.value > 0; });
  std::stable_sort(top.begin(), top.end(),
                   [](const Frame& a, const Frame& b) { return a.value > b.value; });
  top.resize(std::min(top.size(), kMostTold));
  std::string text =
      fmt::format(": {} {}", PartLabel(tree.value->name), Amount(tree.whole, format));
  for (const Frame& frame : top) {
    text += fmt::format("; {} {}", TextAt(input.table.Find("name"), frame.row),
                        ShareText(frame.value, tree.whole));
  }
  return text + ".";
}

}  // namespace

bool DrawFlame(const ChartInput& input, ChartPage& page) {
  const FrameTree tree = FirstTree(input);
  if (tree.whole <= 0) {
    return false;
  }
  const NumberFormat format = AmountFormat(tree.value->unit, tree.whole, true);
  DrawKinds(input, page);
  std::string all =
      fmt::format("all, {}: {}", PartLabel(tree.value->name), Amount(tree.whole, format));
  if (const size_t skipped = SkippedLevels(tree); skipped > 0) {
    all += fmt::format("; {} frames around all of it are not drawn", skipped);
  }
  DrawFrame({page.left, page.y, page.width(), kRowHeight}, all, Tone::kFaint, all, page.canvas);
  const DrawnLevels levels = DrawFrames(input, tree, format, page);
  page.y += kRowHeight * static_cast<double>(levels.count) + 4;
  if (levels.has_more) {
    DrawNote("Deeper frames are not drawn; --root NAME begins at one.", page);
  }
  page.description += Describe(input, tree, format);
  return true;
}

}  // namespace borescope::internal
