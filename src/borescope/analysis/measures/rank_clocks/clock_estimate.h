// The most likely clocks of ranks. All ranks leave a meeting at nearly the same time, so the median
// difference between the times at which two ranks leave is that of their clocks. Ranks are aligned
// one after another, along pairs that met most often. Nothing here is certain; certain bounds are
// in rank_clocks.h.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "borescope/base/intervals.h"

namespace borescope::internal {

// Meetings: collectives in which several ranks take part, as each rank saw them on its own clock.
// Everything about the clocks of ranks (rank_clocks.h) is derived from these.

// The largest absolute time of a visit (13 days), so that sums along chains of thousands of ranks
// fit into 64 bits. The times of each rank are counted from one of its visits.
inline constexpr int64_t kLargestMeetingTime = int64_t{1} << 50;

// One rank in one meeting.
struct Visit {
  uint32_t rank = 0;  // its index among the ranks
  int64_t enter_ns = 0;
  int64_t leave_ns = 0;  // not before enter_ns
};

struct Meetings {
  size_t ranks = 0;
  std::vector<Visit> visits;      // meeting by meeting, by rank, each rank once
  std::vector<size_t> first{0};   // the first visit of each meeting; one past the last of all
  std::vector<char> all_entered;  // per meeting: 1 if no rank can leave before all have entered
  std::vector<uint32_t>
      group;  // per meeting: a number that meetings of (mostly) the same ranks share

  size_t size() const { return first.size() - 1; }
  std::span<const Visit> Of(size_t meeting) const {
    return {visits.data() + first[meeting], first[meeting + 1] - first[meeting]};
  }
  // Ends the current meeting, whose visits were appended to `visits`.
  void Close(bool none_leaves_before_all_entered, uint32_t of_group) {
    group.push_back(of_group);
    first.push_back(visits.size());
    all_entered.push_back(none_leaves_before_all_entered ? 1 : 0);
  }
};

// The visits of each rank.
class VisitsByRank {
 public:
  struct Place {
    size_t meeting;
    size_t visit;
  };

  // The visits of a rank are in the order in which it left. O(visits log visits).
  explicit VisitsByRank(const Meetings& meetings);

  std::span<const Place> Of(uint32_t rank) const {
    return {places_.data() + first_[rank], first_[rank + 1] - first_[rank]};
  }

 private:
  std::vector<Place> places_;
  std::vector<size_t> first_;
};

// Medians of integers, and how far values are from their median. Pure; any thread.

// For an even number of values the mean of the middle two, rounded down, so that adding k to all
// values adds k to the median. Changes the order of `values`. REQUIRES: not empty; values differ by
// less than 2^63. O(n).
int64_t MedianOf(std::vector<int64_t>& values);

// The standard deviation of values of which most are normally distributed, not affected by the
// rest: 1.4826 times the median distance from the median. 0 for no values. O(n).
double RobustSigma(std::vector<int64_t> values);

// ClockLine: what has to be added to the times of one clock to get those of another: a line, as
// clocks run at slightly different rates, in pieces, as some are stepped while they run. A plain
// value.
struct ClockLine {
  struct Piece {
    int64_t from_ns;    // on the clock itself; the first piece also covers all earlier times
    int64_t offset_ns;  // to be added at time 0 of the clock
  };

  std::vector<Piece> pieces{{std::numeric_limits<int64_t>::min(), 0}};
  double drift = 0;  // added per nanosecond; the same in all pieces
  // Times of the clock around steps, both ends included: whether such a time was before or after
  // the step is uncertain.
  std::vector<Interval> doubtful = {};

  size_t PieceAt(int64_t ns) const {
    const auto after =
        std::upper_bound(pieces.begin() + 1, pieces.end(), ns,
                         [](int64_t t, const Piece& piece) { return t < piece.from_ns; });
    return static_cast<size_t>(after - pieces.begin()) - 1;
  }
  // REQUIRES: piece < pieces.size().
  int64_t CorrectionIn(size_t piece, int64_t ns) const {
    return pieces[piece].offset_ns + std::llround(drift * static_cast<double>(ns));
  }
  int64_t CorrectionAt(int64_t ns) const { return CorrectionIn(PieceAt(ns), ns); }
  // Whether the clock may have been stepped within these times.
  bool IsDoubtful(int64_t begin_ns, int64_t end_ns) const {
    return std::any_of(doubtful.begin(), doubtful.end(), [&](const Interval& step) {
      return begin_ns <= step.end && end_ns >= step.begin;
    });
  }

  // The line of `first` from one clock to another, followed by `second` from there to a third.
  static ClockLine Compose(const ClockLine& first, const ClockLine& second);
};

// How a clock moves against the shared one: at which rate, and where it was stepped. Pure functions
// of points (time, how far the clock is behind then) that scatter around a line, which steps break
// into pieces. Single points may be off by any amount, where a rank left late.
struct ClockPoint {
  int64_t at_ns;
  int64_t behind_ns;
};

// Shorter recordings are taken to have no drift: crystals differ by some 50 ppm, which is 5 us in
// this time.
inline constexpr int64_t kLeastDriftSpan = 100'000'000;
// No crystal drifts this much: an apparent rate above it has another reason, and no drift is
// assumed.
inline constexpr double kMostDrift = 250e-6;

// The rate in ns per ns, robust against a few steps: the median slope between medians of short
// stretches that are an eighth of the time apart. 0 for fewer than 6 points and for less than
// kLeastDriftSpan. REQUIRES: points by time. O(n).
double RateAcrossSteps(std::span<const ClockPoint> points);

// The rate within pieces that begin at the points `begins` (the first of them 0): the median of the
// slopes between medians of stretches of the same piece (Theil-Sen estimator). 0 if that is less
// than three times what chance alone would give. REQUIRES: points by time. O(n).
double RateWithinPieces(std::span<const ClockPoint> points, std::span<const size_t> begins);

// Where the clock was stepped: the first point after each step. A step is a lasting change of the
// median of eight points (four if there are few) by more than ten times their scatter, and by more
// than 5 us. REQUIRES: points by time, without drift. O(n).
std::vector<size_t> FindClockSteps(std::span<const ClockPoint> points);

// How one clock is aligned with another one, from the meetings of both.
struct PairLine {
  ClockLine line;
  int64_t scatter_ns = 0;  // of the points around it: one standard deviation
  // How far chance alone may have moved the offset: three standard errors of a median.
  int64_t chance_ns = 0;
  // Whether there are fewer than kFewPoints points. Their scatter, which is 0 for one, then says
  // nothing about chance.
  bool has_few_points = false;
};
inline constexpr size_t kFewPoints = 5;

// The line through these points: its rate is the drift, and its offset the median of each piece
// between steps. A clock with more than kMostSteps steps is taken as one without steps. REQUIRES:
// not empty, in the order in which the meetings were. O(n log n).
inline constexpr size_t kMostSteps = 16;
PairLine FitPairLine(std::span<const ClockPoint> points);

// Which clock is aligned with which: a tree along the ranks that met most often.

inline constexpr uint32_t kNoComponent = ~uint32_t{0};

struct ClockTree {
  struct Edge {
    uint32_t parent;
    uint32_t child;
  };
  std::vector<Edge> edges;  // a parent is the first rank of its component or an earlier child
  // By rank: a number that ranks share if they met each other, directly or through others, from 0
  // in the order of their first ranks; kNoComponent for ranks without meetings.
  std::vector<uint32_t> component;
  std::vector<uint32_t> first_rank;  // by component
};

// A spanning tree of each component; parent and child have met. Edges of groups that met most often
// are preferred. O(visits log visits).
ClockTree MakeClockTree(const Meetings& meetings);

struct ClockEstimate {
  ClockTree tree;
  std::vector<ClockLine> lines;     // by rank: to the clock of the first rank of its component
  std::vector<int64_t> chance_ns;   // by rank: how far chance may have moved its line
  std::vector<int64_t> scatter_ns;  // by rank: the scatter of single visits around its line
  std::vector<char>
      has_few_points;  // by rank: 1 if a line on the path to the first rank has few meetings
  std::vector<int64_t> left_ns;  // by meeting: the median time of leaving, on that clock

  // What is to be added to the times of a visit.
  int64_t CorrectionOf(const Visit& visit) const {
    return lines[visit.rank].CorrectionAt(visit.leave_ns);
  }
};

// Shifting all times of a rank shifts its line and changes nothing else. REQUIRES: meetings have at
// least two visits. O(visits log visits).
ClockEstimate EstimateRankClocks(const Meetings& meetings, const VisitsByRank& by_rank);

}  // namespace borescope::internal
