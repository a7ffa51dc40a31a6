#include "borescope/analysis/measures/rank_clocks/clock_estimate.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "borescope/analysis/measures/rank_clocks/clock_drift.h"
#include "borescope/analysis/measures/rank_clocks/clock_start.h"
#include "borescope/analysis/measures/rank_clocks/medians.h"
#include "borescope/base/stop.h"

namespace borescope::internal {
namespace {

constexpr int kMostRounds = 20;
constexpr int kDriftRounds = 4;

class Estimator {
 public:
  Estimator(const Meetings& meetings, const VisitsByRank& by_rank)
      : meetings_(meetings), by_rank_(by_rank) {
    ClockStart start = StartClocks(meetings, by_rank);
    estimate_.component = std::move(start.component);
    estimate_.lines.resize(meetings.ranks);
    estimate_.left_ns.resize(meetings.size());
    estimate_.sigma_ns.resize(meetings.ranks);
    begins_.assign(meetings.ranks, {0});
    for (size_t rank = 0; rank < meetings.ranks; ++rank) {
      estimate_.lines[rank].pieces.front().offset_ns = start.offset_ns[rank];
    }
  }

  ClockEstimate Run() {
    Settle();
    for (int round = 0; round < kDriftRounds; ++round) AddRates(RateAcrossSteps);
    ForEachRank([&](uint32_t rank) { FindSteps(rank); });
    Settle();
    for (int round = 0; round < kDriftRounds; ++round) SetRatesWithinPieces();
    ForEachRank([&](uint32_t rank) { estimate_.sigma_ns[rank] = RobustSigma(Residues(rank)); });
    return std::move(estimate_);
  }

 private:
  template <class Use>
  void ForEachRank(const Use& use) {
    for (uint32_t rank = 0; rank < meetings_.ranks; ++rank) {
      if (!by_rank_.Of(rank).empty()) use(rank);
    }
  }

  int64_t LeaveOf(const VisitsByRank::Place& place) const {
    return meetings_.visits[place.visit].leave_ns;
  }
  // How far the corrected clock is behind in a meeting.
  int64_t BehindAt(uint32_t rank, const VisitsByRank::Place& place) const {
    const int64_t leave_ns = LeaveOf(place);
    return estimate_.left_ns[place.meeting] - leave_ns -
           estimate_.lines[rank].CorrectionAt(leave_ns);
  }
  std::vector<int64_t> Residues(uint32_t rank) const {
    std::vector<int64_t> residues;
    for (const auto& place : by_rank_.Of(rank)) residues.push_back(BehindAt(rank, place));
    return residues;
  }
  std::vector<ClockPoint> Points(uint32_t rank) const {
    std::vector<ClockPoint> points;
    for (const auto& place : by_rank_.Of(rank)) {
      points.push_back({LeaveOf(place), BehindAt(rank, place)});
    }
    return points;
  }

  // The median of the ranks; of two the first, so that the other one is in line with it at once.
  void CentreMeetings() {
    std::vector<int64_t> leaves;
    for (size_t meeting = 0; meeting < meetings_.size(); ++meeting) {
      CheckStopAt(meeting);
      leaves.clear();
      for (const Visit& visit : meetings_.Of(meeting)) {
        leaves.push_back(visit.leave_ns + estimate_.lines[visit.rank].CorrectionAt(visit.leave_ns));
      }
      estimate_.left_ns[meeting] = leaves.size() == 2 ? leaves.front() : MedianOf(leaves);
    }
  }

  // Moves each piece of a clock by the median of what it is behind; the largest of these.
  int64_t CentreRank(uint32_t rank) {
    ClockLine& line = estimate_.lines[rank];
    const auto places = by_rank_.Of(rank);
    std::vector<int64_t> behind;
    int64_t largest = 0;
    for (size_t piece = 0; piece < begins_[rank].size(); ++piece) {
      const size_t end =
          piece + 1 < begins_[rank].size() ? begins_[rank][piece + 1] : places.size();
      behind.clear();
      for (size_t i = begins_[rank][piece]; i < end; ++i) {
        const int64_t leave_ns = LeaveOf(places[i]);
        behind.push_back(estimate_.left_ns[places[i].meeting] - leave_ns -
                         line.CorrectionIn(piece, leave_ns));
      }
      const int64_t median = MedianOf(behind);
      line.pieces[piece].offset_ns += median;
      largest = std::max(largest, std::abs(median));
    }
    return largest;
  }

  // Alternating medians, until nothing moves any more.
  void Settle() {
    for (int round = 0; round < kMostRounds; ++round) {
      CentreMeetings();
      int64_t largest = 0;
      ForEachRank([&](uint32_t rank) { largest = std::max(largest, CentreRank(rank)); });
      if (largest == 0) break;
    }
    CentreMeetings();
  }

  template <class RateOf>
  void AddRates(const RateOf& rate_of) {
    ForEachRank([&](uint32_t rank) { estimate_.lines[rank].drift += rate_of(Points(rank)); });
    Settle();
  }

  // Of the clock as recorded, but for its steps: a rate that chance explains is none.
  void SetRatesWithinPieces() {
    ForEachRank([&](uint32_t rank) {
      ClockLine& line = estimate_.lines[rank];
      std::vector<ClockPoint> points = Points(rank);
      for (ClockPoint& point : points) {
        point.behind_ns += std::llround(line.drift * static_cast<double>(point.at_ns));
      }
      line.drift = RateWithinPieces(points, begins_[rank]);
    });
    Settle();
  }

  void FindSteps(uint32_t rank) {
    const std::vector<ClockPoint> points = Points(rank);
    ClockLine& line = estimate_.lines[rank];
    const int64_t offset_ns = line.pieces.front().offset_ns;
    for (const size_t step : FindClockSteps(points)) {
      begins_[rank].push_back(step);
      line.pieces.push_back({points[step].at_ns, offset_ns});
    }
  }

  const Meetings& meetings_;
  const VisitsByRank& by_rank_;
  ClockEstimate estimate_;
  std::vector<std::vector<size_t>> begins_;  // by rank: the places at which its pieces begin
};

}  // namespace

ClockEstimate EstimateRankClocks(const Meetings& meetings, const VisitsByRank& by_rank) {
  return Estimator(meetings, by_rank).Run();
}

}  // namespace borescope::internal
