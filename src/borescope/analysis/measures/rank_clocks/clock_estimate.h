// The most likely clocks of ranks: all leave a meeting at nearly the same moment, so that the
// median difference between the times at which two ranks leave is that of their clocks. Ranks are
// put in line one after the other, along those that met most often. Nothing here is certain:
// clock_bounds.h says what is.
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

// Meetings: occasions on which several ranks are together, as each of them saw it on its own clock.
// All that is found out about the clocks of ranks (rank_clocks.h) follows from these.

// Times of a visit are within this of 0 (13 days), so that sums along chains of thousands of ranks
// fit into 64 bits: those of each rank are counted from one of its visits.
inline constexpr int64_t kLargestMeetingTime = int64_t{1} << 50;

// One rank in one meeting.
struct Visit {
  uint32_t rank = 0;  // its place among the ranks
  int64_t enter_ns = 0;
  int64_t leave_ns = 0;  // not before enter_ns
};

struct Meetings {
  size_t ranks = 0;
  std::vector<Visit> visits;      // those of a meeting together, by rank, each rank once
  std::vector<size_t> first{0};   // the first visit of each meeting; one past the last of all
  std::vector<char> all_entered;  // per meeting: 1 where none can leave before all have entered
  std::vector<uint32_t> group;    // per meeting: those of the same ranks, mostly, have one number

  size_t size() const { return first.size() - 1; }
  std::span<const Visit> Of(size_t meeting) const {
    return {visits.data() + first[meeting], first[meeting + 1] - first[meeting]};
  }
  // Ends the meeting whose visits were appended last.
  void Close(bool none_leaves_before_all_entered, uint32_t of_group) {
    group.push_back(of_group);
    first.push_back(visits.size());
    all_entered.push_back(none_leaves_before_all_entered ? 1 : 0);
  }
};

// Which visits are of which rank.
class VisitsByRank {
 public:
  struct Place {
    size_t meeting;
    size_t visit;
  };

  // O(visits log visits): those of a rank are ordered by the time at which it left.
  explicit VisitsByRank(const Meetings& meetings);

  std::span<const Place> Of(uint32_t rank) const {
    return {places_.data() + first_[rank], first_[rank + 1] - first_[rank]};
  }

 private:
  std::vector<Place> places_;
  std::vector<size_t> first_;
};

// Medians of integers, and how far values lie from theirs. Pure; any thread.

// Of an even number of values the middle between the two, rounded down: values that are all larger
// by k have a median that is larger by k. Changes the order of `values`. REQUIRES: not empty;
// values differ by less than 2^63. O(n).
int64_t MedianOf(std::vector<int64_t>& values);

// The standard deviation of values of which most lie as those of a normal distribution, whatever
// the others do: 1.4826 times the median distance from the median. 0 of none. O(n).
double RobustSigma(std::vector<int64_t> values);

// ClockLine: what has to be added to the times of one clock to get those of another. Clocks run at
// slightly different rates, and some are stepped while they run. A plain value.

struct ClockLine {
  struct Piece {
    int64_t from_ns;    // of the clock itself; the first holds for all earlier times, too
    int64_t offset_ns;  // at time 0 of the clock
  };

  std::vector<Piece> pieces{{std::numeric_limits<int64_t>::min(), 0}};
  double drift = 0;  // added per nanosecond; the same in all pieces
  // Times of the clock around steps, both ends included: what of them was before a step is not
  // known for certain.
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

  // From times of a clock by `first` to those of another, and from there by `second` to a third.
  static ClockLine Compose(const ClockLine& first, const ClockLine& second);
};

// How a clock moves against the one that all ranks share: at which rate, and where it was stepped.
// Pure functions of points (time, how far the clock is behind then), which lie about a line that
// steps break into pieces. A point may be off by any amount now and then: a rank that left late.

struct ClockPoint {
  int64_t at_ns;
  int64_t behind_ns;
};

// In shorter recordings no drift is looked for: crystals differ by some 50 ppm, which is 5 us then.
inline constexpr int64_t kLeastDriftSpan = 100'000'000;
// No crystal is off by as much: what looks like it is something else, and no drift is taken.
inline constexpr double kMostDrift = 250e-6;

// The rate in ns per ns, whatever a few steps do: the median slope between medians of short
// stretches that lie an eighth of the time apart. 0 for fewer than 6 points and for less than
// kLeastDriftSpan. REQUIRES: points by time. O(n).
double RateAcrossSteps(std::span<const ClockPoint> points);

// The rate within pieces that begin at the points `begins` (the first of them 0): the median of
// slopes between medians of stretches of one piece (Theil and Sen). 0 where that is less than
// three times what chance alone would give. REQUIRES: points by time. O(n).
double RateWithinPieces(std::span<const ClockPoint> points, std::span<const size_t> begins);

// Where the clock was stepped: the first point after each step. A step is a change of the median
// of eight points (four, where there are few) by more than ten times their scatter, and by 5 us,
// that lasts. REQUIRES: points
// by time, without drift. O(n).
std::vector<size_t> FindClockSteps(std::span<const ClockPoint> points);

// How one clock is put in line with another one, from the meetings that both saw.

struct PairLine {
  ClockLine line;
  int64_t scatter_ns = 0;  // of the points about it: one standard deviation
  // What chance alone may have moved the offset by: three standard errors of a median.
  int64_t chance_ns = 0;
  // Whether they are fewer than kFewPoints: their scatter, which is 0 for one, says nothing about
  // chance.
  bool has_few_points = false;
};
inline constexpr size_t kFewPoints = 5;

// The medians of what the clock is behind at these points, piece by piece between steps, about the
// rate at which it drifts. A clock with more than kMostSteps steps is taken for one without.
// REQUIRES: not empty, in the order in which the meetings were. O(n log n).
inline constexpr size_t kMostSteps = 16;
PairLine FitPairLine(std::span<const ClockPoint> points);

// Which clock is put in line with which: along those ranks that met most often.

inline constexpr uint32_t kNoComponent = ~uint32_t{0};

struct ClockTree {
  struct Edge {
    uint32_t parent;
    uint32_t child;
  };
  std::vector<Edge> edges;  // a parent is the first rank of its component or an earlier child
  // By rank: ranks that met each other, directly or through others, have one number, from 0 in the
  // order of their first ranks; kNoComponent for those without meetings.
  std::vector<uint32_t> component;
  std::vector<uint32_t> first_rank;  // by component
};

// A spanning tree of each component; parent and child have met. Groups that met most often come
// first. O(visits), times a logarithm.
ClockTree MakeClockTree(const Meetings& meetings);

struct ClockEstimate {
  ClockTree tree;
  std::vector<ClockLine> lines;      // by rank: to the clock of the first rank of its component
  std::vector<int64_t> chance_ns;    // by rank: by which chance may have moved its line
  std::vector<int64_t> scatter_ns;   // by rank: of single visits about it
  std::vector<char> has_few_points;  // by rank: 1 where some line on the way rests on few meetings
  std::vector<int64_t> left_ns;      // by meeting: the median moment of leaving, on that clock

  // What is to be added to the times of a visit.
  int64_t CorrectionOf(const Visit& visit) const {
    return lines[visit.rank].CorrectionAt(visit.leave_ns);
  }
};

// Shifting all times of a rank shifts its line and changes nothing else.
// REQUIRES: meetings have two visits at least. O(visits log visits).
ClockEstimate EstimateRankClocks(const Meetings& meetings, const VisitsByRank& by_rank);

}  // namespace borescope::internal
