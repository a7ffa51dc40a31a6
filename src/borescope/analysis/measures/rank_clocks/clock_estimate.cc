#include "borescope/analysis/measures/rank_clocks/clock_estimate.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "borescope/base/each_row.h"
#include "borescope/base/saturating.h"
#include "borescope/base/stop.h"

namespace borescope::internal {

VisitsByRank::VisitsByRank(const Meetings& meetings)
    : places_(meetings.visits.size()), first_(meetings.ranks + 1, 0) {
  for (const Visit& visit : meetings.visits) ++first_[visit.rank + 1];
  for (size_t rank = 0; rank < meetings.ranks; ++rank) first_[rank + 1] += first_[rank];
  std::vector<size_t> next(first_.begin(), first_.end() - 1);
  for (const size_t meeting : EachIndex(meetings.size())) {
    for (size_t visit = meetings.first[meeting]; visit < meetings.first[meeting + 1]; ++visit) {
      places_[next[meetings.visits[visit].rank]++] = {meeting, visit};
    }
  }
  const auto order = [&](const Place& place) {
    const Visit& visit = meetings.visits[place.visit];
    return std::tuple(visit.leave_ns, visit.enter_ns, place.visit);
  };
  for (size_t rank = 0; rank < meetings.ranks; ++rank) {
    std::sort(places_.begin() + static_cast<std::ptrdiff_t>(first_[rank]),
              places_.begin() + static_cast<std::ptrdiff_t>(first_[rank + 1]),
              [&](const Place& a, const Place& b) { return order(a) < order(b); });
  }
}

int64_t MedianOf(std::vector<int64_t>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 != 0) return *middle;
  const int64_t below = *std::max_element(values.begin(), middle);
  return below + (*middle - below) / 2;
}

double RobustSigma(std::vector<int64_t> values) {
  constexpr double kSigmaOfMedianDistance = 1.4826;
  if (values.empty()) return 0;
  const int64_t median = MedianOf(values);
  for (int64_t& value : values) value = std::abs(value - median);
  return kSigmaOfMedianDistance * static_cast<double>(MedianOf(values));
}

namespace {

// The time of the clock at which the other one shows `other_ns`; the last one if there are several.
int64_t TimeBefore(const ClockLine& line, int64_t other_ns) {
  for (size_t piece = line.pieces.size(); piece-- > 0;) {
    // Two iterations, as the drift depends on the time that is computed.
    int64_t ns = other_ns - line.CorrectionIn(piece, other_ns);
    ns = other_ns - line.CorrectionIn(piece, ns);
    if (ns >= line.pieces[piece].from_ns) return ns;
  }
  return other_ns - line.CorrectionIn(0, other_ns);
}

}  // namespace

ClockLine ClockLine::Compose(const ClockLine& first, const ClockLine& second) {
  std::vector<int64_t> begins;
  for (size_t i = 1; i < first.pieces.size(); ++i) begins.push_back(first.pieces[i].from_ns);
  ClockLine both;
  both.doubtful = first.doubtful;
  for (size_t i = 1; i < second.pieces.size(); ++i) {
    begins.push_back(TimeBefore(first, second.pieces[i].from_ns));
  }
  for (const Interval& step : second.doubtful) {
    const int64_t a = TimeBefore(first, step.begin);
    const int64_t b = TimeBefore(first, step.end);
    both.doubtful.push_back({std::min(a, b), std::max(a, b)});
  }
  std::sort(begins.begin(), begins.end());
  begins.insert(begins.begin(), std::numeric_limits<int64_t>::min());
  both.drift = first.drift + second.drift;
  both.pieces.clear();
  for (size_t i = 0; i < begins.size(); ++i) {
    // Any time within the piece gives its offset; the middle is farthest from rounded ends.
    const int64_t begin = i == 0 ? (begins.size() > 1 ? begins[1] - 1 : 0) : begins[i];
    const int64_t end = i + 1 < begins.size() ? begins[i + 1] : begin;
    const int64_t at = i == 0 ? begin : begin + (end - begin) / 2;
    const int64_t by = first.CorrectionAt(at);
    const int64_t sum = AddSaturating(by, second.CorrectionAt(AddSaturating(at, by)));
    both.pieces.push_back({begins[i], sum - std::llround(both.drift * static_cast<double>(at))});
  }
  return both;
}

namespace {

constexpr size_t kStretches = 64;
constexpr size_t kLeastPoints = 6;  // needed for a rate
constexpr size_t kMostBeside = 8;   // points on each side of a step
constexpr size_t kLeastBeside = 4;
constexpr double kStepSigmas = 10;
constexpr double kLeastSigma = 500;  // ns: clocks of whole microseconds scatter this much

// Consecutive points, represented by their median.
struct Stretch {
  double at_ns;
  double behind_ns;
};

Stretch MiddleOf(std::span<const ClockPoint> points) {
  std::vector<int64_t> at;
  std::vector<int64_t> behind;
  for (const ClockPoint& point : points) {
    at.push_back(point.at_ns);
    behind.push_back(point.behind_ns);
  }
  return {static_cast<double>(MedianOf(at)), static_cast<double>(MedianOf(behind))};
}

// Divides the points into at most `count` stretches with about equally many points.
std::vector<Stretch> StretchesOf(std::span<const ClockPoint> points, size_t count) {
  count = std::min(count, points.size());
  std::vector<Stretch> stretches;
  stretches.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    const size_t begin = points.size() * i / count;
    const size_t end = points.size() * (i + 1) / count;
    stretches.push_back(MiddleOf(points.subspan(begin, end - begin)));
  }
  return stretches;
}

void AddSlope(const Stretch& a, const Stretch& b, std::vector<double>& slopes) {
  const double time_ns = b.at_ns - a.at_ns;
  if (time_ns > 0) slopes.push_back((b.behind_ns - a.behind_ns) / time_ns);
}

double MedianSlope(std::vector<double>& slopes) {
  if (slopes.empty()) return 0;
  const auto middle = slopes.begin() + static_cast<std::ptrdiff_t>(slopes.size() / 2);
  std::nth_element(slopes.begin(), middle, slopes.end());
  return std::abs(*middle) <= kMostDrift ? *middle : 0;
}

bool IsLongEnough(std::span<const ClockPoint> points) {
  return points.size() >= kLeastPoints &&
         points.back().at_ns - points.front().at_ns >= kLeastDriftSpan;
}

std::span<const ClockPoint> PieceOf(std::span<const ClockPoint> points,
                                    std::span<const size_t> begins, size_t piece) {
  const size_t end = piece + 1 < begins.size() ? begins[piece + 1] : points.size();
  return points.subspan(begins[piece], end - begins[piece]);
}

// How far the stretches are from lines with this slope through the middle of each piece.
double ScatterAbout(double slope, std::span<const std::vector<Stretch>> pieces) {
  std::vector<int64_t> distances;
  for (const std::vector<Stretch>& piece : pieces) {
    std::vector<int64_t> above;
    above.reserve(piece.size());
    for (const Stretch& stretch : piece) {
      above.push_back(std::llround(stretch.behind_ns - slope * stretch.at_ns));
    }
    std::vector<int64_t> sorted = above;
    const int64_t middle = MedianOf(sorted);
    for (const int64_t value : above) distances.push_back(value - middle);
  }
  return RobustSigma(std::move(distances));
}

// The scatter of points, from differences between neighbours, which steps and drift hardly affect.
double ScatterOf(std::span<const ClockPoint> points) {
  std::vector<int64_t> differences;
  differences.reserve(points.size());
  for (size_t i = 1; i < points.size(); ++i) {
    differences.push_back(points[i].behind_ns - points[i - 1].behind_ns);
  }
  return std::max(kLeastSigma, RobustSigma(std::move(differences)) / std::sqrt(2.0));
}

int64_t MedianBehind(std::span<const ClockPoint> points) {
  std::vector<int64_t> behind;
  behind.reserve(points.size());
  for (const ClockPoint& point : points) behind.push_back(point.behind_ns);
  return MedianOf(behind);
}

// How much further the clock is behind from point `i` on.
int64_t ChangeAt(std::span<const ClockPoint> points, size_t i, size_t beside) {
  return MedianBehind(points.subspan(i, beside)) - MedianBehind(points.subspan(i - beside, beside));
}

// The point within `beside` of `i` that best divides the points around it into those before and
// those after a step.
size_t BestPlace(std::span<const ClockPoint> points, size_t i, size_t beside) {
  const size_t begin = i - beside;
  const size_t end = std::min(points.size(), i + beside);
  const int64_t before = MedianBehind(points.subspan(begin, beside));
  const int64_t after = MedianBehind(points.subspan(i, end - i));
  int64_t cost = 0;  // of dividing at `begin`, without what is equal for all
  int64_t least = 0;
  size_t best = begin;
  for (size_t k = begin; k < end; ++k) {
    cost += std::abs(points[k].behind_ns - before) - std::abs(points[k].behind_ns - after);
    if (cost < least) {
      least = cost;
      best = k + 1;
    }
  }
  return best;
}

// The candidates that last: the pieces on both sides differ as a whole.
std::vector<size_t> LastingSteps(std::span<const ClockPoint> points,
                                 std::span<const size_t> candidates, size_t beside, double least) {
  const size_t shortest = std::max(kLeastBeside, beside / 2);
  std::vector<size_t> steps;
  size_t begin = 0;
  for (size_t i = 0; i < candidates.size(); ++i) {
    const size_t place = candidates[i];
    const size_t end = i + 1 < candidates.size() ? candidates[i + 1] : points.size();
    if (place < begin + shortest || place + shortest > end) continue;
    const int64_t change = MedianBehind(points.subspan(place, end - place)) -
                           MedianBehind(points.subspan(begin, place - begin));
    if (std::abs(static_cast<double>(change)) > least) {
      steps.push_back(place);
      begin = place;
    }
  }
  return steps;
}

}  // namespace

double RateAcrossSteps(std::span<const ClockPoint> points) {
  if (!IsLongEnough(points)) return 0;
  const std::vector<Stretch> stretches = StretchesOf(points, kStretches);
  const size_t apart = std::max<size_t>(1, stretches.size() / 8);
  std::vector<double> slopes;
  for (size_t i = apart; i < stretches.size(); ++i) {
    AddSlope(stretches[i - apart], stretches[i], slopes);
  }
  return MedianSlope(slopes);
}

double RateWithinPieces(std::span<const ClockPoint> points, std::span<const size_t> begins) {
  if (!IsLongEnough(points)) return 0;
  std::vector<double> slopes;
  std::vector<std::vector<Stretch>> pieces;
  pieces.reserve(begins.size());
  for (size_t piece = 0; piece < begins.size(); ++piece) {
    pieces.push_back(StretchesOf(PieceOf(points, begins, piece), kStretches));
    const std::vector<Stretch>& stretches = pieces.back();
    for (size_t i = 0; i < stretches.size(); ++i) {
      for (size_t k = i + 1; k < stretches.size(); ++k) {
        AddSlope(stretches[i], stretches[k], slopes);
      }
    }
  }
  const double slope = MedianSlope(slopes);
  const auto span = static_cast<double>(points.back().at_ns - points.front().at_ns);
  return std::abs(slope) * span < 3 * ScatterAbout(slope, pieces) ? 0 : slope;
}

std::vector<size_t> FindClockSteps(std::span<const ClockPoint> points) {
  const size_t beside = std::clamp(points.size() / 4, kLeastBeside, kMostBeside);
  if (points.size() < 2 * beside) return {};
  const double least = kStepSigmas * ScatterOf(points);
  std::vector<size_t> candidates;
  size_t largest_at = 0;
  int64_t largest = 0;
  for (size_t i = beside; i + beside <= points.size(); ++i) {
    const int64_t change = std::abs(ChangeAt(points, i, beside));
    const bool is_step = static_cast<double>(change) > least;
    if (is_step && change > largest) {
      largest = change;
      largest_at = i;
    }
    const bool is_last = i + beside == points.size();
    if (largest > 0 && (is_last || i >= largest_at + beside)) {
      candidates.push_back(BestPlace(points, largest_at, beside));
      largest = 0;
    }
  }
  return LastingSteps(points, candidates, beside, least);
}

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

// The times of some points around a step: another step this close to it could not be detected.
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

namespace {

// Sets of connected ranks: union-find.
class RankSets {
 public:
  explicit RankSets(size_t ranks) : parent_(ranks) {
    std::iota(parent_.begin(), parent_.end(), uint32_t{0});
  }
  uint32_t Find(uint32_t rank) {
    while (parent_[rank] != rank) rank = parent_[rank] = parent_[parent_[rank]];
    return rank;
  }
  // Joins the sets of both; false if they were joined already.
  bool Join(uint32_t a, uint32_t b) {
    a = Find(a);
    b = Find(b);
    parent_[std::max(a, b)] = std::min(a, b);
    return a != b;
  }

 private:
  std::vector<uint32_t> parent_;
};

// First, for each group its meeting with the most visits, beginning with the groups that met most
// often; then all meetings, for ranks that these leave out.
std::vector<size_t> MeetingsInOrder(const Meetings& meetings) {
  struct Group {
    size_t count = 0;
    size_t fullest = 0;
  };
  std::map<uint32_t, Group> groups;
  for (size_t i = 0; i < meetings.size(); ++i) {
    Group& group = groups[meetings.group[i]];
    if (group.count == 0 || meetings.Of(i).size() > meetings.Of(group.fullest).size()) {
      group.fullest = i;
    }
    ++group.count;
  }
  std::vector<std::pair<size_t, size_t>>
      by_count;  // negative counts, so that the most frequent come first
  by_count.reserve(groups.size());
  for (const auto& [number, group] : groups) {
    by_count.emplace_back(meetings.size() - group.count, group.fullest);
  }
  std::sort(by_count.begin(), by_count.end());
  std::vector<size_t> order;
  order.reserve(by_count.size() + meetings.size());
  for (const auto& [count, meeting] : by_count) order.push_back(meeting);
  for (size_t i = 0; i < meetings.size(); ++i) order.push_back(i);
  return order;
}

std::vector<std::vector<uint32_t>> NeighboursOf(const Meetings& meetings) {
  RankSets sets(meetings.ranks);
  std::vector<std::vector<uint32_t>> neighbours(meetings.ranks);
  for (const size_t meeting : MeetingsInOrder(meetings)) {
    CheckStopAt(meeting);
    const uint32_t hub = meetings.Of(meeting).front().rank;
    for (const Visit& visit : meetings.Of(meeting)) {
      if (!sets.Join(hub, visit.rank)) continue;
      neighbours[hub].push_back(visit.rank);
      neighbours[visit.rank].push_back(hub);
    }
  }
  return neighbours;
}

}  // namespace

ClockTree MakeClockTree(const Meetings& meetings) {
  ClockTree tree;
  tree.component.assign(meetings.ranks, kNoComponent);
  const std::vector<std::vector<uint32_t>> neighbours = NeighboursOf(meetings);
  for (uint32_t first = 0; first < meetings.ranks; ++first) {
    if (tree.component[first] != kNoComponent || neighbours[first].empty()) continue;
    const auto component = static_cast<uint32_t>(tree.first_rank.size());
    tree.first_rank.push_back(first);
    tree.component[first] = component;
    std::vector<uint32_t> found{first};
    for (size_t next = 0; next < found.size(); ++next) {
      for (const uint32_t rank : neighbours[found[next]]) {
        if (tree.component[rank] != kNoComponent) continue;
        tree.component[rank] = component;
        tree.edges.push_back({found[next], rank});
        found.push_back(rank);
      }
    }
  }
  return tree;
}

namespace {

// The visit of a rank in a meeting; nullptr if it has none.
const Visit* FindVisit(std::span<const Visit> visits, uint32_t rank) {
  const auto found =
      std::lower_bound(visits.begin(), visits.end(), rank,
                       [](const Visit& visit, uint32_t wanted) { return visit.rank < wanted; });
  return found != visits.end() && found->rank == rank ? &*found : nullptr;
}

// The estimated time of a meeting: what one clock shows, or the median of all.
using MomentOf = std::function<int64_t(size_t meeting, const Visit& parent)>;

// The points for the meetings of both ranks, in their order.
std::vector<ClockPoint> CommonPoints(const Meetings& meetings, const VisitsByRank& by_rank,
                                     ClockTree::Edge edge, const MomentOf& moment_of) {
  std::vector<std::pair<int64_t, ClockPoint>> found;
  for (const VisitsByRank::Place& place : by_rank.Of(edge.child)) {
    CheckStopAt(place.meeting);
    const Visit* parent = FindVisit(meetings.Of(place.meeting), edge.parent);
    if (parent == nullptr) continue;
    const int64_t leave_ns = meetings.visits[place.visit].leave_ns;
    found.push_back({moment_of(place.meeting, *parent), {leave_ns, parent->leave_ns - leave_ns}});
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<ClockPoint> points;
  points.reserve(found.size());
  for (const auto& [time, point] : found) points.push_back(point);
  return points;
}

bool AreInOrder(const std::vector<ClockPoint>& points) {
  return std::is_sorted(points.begin(), points.end(),
                        [](const ClockPoint& a, const ClockPoint& b) { return a.at_ns < b.at_ns; });
}

// The first rank of a component has no line; its scatter is the least of those of the lines that
// lead to it.
void SetScatterOfFirst(ClockEstimate& estimate) {
  constexpr int64_t kNone = std::numeric_limits<int64_t>::max();
  for (const uint32_t first : estimate.tree.first_rank) estimate.scatter_ns[first] = kNone;
  for (const ClockTree::Edge& edge : estimate.tree.edges) {
    const bool is_first =
        estimate.tree.first_rank[estimate.tree.component[edge.parent]] == edge.parent;
    int64_t& least_ns = estimate.scatter_ns[edge.parent];
    if (is_first) least_ns = std::min(least_ns, estimate.scatter_ns[edge.child]);
  }
}

// Sets the lines of all ranks; false if two clocks saw their meetings in different orders.
bool SetLines(const Meetings& meetings, const VisitsByRank& by_rank, const MomentOf& moment_of,
              ClockEstimate& estimate) {
  bool are_in_order = true;
  for (const uint32_t first : estimate.tree.first_rank) estimate.scatter_ns[first] = 0;
  for (const ClockTree::Edge& edge : estimate.tree.edges) {
    const std::vector<ClockPoint> points = CommonPoints(meetings, by_rank, edge, moment_of);
    are_in_order = are_in_order && AreInOrder(points);
    const PairLine pair = FitPairLine(points);
    estimate.lines[edge.child] = ClockLine::Compose(pair.line, estimate.lines[edge.parent]);
    estimate.scatter_ns[edge.child] = estimate.scatter_ns[edge.parent] + pair.scatter_ns;
    estimate.chance_ns[edge.child] = estimate.chance_ns[edge.parent] + pair.chance_ns;
    estimate.has_few_points[edge.child] =
        pair.has_few_points ? 1 : estimate.has_few_points[edge.parent];
  }
  SetScatterOfFirst(estimate);
  return are_in_order;
}

std::vector<int64_t> MomentsOfLeaving(const Meetings& meetings, const ClockEstimate& estimate) {
  std::vector<int64_t> left_ns;
  left_ns.reserve(meetings.size());
  std::vector<int64_t> leaves;
  for (const size_t i : EachIndex(meetings.size())) {
    leaves.clear();
    for (const Visit& visit : meetings.Of(i)) {
      leaves.push_back(visit.leave_ns + estimate.CorrectionOf(visit));
    }
    left_ns.push_back(MedianOf(leaves));
  }
  return left_ns;
}

}  // namespace

ClockEstimate EstimateRankClocks(const Meetings& meetings, const VisitsByRank& by_rank) {
  ClockEstimate estimate;
  estimate.tree = MakeClockTree(meetings);
  estimate.lines.resize(meetings.ranks);
  estimate.chance_ns.assign(meetings.ranks, 0);
  estimate.scatter_ns.assign(meetings.ranks, 0);
  estimate.has_few_points.assign(meetings.ranks, 0);
  const bool are_in_order = SetLines(
      meetings, by_rank, [](size_t, const Visit& parent) { return parent.leave_ns; }, estimate);
  estimate.left_ns = MomentsOfLeaving(meetings, estimate);
  if (are_in_order) return estimate;
  // A clock was set back, perhaps that of a parent. The median of all clocks gives the order.
  const std::vector<int64_t> left_ns = estimate.left_ns;
  SetLines(
      meetings, by_rank, [&](size_t meeting, const Visit&) { return left_ns[meeting]; }, estimate);
  estimate.left_ns = MomentsOfLeaving(meetings, estimate);
  return estimate;
}

}  // namespace borescope::internal
