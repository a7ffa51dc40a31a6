#include "borescope/analysis/measures/rank_clocks/pair_line.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "borescope/analysis/measures/rank_clocks/medians.h"

namespace borescope::internal {
namespace {

std::vector<ClockPoint> WithoutDrift(std::span<const ClockPoint> points, double drift) {
  std::vector<ClockPoint> flat(points.begin(), points.end());
  for (ClockPoint& point : flat) {
    point.behind_ns -= std::llround(drift * static_cast<double>(point.at_ns));
  }
  return flat;
}

// The first point of each piece.
std::vector<size_t> PiecesBetweenSteps(std::span<const ClockPoint> points) {
  std::vector<size_t> begins{0};
  const std::vector<size_t> steps = FindClockSteps(WithoutDrift(points, RateAcrossSteps(points)));
  if (steps.size() <= kMostSteps) begins.insert(begins.end(), steps.begin(), steps.end());
  return begins;
}

// The times of some points around a step: another step so near to it would not be seen.
Interval TimesAround(std::span<const ClockPoint> points, size_t step) {
  constexpr size_t kAround = 8;
  const size_t first = step < kAround ? 0 : step - kAround;
  const size_t end = std::min(points.size(), step + kAround);
  const auto [least, most] = std::minmax_element(
      points.begin() + static_cast<std::ptrdiff_t>(first),
      points.begin() + static_cast<std::ptrdiff_t>(end),
      [](const ClockPoint& a, const ClockPoint& b) { return a.at_ns < b.at_ns; });
  return {least->at_ns, most->at_ns};
}

}  // namespace

PairLine FitPairLine(std::span<const ClockPoint> points) {
  const std::vector<size_t> begins = PiecesBetweenSteps(points);
  PairLine pair;
  ClockLine& line = pair.line;
  line.drift = RateWithinPieces(points, begins);
  line.pieces.clear();
  const std::vector<ClockPoint> flat = WithoutDrift(points, line.drift);
  std::vector<int64_t> residues;
  for (size_t piece = 0; piece < begins.size(); ++piece) {
    const size_t begin = begins[piece];
    const size_t end = piece + 1 < begins.size() ? begins[piece + 1] : points.size();
    std::vector<int64_t> behind;
    for (size_t i = begin; i < end; ++i) behind.push_back(flat[i].behind_ns);
    const int64_t offset_ns = MedianOf(behind);
    for (size_t i = begin; i < end; ++i) residues.push_back(flat[i].behind_ns - offset_ns);
    if (piece == 0) {
      line.pieces.push_back({std::numeric_limits<int64_t>::min(), offset_ns});
      continue;
    }
    line.pieces.push_back({points[begin].at_ns, offset_ns});
    line.doubtful.push_back(TimesAround(points, begin));
  }
  const auto by_time = [](const auto& a, const auto& b) { return a.from_ns < b.from_ns; };
  std::stable_sort(line.pieces.begin(), line.pieces.end(), by_time);
  const double scatter_ns = RobustSigma(std::move(residues));
  pair.scatter_ns = std::llround(scatter_ns);
  pair.chance_ns = std::llround(3 * scatter_ns / std::sqrt(static_cast<double>(points.size())));
  pair.has_few_points = points.size() < kFewPoints;
  return pair;
}

}  // namespace borescope::internal
