#include "borescope/analysis/verbs/variance/bootstrap.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "borescope/base/statistics/split_mix.h"
#include "borescope/base/stop.h"

namespace borescope::internal {
namespace {

constexpr size_t kDraws = 1'000;
constexpr size_t kMostGroups = 509;  // a prime: no period puts its steps into one group
constexpr size_t kFirst = 3;
constexpr uint64_t kSeed = 0x5eed;

// Below `limit`, which is far below 2^32.
size_t DrawBelow(size_t limit, SplitMix64& random) { return ((random.Next() >> 32) * limit) >> 32; }

using PerDraw = std::vector<double>;  // kDraws values

// Sums over the steps of a group.
struct GroupSums {
  double steps = 0;
  double length = 0;
  double length_squared = 0;
  double work = 0;
  double work_squared = 0;
  double work_length = 0;
};

struct CauseSums {
  uint32_t group = 0;
  double ns = 0;
  double ns_length = 0;
  double ns_work = 0;
};

class Bootstrap {
 public:
  Bootstrap(const StepMatrix& matrix, const StepSpread& spread)
      : matrix_(matrix),
        spread_(spread),
        groups_(std::min(matrix.steps.size(), kMostGroups)),
        has_work_(spread.work.has_value()) {
    CenterSteps();
    DrawGroups();
    SumSteps();
  }

  std::vector<ShareLimits> Measure() {
    first_.assign(kDraws, {});
    std::vector<ShareLimits> limits;
    for (uint32_t i = 0; i < matrix_.causes.size(); ++i) {
      CheckStop();
      limits.push_back(Limit(i, SharesOf(matrix_.causes[i])));
    }
    if (has_work_) {
      limits.push_back(Limit(static_cast<uint32_t>(matrix_.causes.size()), work_share_));
    }
    FindStable(limits);
    return limits;
  }

 private:
  struct Place {
    double share = -std::numeric_limits<double>::infinity();
    uint32_t cause = std::numeric_limits<uint32_t>::max();
  };

  void CenterSteps() {
    double sum = 0;
    for (const MatrixStep& step : matrix_.steps) {
      sum += static_cast<double>(step.length_ns);
    }
    const double mean = sum / static_cast<double>(matrix_.steps.size());
    for (const MatrixStep& step : matrix_.steps) {
      length_.push_back(static_cast<double>(step.length_ns) - mean);
    }
    work_ = has_work_ ? RelativeWork(matrix_.steps) : std::vector<double>(length_.size(), 0);
  }

  void DrawGroups() {
    times_.assign(groups_, PerDraw(kDraws, 0));
    SplitMix64 random(kSeed);
    for (size_t draw = 0; draw < kDraws; ++draw) {
      for (size_t i = 0; i < groups_; ++i) {
        times_[DrawBelow(groups_, random)][draw] += 1;
      }
    }
  }

  // Neighbours, and what comes again every few steps, are in different groups.
  uint32_t GroupOf(size_t step) const { return static_cast<uint32_t>(step % groups_); }

  void AddTimes(uint32_t group, double value, PerDraw& sums) const {
    const PerDraw& times = times_[group];
    for (size_t draw = 0; draw < kDraws; ++draw) {
      sums[draw] += times[draw] * value;
    }
  }

  void SumSteps() {
    std::vector<GroupSums> of_group(groups_);
    for (size_t i = 0; i < length_.size(); ++i) {
      GroupSums& sums = of_group[GroupOf(i)];
      sums.steps += 1;
      sums.length += length_[i];
      sums.length_squared += length_[i] * length_[i];
      sums.work += work_[i];
      sums.work_squared += work_[i] * work_[i];
      sums.work_length += work_[i] * length_[i];
    }
    for (PerDraw* sums : {&steps_, &mean_length_, &variance_, &mean_work_, &work_variance_,
                          &work_with_length_, &work_share_}) {
      sums->assign(kDraws, 0);
    }
    for (uint32_t group = 0; group < groups_; ++group) {
      AddTimes(group, of_group[group].steps, steps_);
      AddTimes(group, of_group[group].length, mean_length_);
      AddTimes(group, of_group[group].length_squared, variance_);
      AddTimes(group, of_group[group].work, mean_work_);
      AddTimes(group, of_group[group].work_squared, work_variance_);
      AddTimes(group, of_group[group].work_length, work_with_length_);
    }
    for (size_t draw = 0; draw < kDraws; ++draw) {
      DivideBySteps(draw);
    }
  }

  void DivideBySteps(size_t draw) {
    for (PerDraw* sums :
         {&mean_length_, &variance_, &mean_work_, &work_variance_, &work_with_length_}) {
      (*sums)[draw] /= steps_[draw];
    }
    const double mean = mean_length_[draw];
    const double square = variance_[draw];
    variance_[draw] = square - mean * mean;
    // What is left of the rounding of equal lengths is no variance.
    variance_[draw] = variance_[draw] <= 1e-12 * square ? 0 : variance_[draw];
    work_variance_[draw] -= mean_work_[draw] * mean_work_[draw];
    work_with_length_[draw] -= mean_work_[draw] * mean;
    const double both = work_with_length_[draw];
    if (IsValid(draw) && HasWork(draw)) {
      work_share_[draw] = both * both / (work_variance_[draw] * variance_[draw]);
    }
  }

  bool IsValid(size_t draw) const { return variance_[draw] > 0; }
  bool HasWork(size_t draw) const { return has_work_ && work_variance_[draw] > 1e-12; }

  PerDraw SharesOf(const CauseRow& cause) const {
    PerDraw sum(kDraws, 0);
    PerDraw with_length(kDraws, 0);
    PerDraw with_work(kDraws, 0);
    for (const CauseSums& sums : SumsOf(cause)) {
      AddTimes(sums.group, sums.ns, sum);
      AddTimes(sums.group, sums.ns_length, with_length);
      if (has_work_) {
        AddTimes(sums.group, sums.ns_work, with_work);
      }
    }
    for (size_t draw = 0; draw < kDraws; ++draw) {
      if (IsValid(draw)) {
        const double mean = sum[draw] / steps_[draw];
        double both = with_length[draw] / steps_[draw] - mean * mean_length_[draw];
        if (HasWork(draw)) {
          const double work = with_work[draw] / steps_[draw] - mean * mean_work_[draw];
          both -= work * work_with_length_[draw] / work_variance_[draw];
        }
        with_length[draw] = both / variance_[draw];
      }
    }
    return with_length;
  }

  std::vector<CauseSums> SumsOf(const CauseRow& cause) const {
    std::vector<CauseSums> of_group(groups_);
    for (const MatrixCell& cell : cause.cells) {
      CauseSums& sums = of_group[GroupOf(cell.step)];
      const auto ns = static_cast<double>(cell.ns);
      sums.group = GroupOf(cell.step);
      sums.ns += ns;
      sums.ns_length += ns * length_[cell.step];
      sums.ns_work += ns * work_[cell.step];
    }
    std::erase_if(of_group, [](const CauseSums& sums) {
      return sums.ns == 0 && sums.ns_length == 0 && sums.ns_work == 0;
    });
    return of_group;
  }

  ShareLimits Limit(uint32_t cause, const PerDraw& shares) {
    std::vector<double> valid;
    for (size_t draw = 0; draw < kDraws; ++draw) {
      if (IsValid(draw)) {
        valid.push_back(shares[draw]);
        PlaceInDraw(draw, {shares[draw], cause});
      }
    }
    if (valid.empty()) {
      return {};
    }
    std::sort(valid.begin(), valid.end());
    const size_t cut = (valid.size() - 1) / 20;
    return {WithoutNoise(valid[cut]), WithoutNoise(valid[valid.size() - 1 - cut]), std::nullopt};
  }

  // What is left of the rounding of sums is no share.
  static double WithoutNoise(double share) {
    constexpr double kDigits = 1e9;
    const double rounded = std::round(share * kDigits) / kDigits;
    return rounded == 0 ? 0 : rounded;  // never -0
  }

  // Keeps the largest of each draw.
  void PlaceInDraw(size_t draw, Place place) {
    for (Place& known : first_[draw]) {
      if (place.share > known.share) {
        std::swap(place, known);
      }
    }
  }

  void FindStable(std::vector<ShareLimits>& limits) const {
    std::vector<Place> places;
    for (uint32_t i = 0; i < limits.size(); ++i) {
      const bool is_work = i == matrix_.causes.size();
      places.push_back({is_work ? *spread_.work->share : *spread_.causes[i].share, i});
    }
    std::stable_sort(places.begin(), places.end(),
                     [](const Place& a, const Place& b) { return a.share > b.share; });
    for (size_t place = 0; place < std::min(kFirst, places.size()); ++place) {
      size_t kept = 0;
      size_t valid = 0;
      for (size_t draw = 0; draw < kDraws; ++draw) {
        valid += IsValid(draw) ? 1 : 0;
        kept += IsValid(draw) && first_[draw][place].cause == places[place].cause ? 1 : 0;
      }
      limits[places[place].cause].is_stable = kept * 5 >= valid * 4;
    }
  }

  const StepMatrix& matrix_;
  const StepSpread& spread_;
  size_t groups_;
  bool has_work_;
  std::vector<double> length_;  // per step, less the mean
  std::vector<double> work_;    // likewise
  std::vector<PerDraw> times_;  // per group: how often it was drawn
  PerDraw steps_, mean_length_, variance_, mean_work_, work_variance_, work_with_length_;
  PerDraw work_share_;
  std::vector<std::array<Place, kFirst>> first_;  // per draw
};

}  // namespace

std::vector<ShareLimits> BootstrapShares(const StepMatrix& matrix, const StepSpread& spread) {
  if (spread.causes.empty() || !spread.causes.front().share) {
    return {};
  }
  return Bootstrap(matrix, spread).Measure();
}

}  // namespace borescope::internal
